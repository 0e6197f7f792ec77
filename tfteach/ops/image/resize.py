"""Resizing images: bilinear, nearest neighbour, bicubic, by area; and the gradients.

Source: core/ops/image_ops.cc, core/kernels/image_resizer_state.h (checks),
python/ops/image_grad.py, python/ops/image_ops_impl.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, dtypes_of, float32, float64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import shape_ops
from tfteach.ops.image.resize_weights import (
    F32,
    Taps,
    area,
    bicubic,
    bilinear,
    nearest,
    resample,
    transposed,
)

NUMBERS = dtypes_of("int8 uint8 int16 uint16 int32 int64 half float32 float64")
WITH_BFLOAT = dtypes_of(
    "int8 uint8 int16 uint16 int32 int64 bfloat16 half float32 float64"
)


def sized(images: Shape, size: Any) -> Shape:
    """The shape [batch, height, width, channels] of images resized to a size.

    Args:
      images: the shape of the images.
      size: the size if it is a constant, otherwise its shape.

    Raises:
      ValueError: a rank is wrong, or the size is negative.
    """
    images = shapes.with_rank(images, 4)
    is_known = size is not None and not isinstance(size, tuple)
    check_length(shapes.with_rank(size.shape if is_known else size, 1), 2)
    if not is_known:
        return (images[0], None, None, images[3])
    for n in size.tolist():
        if n < -1:
            raise ValueError(f"Dimension {n} must be >= 0")
    height, width = shapes.sizes_of(size)
    return (images[0], height, width, images[3])


def check_length(vector: tuple[int | None, ...], right: int) -> None:
    """Raise ValueError if a vector's length is known to differ."""
    if vector[-1] not in (None, right):
        raise ValueError(f"Dimension must be {right} but is {vector[-1]}")


def check_images(images: Any) -> None:
    """Check images [batch, height, width, channels].  Raises: InvalidArgumentError."""
    if images.ndim != 4:
        raise invalid_argument(
            f"input must be 4-dimensional{shapes.text(images.shape)}"
        )
    if not images.shape[3]:
        raise invalid_argument("image must have at least one channel")
    if not (images.shape[1] and images.shape[2]):
        raise invalid_argument("input image must be of non-zero size")


def check_size(size: Any, what: str) -> tuple[int, int]:
    """A size as two numbers.  Raises: InvalidArgumentError: it is not a pair."""
    if size.ndim != 1:
        raise invalid_argument(f"{what} must be 1-dimensional{shapes.text(size.shape)}")
    if size.shape[0] != 2:
        raise invalid_argument(
            f"{what} must have two elements{shapes.text(size.shape)}"
        )
    return int(size[0]), int(size[1])


def check_positive(height: int, width: int) -> None:
    """Check that the output is not empty.  Raises: InvalidArgumentError."""
    if height <= 0 or width <= 0:
        raise invalid_argument("output dimensions must be positive")


def check_original(grads: Any, original: Any) -> None:
    """Check gradients of images.  Raises: InvalidArgumentError."""
    for what, array in (("input_grad", grads), ("original_image", original)):
        if array.ndim != 4:
            raise invalid_argument(
                f"{what} must be 4-dimensional{shapes.text(array.shape)}"
            )


class _Sized(Op, abstract=True):
    """Images resized to a size, with a table of taps per axis."""

    by_value_or_shape: ClassVar[tuple[str, ...]] = ("size",)
    host_inputs: ClassVar[tuple[str, ...]] = ("size",)

    def infer_shape(self, images: Shape, size: Any) -> Shape:
        return sized(images, size)

    def compute(self, xp: ArrayModule, images: Array, size: Any) -> Any:
        self.check_centers()
        check_images(images)
        height, width = check_size(size, "shape_t")
        check_positive(height, width)
        rows = self.make(images.shape[1], height)
        columns = self.make(images.shape[2], width)
        dtype = self.computed_in(images)
        return resample(xp, images, rows, columns, dtype)

    def check_centers(self) -> None:
        """Check that the attributes are compatible.  Raises: InvalidArgumentError."""

    def make(self, size: int, out: int) -> Taps:
        """The interpolation table of one axis."""
        raise NotImplementedError

    def computed_in(self, images: Any) -> Any:
        """The result's type."""
        return F32


