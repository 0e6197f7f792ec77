"""Examples of JSON texts: the bytes are TensorFlow's."""

from __future__ import annotations

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.ops.io.decode_json_example import DecodeJSONExample

NUMBERS = (
    b'{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}',
    b"\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\x08\x01\x08\x02",
)

CASES = [
    Case(DecodeJSONExample(), (text([[NUMBERS[0]]]),), text([[NUMBERS[1]]])),
    Case(DecodeJSONExample(), (text(b"{}"),), text(b""), "empty"),
]
