"""Images under projective transformations.

Source: contrib/image/ops/image_ops.cc, contrib/image/kernels/image_ops.h,
contrib/image/python/ops/image_ops.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.solve import matrix_inverse

IMAGE_DTYPES = dtypes_of("uint8 int32 int64 float16 float32 float64")


class ImageProjectiveTransformV2(Op):
    """Images under projective maps.  Source: contrib/image/ops/image_ops.cc."""

    signature = (
        "images: dtype, transforms: float32, output_shape: int32 "
        "-> transformed_images: dtype"
    )
    dtype = IMAGE_DTYPES
    interpolation: str
    by_value: ClassVar[tuple[str, ...]] = ("output_shape",)
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, images: Shape, transforms: Shape, size: Any) -> Shape:
        batch, _, _, depth = shapes.with_rank(images, 4)
        if size is None:
            return (batch, None, None, depth)
        return (batch, int(size[0]), int(size[1]), depth)

    def compute(
        self, xp: ArrayModule, images: Array, transforms: Array, size: Any
    ) -> Any:
        batch, height, width, depth = images.shape
        count, columns = transforms.shape
        if columns != 8 or count not in (1, batch):
            raise invalid_argument("Input transform should be num_images x 8 or 1 x 8")
        if size.ndim != 1:
            raise invalid_argument(
                f"output shape must be 1-dimensional{shapes.text(size.shape)}"
            )
        if size.shape[0] != 2:
            raise invalid_argument(
                f"output shape must have two elements{shapes.text(size.shape)}"
            )
        if min(size.tolist()) <= 0:
            raise invalid_argument("output dimensions must be positive")
        if self.interpolation not in ("NEAREST", "BILINEAR"):
            raise invalid_argument(
                f"Invalid interpolation {self.interpolation}. Supported types: "
                "NEAREST, BILINEAR"
            )
        x, y = _sources(transforms, int(size[0]), int(size[1]))
        rows = np.arange(batch)[:, None, None]

        def pixels(at_y: Any, at_x: Any) -> Any:
            """The pixels at these positions, 0 outside."""
            with np.errstate(invalid="ignore"):
                inside = (at_y >= 0) & (at_y < height) & (at_x >= 0) & (at_x < width)
            at_y = np.where(inside, at_y, 0).astype(np.intp)
            at_x = np.where(inside, at_x, 0).astype(np.intp)
            found = images[rows, at_y, at_x]
            return np.where(
                np.broadcast_to(inside, found.shape[:3])[..., None], found, 0
            )

        if not height or not width:
            return np.zeros((batch, *x.shape[1:], depth), images.dtype)
        if self.interpolation == "NEAREST":
            found = pixels(_rounded(y), _rounded(x))
        else:
            found = _between(pixels, y, x)
        outside = (
            np.isinf(x) | np.isinf(y) if self.interpolation == "BILINEAR" else None
        )
        if outside is not None and outside.any():
            found = np.where(
                np.broadcast_to(outside, found.shape[:3])[..., None], 0, found
            )
        with np.errstate(invalid="ignore"):
            return found.astype(images.dtype)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        images, transforms = op.inputs[:2]
        if len(transforms.shape) == 1:
            transforms = transforms[None]
        inverse = matrix_inverse(flat_transforms_to_matrices(transforms))
        back = matrices_to_flat_transforms(inverse)
        return [self(grad, back, shape(images)[1:3]), None, None]


def _masked(pixels: Any, is_used: Any) -> Any:
    """Pixels [batch, height, width, channels], set to 0 where they are not used."""
    is_used = np.broadcast_to(is_used, pixels.shape[:3])
    return np.where(is_used[..., None], pixels, 0)


def _sources(transforms: Any, height: int, width: int) -> tuple[Any, Any]:
    """The source of each output pixel: x and y, float32 [count, height, width]."""
    x, y = (
        np.arange(width, dtype=np.float32),
        np.arange(height, dtype=np.float32)[:, None],
    )
    t = transforms[:, :, None, None]
    with np.errstate(all="ignore"):
        scale = t[:, 6] * x + t[:, 7] * y + np.float32(1)
        source_x = (t[:, 0] * x + t[:, 1] * y + t[:, 2]) / scale
        source_y = (t[:, 3] * x + t[:, 4] * y + t[:, 5]) / scale
    # Points at infinity are outside.
    is_far = scale == 0
    return np.where(is_far, np.inf, source_x), np.where(is_far, np.inf, source_y)


def _rounded(values: Any) -> Any:
    """Round to the nearest integer, halves away from zero."""
    return np.trunc(values + np.copysign(np.float32(0.5), values))


def _between(pixels: Any, y: Any, x: Any) -> Any:
    """Bilinear interpolation between the four surrounding pixels."""
    with np.errstate(invalid="ignore"):
        top, left = np.floor(y), np.floor(x)
        bottom, right = top + 1, left + 1

        def row(at: Any) -> Any:
            a = (right - x)[..., None] * pixels(at, left).astype(np.float32)
            return a + (x - left)[..., None] * pixels(at, right).astype(np.float32)

        return (bottom - y)[..., None] * row(top) + (y - top)[..., None] * row(bottom)


@export("contrib.image.flat_transforms_to_matrices")
def flat_transforms_to_matrices(transforms: TensorLike) -> Tensor:
    """Transformations [count, 8] as matrices [count, 3, 3]."""
    with name_scope(None, "flat_transforms_to_matrices"):
        transforms = convert(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = reshape(transforms, constant([-1, 8]))
        count = shape(transforms)[0]
        whole = concat([transforms, ones([count, 1])], axis=1)
        return reshape(whole, constant([-1, 3, 3]))


@export("contrib.image.matrices_to_flat_transforms")
def matrices_to_flat_transforms(transform_matrices: TensorLike) -> Tensor:
    """Matrices [count, 3, 3] as transformations [count, 8]."""
    with name_scope(None, "matrices_to_flat_transforms"):
        matrices = convert(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = reshape(matrices, constant([-1, 9]))
        flat /= flat[:, 8:9]
        return flat[:, :8]
