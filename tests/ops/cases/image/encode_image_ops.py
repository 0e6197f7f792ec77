"""Encoded images: their beginnings, and the pixels that come back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import text
from tfteach.ops.image import png_format
from tfteach.ops.image.encode_image_ops import (
    EncodeJpeg,
    EncodeJpegVariableQuality,
    EncodePng,
)

COLORS = np.arange(192, dtype=np.uint8).reshape(8, 8, 3)


def jpeg(image: Any, quality: int = 95, **options: Any) -> Any:
    import io

    from PIL import Image

    content = io.BytesIO()
    dpi = (300, 300)
    Image.fromarray(image).save(content, "JPEG", quality=quality, dpi=dpi, **options)
    return text(content.getvalue())


CASES = [
    Case(EncodeJpeg(), (COLORS,), lambda image: jpeg(image, subsampling=2)),
    Case(
        EncodeJpeg("rgb", chroma_downsampling=False, progressive=True),
        (COLORS,),
        lambda image: jpeg(image, subsampling=0, progressive=True),
        "progressive",
    ),
    Case(
        EncodeJpegVariableQuality(),
        (COLORS, np.int32(60)),
        lambda image, quality: jpeg(image, int(quality), subsampling=2),
    ),
    Case(EncodePng(), (COLORS,), text(png_format.encode(COLORS, -1))),
    Case(
        EncodePng(0),
        (COLORS[:, :, :2].astype(np.uint16),),
        text(png_format.encode(COLORS[:, :, :2].astype(np.uint16), 0)),
        "deep",
    ),
]
