"""Formats of summaries: TensorBoard's histogram buckets, PNG images, WAV audio.

Source: core/lib/histogram/histogram.cc, core/kernels/summary_image_op.cc,
core/lib/wav/wav_io.cc; the PNG and RIFF WAVE formats.
"""

from __future__ import annotations

import io
import struct
import wave
import zlib
from functools import cache
from typing import Any

import numpy as np


@cache
def bucket_limits() -> np.ndarray[Any, Any]:
    """The upper limits of TensorBoard's histogram buckets, each 10% wider."""
    limits = []
    limit = 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    limits.append(np.finfo(np.float64).max)
    positive = np.array(limits)
    return np.concatenate([-positive[::-1], [0.0], positive])


class Histogram:
    """The counts, sums and limits of float64 values, as in a HistogramProto."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = self._sum_squares = 0.0
        self._max = -bucket_limits()[-1]
        self._min = bucket_limits()[-1]
        self._counts = np.zeros(len(bucket_limits()), np.int64)

    def add(self, flat: np.ndarray[Any, Any]) -> None:
        """Add some values."""
        if not flat.size:
            return
        limits = bucket_limits()
        self.count += flat.size
        # Added one by one, as in TF: another order would be rounded differently.
        self._sum = float(np.add.accumulate([self._sum, *flat])[-1])
        squares = [self._sum_squares, *(flat * flat)]
        self._sum_squares = float(np.add.accumulate(squares)[-1])
        self._min = min(self._min, float(flat.min()))
        self._max = max(self._max, float(flat.max()))
        places = np.searchsorted(limits, flat, side="right")
        places = np.minimum(places, len(limits) - 1)
        self._counts += np.bincount(places, minlength=len(limits))

    def fill(self, proto: Any) -> None:
        """Set the fields of a HistogramProto; runs of empty buckets are merged."""
        proto.num = self.count
        proto.min, proto.max = self._min, self._max
        if self.count:
            proto.sum, proto.sum_squares = self._sum, self._sum_squares
        filled = self._counts > 0
        # A bucket is written if it has values, or is the last of a run of empty ones.
        kept = filled | np.append(filled[1:], True)
        proto.bucket_limit.extend(bucket_limits()[kept].tolist())
        proto.bucket.extend(self._counts[kept].tolist())


def fill_histogram(proto: Any, flat: np.ndarray[Any, Any]) -> None:
    """Add float64 values to a HistogramProto."""
    histogram = Histogram()
    histogram.add(flat)
    histogram.fill(proto)


def pixels_of(image: np.ndarray[Any, Any], bad_color: Any) -> np.ndarray[Any, Any]:
    """Floats [height, width, depth] as uint8.

    Without negative values the largest is mapped to 255; otherwise 0 to 128, and the
    largest magnitude to a distance of 127.  Pixels with NaN or infinity become
    `bad_color`.
    """
    values, kind = image, image.dtype.type  # halves are scaled as halves
    finite = np.isfinite(values).all(axis=2)
    low = float(values[finite].min()) if finite.any() else 0.0
    high = float(values[finite].max()) if finite.any() else 0.0
    largest = max(abs(low), abs(high)) if low < 0 else high
    span, offset = (127, 128) if low < 0 else (255, 0)
    scale = kind(0) if largest < 1e-6 else kind(span) / kind(largest)
    pixels = np.empty(image.shape, np.uint8)
    pixels[finite] = (values[finite] * scale + kind(offset)).astype(np.uint8)
    pixels[~finite] = bad_color
    return pixels


def png(image: np.ndarray[Any, Any]) -> bytes:
    """A uint8 image [height, width, 1, 3 or 4] as a PNG file."""
    height, width, depth = image.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    color = {1: 0, 3: 2, 4: 6}[depth]  # grey, RGB, RGBA
    rows = np.zeros((height, 1 + width * depth), np.uint8)  # filter type 0
    rows[:, 1:] = image.reshape(height, width * depth)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)),
            chunk(b"IDAT", zlib.compress(rows.tobytes())),
            chunk(b"IEND", b""),
        ]
    )


def wav(sound: np.ndarray[Any, Any], rate: int) -> bytes:
    """Samples [frames, channels] between -1 and 1 as a WAV file of 16-bit integers."""
    scaled = sound.astype(np.float64) * (1 << 15)
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))  # halves away from zero
    data = np.clip(rounded, -32768, 32767).astype("<i2").tobytes()
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(sound.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(data)
    return content.getvalue()
