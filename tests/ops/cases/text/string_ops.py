"""Strings joined, changed in case, cut and encoded: real TensorFlow's answers."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
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

WORDS = text([b"hello", b"world"])

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
]  # fmt: skip
