"""Bytes as numbers, and compressed strings."""

from __future__ import annotations

import gzip
import zlib

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.framework.dtypes import complex64, float32, int16, uint8
from tfteach.ops.io.decode_raw import DecodeCompressed, DecodePaddedRaw, DecodeRaw

CASES = [
    Case(
        DecodeRaw(int16),
        (text([[b"\x01\x02\x03\x04"], [b"\xff\xff\x00\x80"]]),),
        np.int16([[[513, 1027]], [[-1, -32768]]]),
        exact_shape=False,
    ),
    Case(
        DecodeRaw(float32, little_endian=False),
        (text(b"\x3f\x80\x00\x00"),),
        np.float32([1]),
        "big-endian",
        exact_shape=False,
    ),
    Case(
        DecodeRaw(complex64, little_endian=False),
        (text(b"\x3f\x80\x00\x00\x40\x00\x00\x00"),),
        np.complex64([2 + 1j]),
        "complex",
        exact_shape=False,
    ),
    Case(
        DecodeRaw(uint8),
        (np.zeros((0, 2), object),),
        np.zeros((0, 2, 0), np.uint8),
        "none",
        exact_shape=False,
    ),
    Case(
        DecodePaddedRaw(uint8),
        (text([b"abc", b"", b"abcdefgh"]), np.int32(4)),
        np.uint8([[97, 98, 99, 0], [0, 0, 0, 0], [97, 98, 99, 100]]),
    ),
    # Several strings of larger numbers make TensorFlow write beside its buffer.
    Case(
        DecodePaddedRaw(int16, little_endian=False),
        (text(b"abc"), np.int32(4)),
        np.int16([24930, 25344]),
        "big-endian",
    ),
    Case(
        DecodeCompressed("ZLIB"),
        (text([zlib.compress(b"abc"), zlib.compress(b"") + b"rest", b""]),),
        text([b"abc", b"", b""]),
    ),
    Case(
        DecodeCompressed("GZIP"),
        (text(gzip.compress(b"a" * 9)),),
        text(b"a" * 9),
        "gzip",
    ),
    Case(DecodeCompressed(), (text([[b"a"]]),), text([[b"a"]]), "plain"),
]
