"""Regular expressions: real TensorFlow's answers."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.ops.text.regex import (
    RegexFullMatch,
    RegexReplace,
    StaticRegexFullMatch,
    StaticRegexReplace,
)

WORDS = text([b"hello", b"world"])

CASES = [
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
]  # fmt: skip
