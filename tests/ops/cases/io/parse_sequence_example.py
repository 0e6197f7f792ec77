"""Serialized SequenceExamples as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.framework.dtypes import float32, int64, string
from tfteach.framework.protos import SequenceExample
from tfteach.ops.io.parse_sequence_example import (
    ParseSequenceExample,
    ParseSingleSequenceExample,
)


def sequence(a: list[int], x: list[list[float]], s: list[list[bytes]]) -> bytes:
    message: Any = SequenceExample()
    message.context.feature["a"].int64_list.value.extend(a)
    lists = message.feature_lists.feature_list
    for values in x:
        lists["x"].feature.add().float_list.value.extend(values)
    for words in s:
        lists["s"].feature.add().bytes_list.value.extend(words)
    return bytes(message.SerializeToString(deterministic=True))


FIRST = sequence([1, 2], [[0.5, 1.5], [2.5, 3.5]], [[b"u"], [], [b"v", b"w"]])
SECOND = sequence([3], [[4.5, 5.5]], [])
NONE = np.zeros(0, object)

CASES = [
    Case(
        ParseSingleSequenceExample(
            1, 1, 1, 1, (int64,), (float32,), (float32,), ((),), (string,), ((2,),)
        ),
        (
            text(FIRST), NONE, [text(b"a")], [text(b"z")], [text(b"s")], [text(b"x")],
            [np.float32(7)], text(b""),
        ),
        (
            np.int64([[0], [1]]),
            np.int64([1, 2]),
            np.int64([2]),
            np.float32(7),
            np.int64([[0, 0], [2, 0], [2, 1]]),
            text([b"u", b"v", b"w"]),
            np.int64([3, 2]),
            np.float32([[0.5, 1.5], [2.5, 3.5]]),
        ),
        exact_shape=False,
    ),
    Case(
        ParseSequenceExample(
            (), ("a",), ("z",), ("s",), ("x",), 1, 1, 1, 1, (int64,), (float32,),
            (float32,), ((),), (string,), ((2,),),
        ),
        (text([FIRST, SECOND]), NONE, [np.float32(7)]),
        (
            np.int64([[0, 0], [0, 1], [1, 0]]),
            np.int64([1, 2, 3]),
            np.int64([2, 2]),
            np.float32([7, 7]),
            np.int64([[0, 0, 0], [0, 2, 0], [0, 2, 1]]),
            text([b"u", b"v", b"w"]),
            np.int64([2, 3, 2]),
            np.float32([[[0.5, 1.5], [2.5, 3.5]], [[4.5, 5.5], [0, 0]]]),
            np.int64([2, 1]),
        ),
        exact_shape=False,
    ),
]  # fmt: skip
