"""Files that every checkout has."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.ops.io.file_ops import MatchingFiles, ReadFile

HERE = Path(__file__)
INIT = str(HERE.with_name("__init__.py"))

CASES = [
    Case(ReadFile(), (text(b"/dev/null"),), text(b"")),
    Case(ReadFile(), (text(str(HERE).encode()),), text(HERE.read_bytes()), "some"),
    Case(
        MatchingFiles(),
        (np.zeros(0, object),),
        np.zeros(0, object),
        "none",
        exact_shape=False,
    ),
    Case(
        MatchingFiles(),
        (text(str(HERE.parent / "*_ops.py").encode()),),
        lambda _: text(sorted(str(p).encode() for p in HERE.parent.glob("*_ops.py"))),
        "pattern",
        exact_shape=False,
    ),
    Case(
        MatchingFiles(),
        (text([b"/nowhere/*", INIT.encode()]),),
        text([INIT.encode()]),
        "several",
        exact_shape=False,
    ),
]
