"""Strings: what real TensorFlow 1.15.5 answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import float64, int32
from tfteach.ops.text.regex import (
    RegexFullMatch,
    RegexReplace,
    StaticRegexFullMatch,
    StaticRegexReplace,
)
from tfteach.ops.text.string_conversion import (
    AsString,
    StringToHashBucket,
    StringToHashBucketFast,
    StringToHashBucketStrong,
    StringToNumber,
)
from tfteach.ops.text.string_ops import (
    DecodeBase64,
    EncodeBase64,
    StringJoin,
    StringLength,
    StringLower,
    StringStrip,
    StringUpper,
    Substr,
)
from tfteach.ops.text.string_split import (
    ReduceJoin,
    StringSplit,
    StringSplitV2,
    UnsortedSegmentJoin,
)


def text(values: Any) -> Any:
    """An array of byte strings."""
    return np.array(values, object)


WORDS = text([b"hello", b"world"])
GRID = text([[b"a", b"b", b"c"], [b"d", b"e", b"f"]])
LONG = b"hello world hello world hello world hello"
LONGER = (
    b"hello world this is a long string of many many characters, over sixty four surely"
)

CASES = [
    Case(StringLower(), (text(["AÄb".encode()]),), text(["aÄb".encode()])),
    Case(
        StringLower("utf-8"), (text(["AÄb".encode()]),), text(["aäb".encode()]), "utf"
    ),
    Case(StringUpper(), (text(["aäb".encode()]),), text(["AäB".encode()])),
    Case(StringStrip(), (text([b"  a b\t\n", b""]),), text([b"a b", b""])),
    Case(StringLength(), (text(["aß".encode(), b""]),), np.int32([3, 0])),
    Case(StringLength("UTF8_CHAR"), (text(["aß".encode()]),), np.int32([2]), "utf"),
    Case(Substr(), (WORDS, np.int32([1, -2]), np.int32([3, 9])), text([b"ell", b"ld"])),
    Case(Substr(), (WORDS, np.int32(5), np.int32(1)), text([b"", b""]), "scalar"),
    Case(
        Substr("UTF8_CHAR"),
        (text(["aßc".encode()]), np.int64([1]), np.int64([1])),
        text(["ß".encode()]),
        "utf",
    ),
    Case(StringJoin(","), ([text(b"a"), WORDS],), text([b"a,hello", b"a,world"])),
    Case(EncodeBase64(), (text([b"hello?>~~", b"a"]),), text([b"aGVsbG8_Pn5-", b"YQ"])),
    Case(EncodeBase64(True), (text([b"a"]),), text([b"YQ=="]), "pad"),
    Case(DecodeBase64(), (text([b"aGVsbG8_", b"YQ=="]),), text([b"hello?", b"a"])),
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
    Case(StaticRegexReplace("o", "0"), (WORDS,), text([b"hell0", b"w0rld"])),
    Case(
        StaticRegexReplace("(l+)", r"<\1\0\2>", False),
        (WORDS,),
        text([b"he<llll>o", b"wor<ll>d"]),
        "groups",
    ),
    Case(
        RegexReplace(),
        (WORDS, text(b"[lr]"), text(b"\\\\")),
        text([b"he\\\\o", b"wo\\\\d"]),
    ),
    Case(StaticRegexFullMatch("h.*"), (WORDS,), np.array([True, False])),
    Case(RegexFullMatch(), (WORDS, text(b".*l.")), np.array([True, True])),
    Case(
        StringSplit(),
        (text([b"hello world", b" a  b", b""]), text(b" ")),
        (
            np.int64([[0, 0], [0, 1], [1, 0], [1, 1]]),
            text([b"hello", b"world", b"a", b"b"]),
            np.int64([3, 2]),
        ),
        exact_shape=False,
    ),
    Case(
        StringSplit(False),
        (text([b"a,b;", b"c"]), text(b",;")),
        (
            np.int64([[0, 0], [0, 1], [0, 2], [1, 0]]),
            text([b"a", b"b", b"", b"c"]),
            np.int64([2, 3]),
        ),
        "all",
        exact_shape=False,
    ),
    Case(
        StringSplit(),
        (text([b"abc", b"d"]), text(b"")),
        (
            np.int64([[0, 0], [0, 1], [0, 2], [1, 0]]),
            text([b"a", b"b", b"c", b"d"]),
            np.int64([2, 3]),
        ),
        "bytes",
        exact_shape=False,
    ),
    Case(
        StringSplitV2(1),
        (text([b"a,b,,c", b" a  b"]), text(b",")),
        (
            np.int64([[0, 0], [0, 1], [1, 0]]),
            text([b"a", b"b,,c", b" a  b"]),
            np.int64([2, 2]),
        ),
        exact_shape=False,
    ),
    Case(ReduceJoin(), (GRID, np.int32(0)), text([b"ad", b"be", b"cf"])),
    Case(ReduceJoin(), (GRID, np.int32([1, 0])), text(b"abcdef"), "rows"),
    Case(ReduceJoin(), (GRID, np.int32([0, 1])), text(b"adbecf"), "columns"),
    Case(
        ReduceJoin(True, "-"),
        (GRID, np.int32([-1])),
        text([[b"a-b-c"], [b"d-e-f"]]),
        "kept",
    ),
    Case(
        UnsortedSegmentJoin("-"),
        (text([b"a", b"b", b"c"]), np.int32([1, 0, 1]), np.int32(2)),
        text([b"b", b"a-c"]),
    ),
]  # fmt: skip