class _Aligned(Op, abstract=True):
    """Base of the resizing ops and their gradients."""

    align_corners: bool = False
    half_pixel_centers: bool = False
    table: ClassVar[Callable[..., Taps]]

    def check_centers(self) -> None:
        if self.align_corners and self.half_pixel_centers:
            raise invalid_argument(
                "If half_pixel_centers is True, align_corners must be False."
            )

    def make(self, size: int, out: int) -> Taps:
        """The interpolation table of one axis."""
        return type(self).table(size, out, *self.attributes)

    def back(self, size: int, out: int) -> Taps:
        """The gradient's table of one axis, from `out` numbers to `size`."""
        make = type(self).table
        return transposed(make, size, out, *self.attributes)


class _Resize(_Aligned, _Sized, abstract=True):
    """The ops with the attribute `half_pixel_centers`."""


class _ResizeGrad(_Aligned, abstract=True):
    """The gradient of a resizing op with float32 outputs."""

    def infer_shape(self, grads: Shape, original_image: Shape) -> Shape:
        return original_image

    def compute(self, xp: ArrayModule, grads: Array, original_image: Array) -> Any:
        self.check_centers()
        check_original(grads, original_image)
        _, height, width, _ = original_image.shape
        rows = self.back(height, grads.shape[1])
        columns = self.back(width, grads.shape[2])
        found = resample(xp, grads, rows, columns, F32)
        return found.astype(original_image.dtype, copy=False)


class ResizeBilinear(_Resize):
    """Bilinear interpolation between the four pixels around each position.

    Source: core/ops/image_ops.cc, ResizeBilinear.
    """

    signature = "images: T, size: int32 -> resized_images: float32"
    T = WITH_BFLOAT
    table = staticmethod(bilinear)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [ResizeBilinearGrad(*self.attributes)(grad, op.inputs[0]), None]


class ResizeBilinearGrad(_ResizeGrad):
    """The gradient of ResizeBilinear.

    Source: core/ops/image_ops.cc, ResizeBilinearGrad.
    """

    signature = "grads: float32, original_image: T -> output: T"
    T = dtypes_of("float32 bfloat16 half float64")
    table = staticmethod(bilinear)


class ResizeBicubic(_Resize):
    """Bicubic interpolation between the sixteen pixels around each position.

    Source: core/ops/image_ops.cc, ResizeBicubic.
    """

    signature = "images: T, size: int32 -> resized_images: float32"
    T = NUMBERS
    table = staticmethod(bicubic)
    on_gpu: ClassVar[bool] = False

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        images = op.inputs[0]
        if images.dtype.base_dtype not in ResizeBicubicGrad.T:
            return [None, None]
        return [ResizeBicubicGrad(*self.attributes)(grad, images), None]


class ResizeBicubicGrad(_ResizeGrad):
    """The gradient of ResizeBicubic.

    Source: core/ops/image_ops.cc, ResizeBicubicGrad.
    """

    signature = "grads: float32, original_image: T -> output: T"
    T: ClassVar[tuple[DType, ...]] = (float32, float64)
    table = staticmethod(bicubic)
    on_gpu: ClassVar[bool] = False


class ResizeNearestNeighbor(_Resize):
    """The pixel at each position.

    Source: core/ops/image_ops.cc, ResizeNearestNeighbor.
    """

    signature = "images: T, size: int32 -> resized_images: T"
    T = NUMBERS
    table = staticmethod(nearest)

    def computed_in(self, images: Any) -> Any:
        return images.dtype

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        images = op.inputs[0]
        shape = images._shape
        if shape is not None and None not in shape[1:3]:
            size: Any = shape[1:3]
        else:
            size = shape_ops.shape(images)[1:3]
        return [ResizeNearestNeighborGrad(*self.attributes)(grad, size), None]


class ResizeNearestNeighborGrad(_Resize):
    """The gradient of ResizeNearestNeighbor: sums over the outputs of each pixel.

    Source: core/ops/image_ops.cc, ResizeNearestNeighborGrad.
    """

    signature = "grads: T, size: int32 -> output: T"
    T = dtypes_of("uint8 int8 int32 half float32 float64")
    table = staticmethod(nearest)

    def compute(self, xp: ArrayModule, grads: Array, size: Any) -> Any:
        if grads.ndim != 4:
            raise invalid_argument(
                f"input must be 4-dimensional{shapes.text(grads.shape)}"
            )
        height, width = check_size(size, "shape_t")
        if height <= 0 or width <= 0:
            raise invalid_argument("shape_t's elements must be positive")
        rows = self.back(height, grads.shape[1])
        columns = self.back(width, grads.shape[2])
        return resample(xp, grads, rows, columns, grads.dtype)


