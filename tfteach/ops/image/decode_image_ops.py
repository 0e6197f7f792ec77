"""Ops that decode images.

`decode_jpeg`, `decode_png` and `decode_gif` recognize the format by the content: each
reads all three.
Source: core/ops/image_ops.cc, core/kernels/decode_image_op.cc, decode_bmp_op.cc,
extract_jpeg_shape_op.cc.
"""

from __future__ import annotations

import struct
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, dtypes_of, int32, uint8
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.image.image_formats import (
    damaged_jpeg,
    format_of,
    jpeg_shape,
)
from tfteach.ops.image.image_formats import (
    decode_gif as gif_frames,
)
from tfteach.ops.image.image_formats import (
    decode_jpeg as jpeg_pixels,
)
from tfteach.ops.image.image_formats import (
    decode_png as png_pixels,
)

_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")
_BMP_HEADER_BYTES = 32


class DecodeImageOp(Op, abstract=True):
    """Images are decoded on the CPU and have no gradients."""

    on_gpu: ClassVar[bool] = False

    def infer_shape(self, contents: Shape) -> Shape:
        shapes.with_rank(contents, 0)
        own: Any = self
        return (None, None, getattr(own, "channels", 0) or None)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


def _content(contents: Array) -> bytes:
    if contents.ndim:
        raise invalid_argument(
            f"contents must be scalar, got shape {shapes.text(contents.shape)}"
        )
    found: bytes = contents.item()
    return found


def _check_channels(channels: int) -> None:
    if channels not in (0, 1, 3, 4):
        raise invalid_argument(f"channels must be 0, 1, 3, or 4, got {channels}")


def _single(data: bytes, kind: str, channels: int, dtype: Any) -> Any:
    """An image of a PNG or GIF file for an op that returns one."""
    if kind == "PNG":
        return png_pixels(data, channels, np.dtype(dtype))
    frames = gif_frames(data)
    if len(frames) != 1:
        raise invalid_argument(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by "
            "tf.image.decode_gif or tf.image.decode_image"
        )
    if channels not in (0, 3):
        raise invalid_argument(f"channels must be 0 or 3 for GIF, got {channels}")
    return frames[0]


class _DecodeJpegOp(DecodeImageOp, abstract=True):
    """The options of the decoders of JPEG files."""

    channels: int = 0
    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    acceptable_fraction: float = 1.0
    dct_method: str = ""

    def decoded(self, data: bytes) -> Any:
        _check_channels(self.channels)
        if self.ratio not in (1, 2, 4, 8):
            raise invalid_argument(f"ratio must be 1, 2, 4, or 8, got {self.ratio}")
        if self.dct_method not in _METHODS:
            raise invalid_argument(
                "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}"
            )
        kind = format_of(data)
        if kind != "JPEG":
            return _single(data, kind, self.channels, np.uint8)
        if self.channels == 4:
            raise invalid_argument("channels must be 0, 1, or 3 for JPEG, got 4")
        plain, recovers = not self.fancy_upscaling, self.try_recover_truncated
        return jpeg_pixels(data, self.channels, self.ratio, plain, recovers)


class DecodeJpeg(_DecodeJpegOp):
    """The image of a JPEG file.  Source: core/ops/image_ops.cc, DecodeJpeg."""

    signature = "contents: string -> image: uint8"

    def compute(self, xp: ArrayModule, contents: Array) -> Any:
        return self.decoded(_content(contents))


class DecodeAndCropJpeg(_DecodeJpegOp):
    """A part of an image.  Source: core/ops/image_ops.cc, DecodeAndCropJpeg."""

    signature = "contents: string, crop_window: int32 -> image: uint8"
    by_value_or_shape = ("crop_window",)

    def infer_shape(  # type: ignore[override]
        self, contents: Shape, crop_window: Any
    ) -> Shape:
        shapes.with_rank(contents, 0)
        size: tuple[int | None, ...] = (None, None)
        if isinstance(crop_window, np.ndarray):
            if crop_window.shape != (4,):
                raise ValueError(f"Dimension must be 4 but is {crop_window.size}")
            size = int(crop_window[2]), int(crop_window[3])
        else:
            shapes.merge(shapes.with_rank(crop_window, 1), (4,))
        return (*size, self.channels or None)

    def compute(self, xp: ArrayModule, contents: Array, crop_window: Array) -> Any:
        data = _content(contents)
        if crop_window.shape != (4,):
            raise invalid_argument(
                "crop_window must have four elements, got shape "
                f"{shapes.text(crop_window.shape)}"
            )
        image = self.decoded(data)
        y, x, height, width = crop_window.tolist()
        inside = y + height <= image.shape[0] and x + width <= image.shape[1]
        if y < 0 or x < 0 or height <= 0 or width <= 0 or not inside:
            raise damaged_jpeg(data)
        return image[y : y + height, x : x + width].copy()


