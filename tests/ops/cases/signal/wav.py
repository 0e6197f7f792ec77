"""WAV files: the bytes are TensorFlow's."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.ops.signal.wav import DecodeWav, EncodeWav

FILE = (
    b"RIFF0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0@\x1f\0\0\0}\0\0\x04\0\x10\0"
    b"data\x0c\0\0\0\0\0\0@\xff\x7f\0\x80\xff\x7f\0\x80"
)
LARGEST = 32767 / 32768
SAMPLES = np.float32([[0, 0.5], [LARGEST, -1], [LARGEST, -1]])

CASES = [
    Case(DecodeWav(), (text(FILE),), (SAMPLES, np.int32(8000)), exact_shape=False),
    Case(
        DecodeWav(3, 2),
        (text(FILE),),
        (SAMPLES[:2, [0, 1, 1]], np.int32(8000)),
        "more",
    ),
    Case(
        DecodeWav(1, 4),
        (text(FILE),),
        (np.float32([[0], [LARGEST], [LARGEST], [0]]), np.int32(8000)),
        "padded",
    ),
    Case(
        EncodeWav(),
        (np.float32([[0, 0.5], [1, -1], [2, -2]]), np.int32(8000)),
        text(FILE),
    ),
]
