"""Sparse tensors as strings: bytes from real TensorFlow, and there and back."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, as_input
from tfteach.framework.dtypes import float32, int32, string
from tfteach.ops.sparse.sparse_serialize import (
    DeserializeManySparse,
    DeserializeSparse,
    SerializeManySparse,
    SerializeSparse,
)

INDICES = np.array([[0, 1], [2, 0]])
SIZE = np.array([3, 4])
ROWS = (
    b'\x08\t\x12\x08\x12\x02\x08\x02\x12\x02\x08\x02" \0\0\0\0\0\0\0\0'
    b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    b'\x08\t\x12\x04\x12\x02\x08\x02"\x10\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0',
)
FLOATS = b'\x08\x01\x12\x04\x12\x02\x08\x02"\x08\x00\x00\xc0?\x00\x00 @'
TEXT = b'\x08\x07\x12\x04\x12\x02\x08\x02"\x04\x02\x00ab'


def boxed(rows):
    array = np.empty(np.shape(rows), object)
    array[...] = rows
    return array


ENTRY = boxed([ROWS[0], FLOATS, ROWS[1]])
# A row of which only the numbers are there: typed fields in place of the content.
TYPED = boxed([
    b"\x08\x09\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01\x52\x01\x02",
    b"\x08\x03\x12\x04\x12\x02\x08\x01\x3a\x01\x07",
    b"\x08\x09\x12\x04\x12\x02\x08\x01\x52\x01\x04",
])  # fmt: skip


def rows_of_many(indices, values, size):
    one = SerializeSparse()
    return np.stack([
        one.compute(np, indices[at, 1:], values[at], size[1:])
        for at in (indices[:, 0] == row for row in range(size[0]))
    ])  # fmt: skip


def case(op, inputs, expect, name=""):
    return Case(op, inputs, expect, name, exact_shape=False)


CASES = [
    case(SerializeSparse(), (INDICES, np.float32([1.5, 2.5]), SIZE), ENTRY),
    case(
        SerializeSparse(),
        (INDICES, ["ab", ""], SIZE),
        boxed([ROWS[0], TEXT, ROWS[1]]),
        "text",
    ),
    case(SerializeManySparse(), (INDICES, np.float32([1.5, 2.5]), SIZE), rows_of_many),
    case(
        DeserializeSparse(float32),
        (ENTRY,),
        (INDICES, np.float32([1.5, 2.5]), SIZE),
    ),
    case(
        DeserializeSparse(string),
        (boxed([[ROWS[0], TEXT, ROWS[1]]] * 2),),
        (
            np.array([[0, 0, 1], [0, 2, 0], [1, 0, 1], [1, 2, 0]]),
            as_input(["ab", "", "ab", ""]),
            np.array([2, 3, 4]),
        ),
        "text, stacked",
    ),
    case(
        DeserializeManySparse(int32),
        (boxed([list(TYPED)]),),
        (np.array([[0, 2]]), np.int32([7]), np.array([1, 4])),
        "typed fields",
    ),
]