class DecodePng(DecodeImageOp):
    """The image of a PNG file.  Source: core/ops/image_ops.cc, DecodePng."""

    signature = "contents: string -> image: dtype"
    dtype_allowed = dtypes_of("uint8 uint16")
    channels: int = 0
    dtype: DType = uint8

    def compute(self, xp: ArrayModule, contents: Array) -> Any:
        data = _content(contents)
        _check_channels(self.channels)
        kind, dtype = format_of(data), self.dtype.numpy_dtype
        if kind == "JPEG":
            found = jpeg_pixels(data, self.channels, 1, False)
        else:
            found = _single(data, kind, self.channels, dtype)
        return found.astype(dtype, copy=False)


class DecodeGif(DecodeImageOp):
    """The frames of a GIF file.  Source: core/ops/image_ops.cc, DecodeGif."""

    signature = "contents: string -> image: uint8"

    def infer_shape(self, contents: Shape) -> Shape:
        shapes.with_rank(contents, 0)
        return (None, None, None, 3)

    def compute(self, xp: ArrayModule, contents: Array) -> Any:
        data = _content(contents)
        kind = format_of(data)
        if kind == "GIF":
            return gif_frames(data)
        if kind == "JPEG":
            return jpeg_pixels(data, 3, 1, False)[None]
        return png_pixels(data, 3, np.dtype(np.uint8))[None]


class DecodeBmp(DecodeImageOp):
    """The image of a BMP file.  Source: core/ops/image_ops.cc, DecodeBmp."""

    signature = "contents: string -> image: uint8"
    channels: int = 0

    def compute(self, xp: ArrayModule, contents: Array) -> Any:
        if self.channels not in (0, 1, 3, 4):
            raise invalid_argument(
                f"channels must be 0, 1, 3 or 4, got {self.channels}"
            )
        data = _content(contents)
        if len(data) < _BMP_HEADER_BYTES:
            raise invalid_argument(
                f"Incomplete bmp content, requires at least {_BMP_HEADER_BYTES} bytes "
                "to find the header size, width, height, and bpp, got "
                f"{len(data)} bytes"
            )
        start, width, height = (
            struct.unpack_from("<i", data, at)[0] for at in (10, 18, 22)
        )
        channels = struct.unpack_from("<i", data, 28)[0] // 8
        if self.channels and channels != self.channels:
            raise invalid_argument(
                f"channels attribute {self.channels} does not match bits per pixel "
                f"from file {channels}"
            )
        if channels not in (1, 3, 4):
            raise invalid_argument(
                f"Number of channels must be 1, 3 or 4, was {channels}"
            )
        row_bytes = (channels * width + 3) // 4 * 4
        rows = abs(height)
        least = start + (rows - 1) * row_bytes + width * channels
        if len(data) < least:
            raise invalid_argument(
                f"Incomplete bmp content, requires at least {least} bytes, got "
                f"{len(data)} bytes"
            )
        padded = data[start : start + rows * row_bytes].ljust(rows * row_bytes, b"\0")
        pixels: Array = np.frombuffer(padded, np.uint8).reshape(rows, row_bytes)
        pixels = pixels[:, : width * channels].reshape(rows, width, channels)
        if height > 0:
            pixels = pixels[::-1]
        if channels > 1:
            pixels = pixels[:, :, [2, 1, 0, *range(3, channels)]]
        return np.ascontiguousarray(pixels)


class ExtractJpegShape(DecodeImageOp):
    """The shape of an image.  Source: core/ops/image_ops.cc, ExtractJpegShape."""

    signature = "contents: string -> image_shape: output_type"
    output_type_allowed = dtypes_of("int32 int64")
    output_type: DType = int32

    def infer_shape(self, contents: Shape) -> Shape:
        shapes.with_rank(contents, 0)
        return (3,)

    def compute(self, xp: ArrayModule, contents: Array) -> Any:
        return np.array(jpeg_shape(_content(contents)), self.output_type.numpy_dtype)


