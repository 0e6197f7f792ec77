"""Files that TensorFlow wrote, and images whose pixels are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.golden import input_calls
from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.framework.dtypes import int64, uint16
from tfteach.ops.image import png_format
from tfteach.ops.image.decode_image_ops import (
    DecodeAndCropJpeg,
    DecodeBmp,
    DecodeGif,
    DecodeJpeg,
    DecodePng,
    ExtractJpegShape,
)

IMAGES = Path(input_calls.__file__).parent / "images"
GRAY = text((IMAGES / "gray.jpg").read_bytes())
COLORS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
DEEP = np.arange(24, dtype=np.uint16).reshape(2, 4, 3) * 1000
PNG = text(png_format.encode(COLORS, 6))
BMP = text((IMAGES / "topdown.bmp").read_bytes())
SMALL = np.uint8([
    [158, 205, 193, 134, 70, 47, 85, 155, 204, 197],
])  # fmt: skip

CASES = [
    Case(
        DecodeJpeg(ratio=8, dct_method="INTEGER_ACCURATE"),
        (GRAY,),
        lambda _: DecodeJpeg(1, 8).compute(np, GRAY),
        exact_shape=False,
    ),
    Case(
        DecodeAndCropJpeg(1, 8, dct_method="INTEGER_ACCURATE"),
        (GRAY, np.int32([0, 0, 1, 10])),
        SMALL[:, :, None],
    ),
    Case(DecodePng(), (PNG,), COLORS, exact_shape=False),
    Case(
        DecodePng(4, uint16),
        (text(png_format.encode(DEEP, 0)),),
        np.concatenate([DEEP, np.full((2, 4, 1), 65535, np.uint16)], 2),
        "deep",
        exact_shape=False,
    ),
    Case(
        DecodePng(1),
        (PNG,),
        (COLORS @ np.float64([0.299, 0.587, 0.114]))[:, :, None].astype(np.uint8),
        "gray",
        exact_shape=False,
    ),
    Case(DecodeGif(), (PNG,), COLORS[None], exact_shape=False),
    Case(
        DecodeBmp(3),
        (BMP,),
        lambda _: DecodePng().compute(np, text((IMAGES / "rgb.png").read_bytes())),
        exact_shape=False,
    ),
    Case(ExtractJpegShape(int64), (GRAY,), np.int64([61, 83, 1])),
]
