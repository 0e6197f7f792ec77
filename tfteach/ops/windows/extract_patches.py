"""Windows of images, stored as channels.

Source: core/ops/array_ops.cc, core/kernels/extract_image_patches_op.cc,
extract_volume_patches_op.cc, python/ops/array_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.range import range as range_of
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_dense_matmul
from tfteach.ops.sparse.sparse_shape import sparse_slice
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_kernels import Source
from tfteach.ops.windows.pool import GRAD_TYPES


class _Patches(Op, abstract=True):
    T = GRAD_TYPES
    dimensions: ClassVar[int] = 2
    if TYPE_CHECKING:  # the subclasses' fields, in TF's order

        @property
        def ksizes(self) -> tuple[int, ...]: ...

        @property
        def strides(self) -> tuple[int, ...]: ...

        @property
        def padding(self) -> str: ...

    @property
    def apart(self) -> tuple[int, ...]:
        """The distances of a window's elements, per dimension."""
        return (1,) * len(self.ksizes)

    def validate(self) -> None:
        kind = self.op_type
        check_choice(kind, "padding", self.padding, geometry.PADDINGS)

    def windows_of(self, images: Shape) -> Shape:
        """The output's shape."""
        rank = self.dimensions + 2
        images = shapes.with_rank(images, rank)
        for name in ("ksizes", "strides", "apart"):
            found = getattr(self, name)
            if len(found) != rank:
                raise ValueError(
                    f"{self.op_type} requires the {name} attribute to contain {rank} "
                    f"values, but got: {len(found)}"
                )
        window = self.ksizes[1:-1]
        out = geometry.window_sizes(
            images[1:-1], window, self.strides[1:-1], self.apart[1:-1], self.padding
        )
        depth = None if images[-1] is None else images[-1] * prod(window)
        return (images[0], *out, depth)

    def extract(self, xp: ArrayModule, images: Any) -> Any:
        """The kernel shared by both ops."""
        if images.ndim != self.dimensions + 2:
            raise invalid_argument(
                f"input must be {self.dimensions + 2}-dimensional"
                f"{shapes.text(images.shape)}"
            )
        for name in ("ksizes", "strides", "rates"):
            values = self.apart if name == "rates" else getattr(self, name)
            if values[0] != 1 or values[-1] != 1:
                raise geometry.unimplemented(f"Only support {name} across space.")
        windows = geometry.lay(
            images.shape[1:-1], self.ksizes[1:-1], self.strides[1:-1],
            self.apart[1:-1], self.padding,
        )  # fmt: skip
        depth = images.shape[-1] * prod(windows.window)
        shape = (len(images), *windows.out, depth)
        if not prod(shape):
            return xp.zeros(shape, images.dtype)
        view = Source(xp, images, windows, len(images)).view(0)
        return xp.ascontiguousarray(view).reshape(shape)

    def back(
        self, grad: Any, batch: Any, sizes: tuple[Any, ...], channels: Any, out: Any
    ) -> Any:
        """The gradient: `grad` times a sparse matrix that maps patches to pixels.

        Args:
          grad: the gradient of the patches.
          batch, sizes, channels: the input's shape, as numbers or scalar Tensors.
          out: a function that returns the output's spatial sizes.
        """
        window, n = self.ksizes[1:-1], self.dimensions
        # Pixels are numbered from 1; 0 is padding.
        count_in = 1 + reduce(mul, sizes)
        pixels = reshape(range_of(1, count_in, dtype=int64), (1, *sizes, 1))
        came = self(pixels)
        lines = out()
        count_out = reduce(mul, (*lines, *window))
        went = reshape(
            range_of(count_out, dtype=int64), (1, *lines, reduce(mul, window))
        )
        pairs = concat([expand_dims(came, axis=-1), expand_dims(went, axis=-1)], -1)
        where = reshape(pairs, (-1, 2))
        ones = fill.ones([count_out], dtype=grad.dtype)
        moves = SparseTensor(where, ones, (count_in, count_out))
        moves = sparse_slice(moves, (1, 0), (count_in - 1, count_out))
        parts = reshape(grad, (batch, *lines, *window, channels))
        order = (*range(1, 2 * n + 1), 0, 2 * n + 1)
        flat = reshape(transpose(parts, order), (-1, batch * channels))
        summed = sparse_tensor_dense_matmul(moves, flat)
        found = reshape(summed, (*sizes, batch, channels))
        return transpose(found, (n, *range(n), n + 1))


