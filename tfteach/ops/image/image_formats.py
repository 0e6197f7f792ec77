"""JPEG, PNG and GIF files as arrays, by Pillow.

Pillow is imported when the first image is decoded.
Source: core/kernels/decode_image_op.cc, core/lib/{jpeg,png,gif} (messages).
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tfteach.framework.errors import OpError, invalid_argument
from tfteach.ops.image import png_format

# libpng's weights of red, green and blue, in 1/32768.
_GRAY_WEIGHTS = np.array([9798, 19235, 3735], np.int64)
_STARTS = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"))


def format_of(data: bytes) -> str:
    """ "JPEG", "PNG" or "GIF".

    Raises:
      InvalidArgumentError: it is none of these.
    """
    for start, name in _STARTS:
        if data.startswith(start):
            return name
    shown = "".join(
        chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in data[:16]
    )
    raise invalid_argument(
        "Expected image (JPEG, PNG, or GIF), got unknown format starting with "
        f"'{shown}'"
    )


def opened(data: bytes) -> Any:
    """A Pillow image, not decoded yet."""
    from PIL import Image

    return Image.open(io.BytesIO(data))


def _as_pixels(image: Any) -> Any:
    found = np.asarray(image)
    return found[:, :, None] if found.ndim == 2 else found


# ---- JPEG


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and number of channels.

    Raises:
      InvalidArgumentError: it is no JPEG file.
    """
    try:
        image = opened(data)
        if image.format == "JPEG":
            return image.size[1], image.size[0], len(image.getbands())
    except OSError:
        pass
    raise invalid_argument(f"Invalid JPEG data, size {len(data)}")


def decode_jpeg(
    data: bytes,
    channels: int,
    ratio: int,
    plain_upscaling: bool = False,
    recovers: bool = False,
) -> Any:
    """The image of a JPEG file, uint8 [height, width, channels].

    Raises:
      InvalidArgumentError: the file is damaged.
      NotImplementedError: Pillow's decoder has no such option.
    """
    try:
        image = opened(data)
        if image.mode == "CMYK":
            raise NotImplementedError("decode_jpeg: images of four channels (CMYK)")
        if plain_upscaling and _is_subsampled(image):
            raise NotImplementedError(
                "decode_jpeg: fancy_upscaling=False for an image whose colors have a "
                "lower resolution"
            )
        width, height = image.size
        wanted = -(-width // ratio), -(-height // ratio)
        mode = "L" if channels == 1 else None
        image.draft(mode, (max(1, width // ratio), max(1, height // ratio)))
        if ratio > 1 and image.size != wanted:
            raise NotImplementedError(
                f"decode_jpeg: ratio={ratio} for an image of {width} x {height}"
            )
        found = _as_pixels(image)
    except (OSError, SyntaxError):
        if recovers:
            raise NotImplementedError(
                "decode_jpeg: try_recover_truncated=True (and acceptable_fraction) for "
                "a file that is cut"
            ) from None
        raise damaged_jpeg(data) from None
    if channels == 3 and found.shape[2] == 1:
        found = np.repeat(found, 3, axis=2)
    return found


def _is_subsampled(image: Any) -> bool:
    sizes = {layer[1:3] for layer in image.layer}
    return len(sizes) > 1


def damaged_jpeg(data: bytes) -> OpError:
    return invalid_argument(f"Invalid JPEG data or crop window, data size {len(data)}")


# ---- PNG


def decode_png(data: bytes, channels: int, dtype: np.dtype[Any]) -> Any:
    """The image of a PNG file, [height, width, channels].

    Raises:
      InvalidArgumentError: the file is damaged.
    """
    try:
        found = _png_pixels(data)
    except (OSError, SyntaxError, ValueError):
        raise invalid_argument(f"Invalid PNG data, size {len(data)}") from None
    if found.dtype.itemsize > dtype.itemsize:
        found = (found >> 8).astype(dtype)
    found = _with_channels(found, channels or found.shape[2])
    if found.dtype.itemsize < dtype.itemsize:
        found = found.astype(dtype) * dtype.type(257)
    return found


def _png_pixels(data: bytes) -> Any:
    if png_format.header(data)[2] == 16:
        return png_format.decode_16_bits(data)
    image = opened(data)
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    return _as_pixels(image)


def _with_channels(image: Any, channels: int) -> Any:
    """An image with 1 (gray), 2 (and alpha), 3 (colors) or 4 (and alpha) channels."""
    found = image.shape[2]
    if found == channels:
        return image
    opaque = np.iinfo(image.dtype).max
    has_alpha = found in (2, 4)
    colors = image[:, :, :-1] if has_alpha else image
    alpha = image[:, :, -1:] if has_alpha else np.full_like(image[:, :, :1], opaque)
    if channels < 3 and colors.shape[2] == 3:
        mixed = (colors.astype(np.int64) @ _GRAY_WEIGHTS) >> 15
        colors = mixed[:, :, None].astype(image.dtype)
    elif channels > 2 and colors.shape[2] == 1:
        colors = np.repeat(colors, 3, axis=2)
    return np.concatenate([colors, alpha], 2) if channels in (2, 4) else colors


# ---- GIF


def decode_gif(data: bytes) -> Any:
    """The frames of a GIF file, uint8 [frames, height, width, 3].

    Raises:
      InvalidArgumentError: the file is damaged.
    """
    from PIL import ImageSequence

    try:
        frames = [
            np.asarray(frame.convert("RGB"))
            for frame in ImageSequence.Iterator(opened(data))
        ]
    except (OSError, SyntaxError, EOFError):
        raise invalid_argument(f"Invalid GIF data, size {len(data)}") from None
    return np.stack(frames)
