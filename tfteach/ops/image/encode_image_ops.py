"""Ops that encode images.

Source: core/ops/image_ops.cc, core/kernels/encode_jpeg_op.cc, encode_png_op.cc.
"""

from __future__ import annotations

import io
import struct
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, uint8
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.image import png_format
from tfteach.ops.text.byte_string_arrays import strings

_JFIF_BYTES = 20  # what precedes the tables: the start and the density
_XMP_NAME = b"http://ns.adobe.com/xap/1.0/\0"
_CHANNELS = {"grayscale": 1, "rgb": 3}


class _EncodeOp(Op, abstract=True):
    """Images are encoded on the CPU and have no gradients."""

    on_gpu: ClassVar[bool] = False

    def infer_shape(self, image: Shape) -> Shape:
        shapes.with_rank(image, 3)
        return ()

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


def _check_rank(image: Array) -> None:
    if image.ndim != 3:
        raise invalid_argument(f"image must be 3-dimensional{shapes.text(image.shape)}")


def _check_channels(image: Array) -> None:
    if image.shape[2] not in (1, 3):
        raise invalid_argument(
            f"image must have 1 or 3 channels, got {shapes.text(image.shape)}"
        )


class EncodeJpeg(_EncodeOp):
    """An image as a JPEG file.  Source: core/ops/image_ops.cc, EncodeJpeg."""

    signature = "image: uint8 -> contents: string"
    format: str = ""
    quality: int = 95
    progressive: bool = False
    optimize_size: bool = False
    chroma_downsampling: bool = True
    density_unit: str = "in"
    x_density: int = 300
    y_density: int = 300
    xmp_metadata: str = ""

    def validate(self) -> None:
        check_choice("EncodeJpeg", "format", self.format, ("", "grayscale", "rgb"))
        check_choice("EncodeJpeg", "density_unit", self.density_unit, ("in", "cm"))

    def compute(self, xp: ArrayModule, image: Array) -> Any:
        if not 0 <= self.quality <= 100:
            raise invalid_argument(f"quality must be in [0,100], got {self.quality}")
        _check_rank(image)
        found, wanted = image.shape[2], _CHANNELS.get(self.format)
        if wanted is not None and found != wanted:
            raise invalid_argument(
                f"format {self.format} expects {wanted} channels, got "
                f"{shapes.text(image.shape)}"
            )
        _check_channels(image)
        return strings([self.encoded(image)], ())

    def encoded(self, image: Array) -> bytes:
        """The file of a uint8 array [height, width, 1 or 3]."""
        from PIL import Image

        content = io.BytesIO()
        is_gray = image.shape[2] == 1
        halves = self.chroma_downsampling and not is_gray
        Image.fromarray(image[:, :, 0] if is_gray else image).save(
            content,
            "JPEG",
            quality=self.quality,
            progressive=self.progressive,
            optimize=self.optimize_size,
            subsampling="4:2:0" if halves else "4:4:4",
            dpi=(300, 300),
        )
        data = content.getvalue()
        unit = 1 if self.density_unit == "in" else 2
        density = struct.pack(">BHH", unit, self.x_density, self.y_density)
        start = data[:13] + density + data[18:_JFIF_BYTES]
        xmp = self.xmp_metadata.encode()
        if xmp:
            size = len(_XMP_NAME) + len(xmp) + 2
            start += b"\xff\xe1" + struct.pack(">H", size) + _XMP_NAME + xmp
        return start + data[_JFIF_BYTES:]


class EncodeJpegVariableQuality(_EncodeOp):
    """An image as a JPEG file, whose quality a run determines.

    Source: core/ops/image_ops.cc, EncodeJpegVariableQuality.
    """

    signature = "images: uint8, quality: int32 -> contents: string"

    def infer_shape(self, images: Shape, quality: Shape) -> Shape:  # type: ignore[override]
        shapes.with_rank(images, 3)
        shapes.with_rank(quality, 0)
        return ()

    def compute(self, xp: ArrayModule, images: Array, quality: Array) -> Any:
        _check_rank(images)
        if np.ndim(quality):
            raise invalid_argument(
                f"quality must be scalar: {shapes.text(np.shape(quality))}"
            )
        _check_channels(images)
        # The library limits the quality, and TensorFlow does not check this one.
        limited = min(max(int(quality), 1), 100)
        return strings([EncodeJpeg(quality=limited).encoded(images)], ())


class EncodePng(_EncodeOp):
    """An image as a PNG file.  Source: core/ops/image_ops.cc, EncodePng."""

    signature = "image: T -> contents: string"
    T = dtypes_of("uint8 uint16")
    T_default = uint8
    compression: int = -1

    def compute(self, xp: ArrayModule, image: Array) -> Any:
        if not -1 <= self.compression <= 9:
            raise invalid_argument(
                f"compression should be in [-1,9], got {self.compression}"
            )
        _check_rank(image)
        if not 1 <= image.shape[2] <= 4:
            raise invalid_argument(
                f"image must have 1, 2, 3, or 4 channels, got {image.shape[2]}"
            )
        return strings([png_format.encode(image, self.compression)], ())


@export("image.encode_jpeg", "io.encode_jpeg")
def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """An image as a JPEG file, a string scalar.

    Args:
      image: uint8 [height, width, channels] with 1 or 3 channels.
      format: "grayscale" or "rgb"; "" for that of the channels.
      quality: from 0 to 100.
      progressive: whether it is shown in several passes while it is loaded.
      optimize_size: whether to take more time for a smaller file.
      chroma_downsampling: whether colors have half the resolution.
      density_unit: "in" or "cm".
      x_density: pixels per unit.
      y_density: pixels per unit.
      xmp_metadata: a text that is embedded.
      name: the op's name.

    Raises:
      ValueError: `image` has another rank, `format` or `density_unit` is none of these.
      tf.errors.InvalidArgumentError: in a run, `quality` or the channels are wrong.

    Example:
      >>> file = tf.image.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))

    Source: EncodeJpeg in core/ops/image_ops.cc.
    """
    op = EncodeJpeg(
        format, quality, progressive, optimize_size, chroma_downsampling, density_unit,
        x_density, y_density, xmp_metadata,
    )  # fmt: skip
    return op(image, name=name)


@export("image.encode_png")
def encode_png(
    image: TensorLike, compression: int = -1, name: str | None = None
) -> Tensor:
    """An image as a PNG file, a string scalar.

    Args:
      image: uint8 or uint16 [height, width, channels]: gray, gray and alpha, colors,
        colors and alpha.
      compression: zlib's level, 0 to 9; -1 for its default.
      name: the op's name.

    Raises:
      ValueError: `image` has another rank.
      tf.errors.InvalidArgumentError: in a run, `compression` or the channels are wrong.

    Example:
      >>> file = tf.image.encode_png(tf.zeros([8, 8, 1], tf.uint8))

    Source: EncodePng in core/ops/image_ops.cc.
    """
    return EncodePng(compression)(image, name=name)
