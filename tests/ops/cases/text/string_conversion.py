"""Numbers as strings, strings as numbers and hashes: real TensorFlow's answers."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.framework.dtypes import float64, int32
from tfteach.ops.text.string_conversion import (
    AsString,
    StringToHashBucket,
    StringToHashBucketFast,
    StringToHashBucketStrong,
    StringToNumber,
)

LONG = b"hello world hello world hello world hello"
LONGER = (
    b"hello world this is a long string of many many characters, over sixty four surely"
)

CASES = [
    Case(
        AsString(),
        (np.float32([3.14159, 2e10, np.inf, np.nan]),),
        text([b"3.141590", b"20000000000.000000", b"inf", b"nan"]),
    ),
    Case(
        AsString(precision=2, width=8, fill="0"),
        (np.float64([3.14159]),),
        text([b"00003.14"]),
        "filled",
    ),
    Case(AsString(scientific=True), (np.float32([3.5]),), text([b"3.500000e+00"]), "e"),
    Case(AsString(shortest=True), (np.float32([1e20]),), text([b"1e+20"]), "g"),
    Case(AsString(width=4, fill="-"), (np.int64([-4]),), text([b"-4  "]), "left"),
    Case(AsString(), (np.array([True, False]),), text([b"true", b"false"]), "bool"),
    Case(AsString(precision=1), (np.complex64([1 + 2j]),), text([b"(1.0,2.0)"]), "c"),
    Case(
        StringToNumber(),
        (text([b"1.5", b" 2 ", b"inf", b"1e3", b"0x10"]),),
        np.float32([1.5, 2, np.inf, 1000, 16]),
    ),
    Case(StringToNumber(float64), (text(b"0.1"),), np.float64(0.1), "double"),
    Case(StringToNumber(int32), (text([b"12", b" -7"]),), np.int32([12, -7]), "int"),
    Case(
        StringToHashBucket(1000000007),
        (text([b"a", b"bc", LONGER]),),
        np.int64([395105680, 857900967, 944523122]),
    ),
    Case(
        StringToHashBucketFast(2**62),
        (text([b"", b"bcde", b"hello wo", b"hello world " * 2, LONG, LONGER]),),
        np.int64([
            1936946117179621455, 4076666760176922523, 3616420679985843595,
            3771602149529603319, 469787398875014411, 1391735697278422996,
        ]),
    ),
    Case(
        StringToHashBucketFast(2**62),
        (text([b"x" * 130]),),
        np.int64([1487499551542932974]),
        "long",
    ),
    Case(
        StringToHashBucketStrong(2**62, (123, 456)),
        (text([b"a", b"bc", b"hello world and more"]),),
        np.int64([2150915142212405420, 74931834814415845, 4307445330454816129]),
    ),
]  # fmt: skip