class ResizeArea(_Sized):
    """The mean of the pixels that each output covers, weighted by the covered area.

    Source: core/ops/image_ops.cc, ResizeArea.
    """

    signature = "images: T, size: int32 -> resized_images: float32"
    T = NUMBERS
    align_corners: bool = False
    on_gpu: ClassVar[bool] = False

    def make(self, size: int, out: int) -> Taps:
        return area(size, out, self.align_corners)


@export("image.resize_bilinear")
def resize_bilinear(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images resized to `size` by bilinear interpolation.

    An output at y lies at `y * height / new_height` in the image; with
    `align_corners` at `y * (height - 1) / (new_height - 1)`, with
    `half_pixel_centers` at `(y + 0.5) * height / new_height - 0.5`.

    Args:
      images: Tensor [batch, height, width, channels] of numbers.
      size: int32 [2], new_height and new_width.
      align_corners: whether the corner pixels stay in place.
      name: the op's name.
      half_pixel_centers: whether a pixel's position is its centre.

    Returns:
      A float32 Tensor [batch, new_height, new_width, channels].

    Raises:
      ValueError: `images` or `size` has another rank or length.
      InvalidArgumentError: (when run) a size is not positive, or both flags are set.

    Example:
      >>> tf.image.resize_bilinear([[[[0.0], [1.0]]]], [1, 4])  # 0, 0.5, 1, 1

    Source: ResizeBilinear in core/ops/image_ops.cc.
    """
    return ResizeBilinear(align_corners, half_pixel_centers)(images, size, name=name)


@export("image.resize_nearest_neighbor")
def resize_nearest_neighbor(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images resized to `size` by nearest neighbour.

    Args:
      images: Tensor [batch, height, width, channels] of numbers.
      size: int32 [2], new_height and new_width.
      align_corners: whether the corner pixels stay in place; positions are then rounded
        to the nearest pixel.
      name: the op's name.
      half_pixel_centers: whether a pixel's position is its centre.

    Returns:
      A Tensor [batch, new_height, new_width, channels] of the same type.

    Raises:
      ValueError: `images` or `size` has another rank or length.
      InvalidArgumentError: (when run) a size is not positive, or both flags are set.

    Example:
      >>> tf.image.resize_nearest_neighbor([[[[0], [1]]]], [1, 4])  # 0, 0, 1, 1

    Source: ResizeNearestNeighbor in core/ops/image_ops.cc.
    """
    op = ResizeNearestNeighbor(align_corners, half_pixel_centers)
    return op(images, size, name=name)


@export("image.resize_bicubic")
def resize_bicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images resized to `size` by bicubic interpolation.

    Args:
      images: Tensor [batch, height, width, channels] of numbers.
      size: int32 [2], new_height and new_width.
      align_corners: whether the corner pixels stay in place.
      name: the op's name.
      half_pixel_centers: whether a pixel's position is its centre; the cubic is then
        Keys' (a = -0.5), otherwise the one with a = -0.75.

    Returns:
      A float32 Tensor [batch, new_height, new_width, channels].

    Raises:
      ValueError: `images` or `size` has another rank or length.
      InvalidArgumentError: (when run) a size is not positive, or both flags are set.

    Example:
      >>> tf.image.resize_bicubic(tf.ones([1, 4, 4, 3]), [8, 8])

    Source: ResizeBicubic in core/ops/image_ops.cc; Keys 1981.
    """
    return ResizeBicubic(align_corners, half_pixel_centers)(images, size, name=name)


@export("image.resize_area")
def resize_area(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images resized to `size`, each pixel the mean of the pixels it covers.

    Args:
      images: Tensor [batch, height, width, channels] of numbers.
      size: int32 [2], new_height and new_width.
      align_corners: whether the corner pixels stay in place.
      name: the op's name.

    Returns:
      A float32 Tensor [batch, new_height, new_width, channels], without a gradient.

    Raises:
      ValueError: `images` or `size` has another rank or length.
      InvalidArgumentError: (when run) a size is not positive.

    Example:
      >>> tf.image.resize_area([[[[0.0], [1.0], [5.0]]]], [1, 1])  # 2

    Source: ResizeArea in core/ops/image_ops.cc.
    """
    return ResizeArea(align_corners)(images, size, name=name)
