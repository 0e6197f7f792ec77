"""Records of CSV files as columns."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.ops.io.decode_csv import DecodeCSV

NONE = np.zeros(0, np.int64)

CASES = [
    Case(
        DecodeCSV(),
        (
            text([b"1,2.5,a,7", b"-3,,,8"]),
            [np.int32([9]), np.float32([0.5]), text(b"?"), NONE],
        ),
        (
            np.int32([1, -3]),
            np.float32([2.5, 0.5]),
            text([b"a", b"?"]),
            np.int64([7, 8]),
        ),
    ),
    Case(
        DecodeCSV(field_delim=";", na_value="NA"),
        (text([[b'"a;""b""";NA']]), [text([b"x"]), np.float64([0.1])]),
        (text([[b'a;"b"']]), np.float64([[0.1]])),
        "quoted",
    ),
    Case(
        DecodeCSV(select_cols=(1, 3), use_quote_delim=False),
        (text(b'1,"2,3,0x1F'), [text(b""), np.float32([0])]),
        (text(b'"2'), np.float32(31)),
        "selected",
    ),
    Case(
        DecodeCSV(),
        (np.zeros((2, 0), object), [np.int32([0])]),
        (np.zeros((2, 0), np.int32),),
        "none",
    ),
]