@export("image.decode_jpeg", "io.decode_jpeg")
def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The image of a JPEG, PNG or GIF file, uint8 [height, width, channels].

    With `dct_method="INTEGER_ACCURATE"` the values are TensorFlow's, bit by bit.
    Otherwise TensorFlow uses a faster transform that Pillow does not have: its values
    differ from these by at most 4, by 1 on average (measured on photographs).

    Args:
      contents: a string scalar, the file's content.
      channels: 0 for those of the file, 1 for gray, 3 for colors.
      ratio: 1, 2, 4 or 8: by which the image is made smaller while it is decoded.
      fancy_upscaling: whether the planes of colors are interpolated smoothly.
      try_recover_truncated: not supported.
      acceptable_fraction: only counts with `try_recover_truncated`.
      dct_method: "", "INTEGER_FAST" or "INTEGER_ACCURATE".
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the file is damaged, or an argument
        wrong.
      tf.errors.UnimplementedError: in a run, `try_recover_truncated`, or
        `fancy_upscaling=False` where it matters.

    Example:
      >>> image = tf.image.decode_jpeg(tf.read_file("cat.jpg"), channels=3)

    Source: DecodeJpeg in core/ops/image_ops.cc.
    """
    op = DecodeJpeg(
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction,
        dct_method,
    )  # fmt: skip
    return op(contents, name=name)


@export("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A part of the image of a JPEG file, uint8 [height, width, channels].

    Args:
      contents: a string scalar, the file's content.
      crop_window: an int32 vector [y, x, height, width].
      channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction,
        dct_method: as of `tf.image.decode_jpeg`.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the window is not inside the image, or
        as for `tf.image.decode_jpeg`.

    Example:
      >>> part = tf.image.decode_and_crop_jpeg(tf.read_file("cat.jpg"), [0, 0, 32, 32])

    Source: DecodeAndCropJpeg in core/ops/image_ops.cc.
    """
    op = DecodeAndCropJpeg(
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction,
        dct_method,
    )  # fmt: skip
    return op(contents, crop_window, name=name)


@export("image.decode_png", "io.decode_png")
def decode_png(
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = uint8,
    name: str | None = None,
) -> Tensor:
    """The image of a PNG, JPEG or GIF file, [height, width, channels].

    Args:
      contents: a string scalar, the file's content.
      channels: 0 for those of the file, 1 for gray, 3 for colors, 4 with alpha.
      dtype: uint8 or uint16.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the file is damaged, or `channels` is
        wrong.

    Example:
      >>> image = tf.image.decode_png(tf.read_file("digit.png"), channels=1)

    Source: DecodePng in core/ops/image_ops.cc.
    """
    op = DecodePng(channels, dtype)  # type: ignore[arg-type]  # converted by the op
    return op(contents, name=name)


@export("image.decode_gif", "io.decode_gif")
def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """The frames of a GIF file, uint8 [frames, height, width, 3].

    Args:
      contents: a string scalar, the file's content.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the file is damaged.

    Example:
      >>> frames = tf.image.decode_gif(tf.read_file("moving.gif"))

    Source: DecodeGif in core/ops/image_ops.cc.
    """
    return DecodeGif()(contents, name=name)


@export("image.decode_bmp", "io.decode_bmp")
def decode_bmp(
    contents: TensorLike, channels: int = 0, name: str | None = None
) -> Tensor:
    """The image of a BMP file, uint8 [height, width, channels].

    Args:
      contents: a string scalar, the file's content.
      channels: 0, or those of the file.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, the file is damaged, or has other
        channels.

    Example:
      >>> image = tf.image.decode_bmp(tf.read_file("drawing.bmp"))

    Source: DecodeBmp in core/ops/image_ops.cc.
    """
    return DecodeBmp(channels)(contents, name=name)


@export("image.extract_jpeg_shape", "io.extract_jpeg_shape")
def extract_jpeg_shape(
    contents: TensorLike, output_type: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """Height, width and channels of a JPEG file, which is not decoded.

    Args:
      contents: a string scalar, the file's content.
      output_type: int32 or int64.
      name: the op's name.

    Raises:
      tf.errors.InvalidArgumentError: in a run, it is no JPEG file.

    Example:
      >>> size = tf.image.extract_jpeg_shape(tf.read_file("cat.jpg"))

    Source: ExtractJpegShape in core/ops/image_ops.cc.
    """
    op = ExtractJpegShape(output_type)  # type: ignore[arg-type]
    return op(contents, name=name)
