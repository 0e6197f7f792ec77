"""Tensors as serialized messages: the bytes are TensorFlow's."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.framework.dtypes import float32, int32, string
from tfteach.ops.io.serialize_tensor import ParseTensor, SerializeTensor

FLOATS = b"\x08\x01\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"
EMPTY = b"\x08\x03\x12\x06\x12\x00\x12\x02\x08\x03"

CASES = [
    Case(
        SerializeTensor(),
        (np.float32([[1.5, -2]]),),
        text(FLOATS + b'"\x08\x00\x00\xc0?\x00\x00\x00\xc0'),
    ),
    Case(SerializeTensor(), (np.zeros((0, 3), np.int32),), text(EMPTY), "empty"),
    Case(
        SerializeTensor(),
        (text([b"a", b""]),),
        text(b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x00"),
        "strings",
    ),
    Case(
        ParseTensor(float32),
        (text(FLOATS + b"-\x00\x00\x80?"),),
        np.float32([[1, 1]]),
        exact_shape=False,
    ),
    Case(
        ParseTensor(int32),
        (text(EMPTY),),
        np.zeros((0, 3), np.int32),
        "empty",
        exact_shape=False,
    ),
    Case(
        ParseTensor(string),
        (text(b"\x08\x07\x12\x00B\x01a"),),
        text(b"a"),
        "strings",
        exact_shape=False,
    ),
]