class ExtractImagePatches(_Patches):
    """Each window's pixels as the channels of one pixel.

    Source: core/ops/array_ops.cc, ExtractImagePatches.
    """

    signature = "images: T -> patches: T"
    ksizes: tuple[int, ...]
    strides: tuple[int, ...]
    rates: tuple[int, ...]
    padding: str

    minimum: ClassVar[dict[str, int]] = {"ksizes": 4, "strides": 4, "rates": 4}

    @property
    def apart(self) -> tuple[int, ...]:
        return self.rates

    def infer_shape(self, images: Shape) -> Shape:
        return self.windows_of(images)

    def compute(self, xp: ArrayModule, images: Array) -> Any:
        return self.extract(xp, images)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        sizes = shape_ops.shape(op.inputs[0], out_type=int64)
        batch, rows, columns, channels = (sizes[i] for i in range(4))

        def out() -> tuple[Any, Any]:
            found = shape_ops.shape(op.outputs[0], out_type=int64)
            return found[1], found[2]

        return [self.back(grad, batch, (rows, columns), channels, out)]


class ExtractVolumePatches(_Patches):
    """Each window's voxels as the channels of one voxel.

    Source: core/ops/array_ops.cc, ExtractVolumePatches.
    """

    signature = "input: T -> patches: T"
    ksizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    dimensions = 3
    minimum: ClassVar[dict[str, int]] = {"ksizes": 5, "strides": 5}

    def infer_shape(self, input: Shape) -> Shape:
        return self.windows_of(input)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        return self.extract(xp, input)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        own, out = op.inputs[0]._shape, op.outputs[0]._shape
        if own is None or out is None or None in (*own[1:-1], *out[1:-1]):
            raise ValueError(
                "The gradient of ExtractVolumePatches requires static sizes, got "
                f"{shapes.text(own)}"
            )
        shape = shape_ops.shape(op.inputs[0])
        batch, channels = shape[0], shape[4]
        return [self.back(grad, batch, own[1:-1], channels, lambda: out[1:-1])]


@export("extract_image_patches", "image.extract_image_patches")
def extract_image_patches(
    images: TensorLike,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    sizes: Sequence[int] | None = None,
) -> Tensor:
    """The windows of images, each stored as the channels of one pixel.

    Args:
      images: Tensor [batch, height, width, channels] of floats or integers.
      ksizes, sizes: a list of 4 ints, [1, rows, columns, 1], the window's size.
      strides: a list of 4 ints, the distances of the windows.
      rates: a list of 4 ints, the distances of a window's pixels.
      padding: "SAME" or "VALID".
      name: the op's name.

    Returns:
      A Tensor [batch, rows, columns, window's height * width * channels].

    Raises:
      ValueError: the rank does not match, or an argument is invalid.
      UnimplementedError: (when run) windows over the batch or the channels.

    Source: ExtractImagePatches in core/ops/array_ops.cc.
    """
    ksizes = deprecated_argument_lookup("sizes", sizes, "ksizes", ksizes)
    function = "extract_image_patches"
    op = ExtractImagePatches(
        geometry.ints(function, "ksizes", ksizes),
        geometry.ints(function, "strides", strides),
        geometry.ints(function, "rates", rates), padding,
    )  # fmt: skip
    return op(images, name=name)


@export("image.extract_patches")
def extract_patches(
    images: TensorLike, sizes: Sequence[int], strides: Sequence[int],
    rates: Sequence[int], padding: str,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`tf.image.extract_image_patches` with the arguments of TF 2."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


@export("extract_volume_patches")
def extract_volume_patches(
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The windows of volumes, each stored as the channels of one voxel.

    Args:
      input: Tensor [batch, depth, height, width, channels].
      ksizes, strides: lists of 5 ints.
      padding: "SAME" or "VALID".
      name: the op's name.

    Returns:
      A Tensor [batch, planes, rows, columns, the window's size * channels].

    Raises:
      ValueError: the rank does not match, or an argument is invalid.

    Source: ExtractVolumePatches in core/ops/array_ops.cc.
    """
    function = "extract_volume_patches"
    op = ExtractVolumePatches(
        geometry.ints(function, "ksizes", ksizes),
        geometry.ints(function, "strides", strides), padding,
    )  # fmt: skip
    return op(input, name=name)
