"""Serialized Examples as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.framework.dtypes import float32, int64, string
from tfteach.framework.protos import Example
from tfteach.ops.io.parse_example import ParseExample


def example(**features: Any) -> bytes:
    message: Any = Example()
    for name, values in features.items():
        feature = message.features.feature[name]
        kinds = {bytes: "bytes_list", float: "float_list", int: "int64_list"}
        getattr(feature, kinds[type(values[0])]).value.extend(values)
    return bytes(message.SerializeToString(deterministic=True))


TWO = text([example(a=[1, -2], b=[0.5], s=[b"x", b"yz"]), example(a=[300, 4], s=[b""])])
NO_NAMES = np.zeros(0, object)
KEY_A, KEY_B, KEY_S = text(b"a"), text(b"b"), text(b"s")

CASES = [
    Case(
        ParseExample(1, 2, (string,), (int64, float32), ((2,), ())),
        (TWO, NO_NAMES, [KEY_S], [KEY_A, KEY_B], [np.int64([]), np.float32(9)]),
        (
            np.int64([[0, 0], [0, 1], [1, 0]]),
            text([b"x", b"yz", b""]),
            np.int64([2, 2]),
            np.int64([[1, -2], [300, 4]]),
            np.float32([0.5, 9]),
        ),
        exact_shape=False,
    ),
    Case(
        ParseExample(0, 1, (), (string,), ((None,),)),
        (TWO, NO_NAMES, [], [KEY_S], [text(b"-")]),
        (text([[b"x", b"yz"], [b"", b"-"]]),),
        "padded",
        exact_shape=False,
    ),
    Case(
        ParseExample(1, 1, (int64,), (float32,), ((2,),)),
        (NO_NAMES, NO_NAMES, [KEY_A], [KEY_B], [np.float32([])]),
        (
            np.zeros((0, 2), np.int64),
            np.int64([]),
            np.int64([0, 0]),
            np.zeros((0, 2), np.float32),
        ),
        "none",
        exact_shape=False,
    ),
]
