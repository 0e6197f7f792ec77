"""Unicode in strings: what real TensorFlow 1.15.5 answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import int32
from tfteach.ops.text.unicode_ops import (
    UnicodeDecode,
    UnicodeDecodeWithOffsets,
    UnicodeEncode,
    UnicodeScript,
    UnicodeTranscode,
)


def text(values: Any) -> Any:
    """An array of byte strings."""
    return np.array(values, object)


WORDS = text(["né".encode(), b"\xff\x07", "😀".encode()])

CASES = [
    Case(
        UnicodeTranscode("UTF-8", "UTF-16-BE"),
        (WORDS,),
        text([b"\x00n\x00\xe9", b"\xff\xfd\x00\x07", b"\xd8\x3d\xde\x00"]),
    ),
    Case(
        UnicodeTranscode("UTF-8", "UTF-8", "ignore", 63, True),
        (WORDS,),
        text(["né".encode(), b"", "😀".encode()]),
        "ignore",
    ),
    Case(
        UnicodeDecode("UTF-8"),
        (WORDS,),
        (np.int64([0, 2, 4, 5]), np.int32([110, 233, 65533, 7, 0x1F600])),
        exact_shape=False,
    ),
    Case(
        UnicodeDecodeWithOffsets("UTF-8", "replace", 63, True, int32),
        (WORDS,),
        (
            np.int32([0, 2, 4, 5]),
            np.int32([110, 233, 63, 63, 0x1F600]),
            np.int64([0, 1, 0, 1, 0]),
        ),
        exact_shape=False,
    ),
    Case(
        UnicodeEncode("replace", "UTF-8"),
        (np.int32([110, 233, -1, 0x1F600]), np.int64([0, 2, 2, 4])),
        text(["né".encode(), b"", b"\xef\xbf\xbd" + "😀".encode()]),
    ),
    Case(
        UnicodeScript(),
        (np.int32([[0x41, 0x4E00, 0x430], [32, -1, 0x110000]]),),
        np.int32([[25, 17, 8], [0, -1, -1]]),
    ),
]
