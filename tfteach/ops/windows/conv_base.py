"""Base of the convolutions over two and three dimensions.

Source: core/kernels/conv_ops.cc, conv_grad_ops.cc (checks and their messages).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_vector
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows import conv_kernels as kernels

FLOATS = dtypes_of("half bfloat16 float32 float64")


class Convolution(Op, abstract=True):
    """An op of the convolution family; subclasses add the attributes.

    Attributes:
      dimensions: the number of spatial dimensions.
      paddings, formats: the values that these attributes accept.
      kernel: the op's name in TF's messages.
    """

    is_heavy: ClassVar[bool] = True
    T = FLOATS
    dimensions: ClassVar[int] = 2
    paddings: ClassVar[tuple[str, ...]] = geometry.PADDINGS
    formats: ClassVar[tuple[str, ...]] = geometry.FORMATS
    if TYPE_CHECKING:  # the subclasses' fields, in TF's order

        @property
        def strides(self) -> tuple[int, ...]: ...

        @property
        def padding(self) -> str: ...

        @property
        def data_format(self) -> str: ...

        @property
        def dilations(self) -> tuple[int, ...]: ...

    def validate(self) -> None:
        kind = self.op_type
        check_choice(kind, "padding", self.padding, self.paddings)
        check_choice(kind, "data_format", self.data_format, self.formats)

    @property
    def rank(self) -> int:
        return self.dimensions + 2

    @property
    def explicit(self) -> tuple[int, ...]:
        """Padding before and after for each dimension, if it is explicit."""
        return ()

    def inner(self, items: Any) -> Any:
        """The spatial entries of a list with one entry per dimension."""
        return geometry.spatial(items, self.data_format)

    def depth(self, items: Any) -> Any:
        """The channels' entry of a list with one entry per dimension."""
        return geometry.channel(items, self.data_format)

    def products(self, filter: tuple[int, ...], output: tuple[int, ...]) -> int:
        """Arithmetic operations: for each element of the output those of a window.

        Args:
          filter, output: their shapes.
        """
        depth: int = self.depth(output)
        window = math.prod(filter) // max(1, depth)
        return 2 * window * math.prod(output)

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        moved = super().work(inputs, outputs)[1]
        return self.products(inputs[1], outputs[0]), moved

    def lay(self, input_shape: Any, filter_shape: Any) -> geometry.Windows:
        """The windows on an input of this shape."""
        geometry.refuse_batch_and_depth(self.strides, self.dilations, self.data_format)
        return geometry.lay(
            self.inner(input_shape), filter_shape[: self.dimensions],
            self.inner(self.strides), self.inner(self.dilations), self.padding,
            geometry.pairs(self.explicit, self.data_format),
        )  # fmt: skip

    def windows_over(self, input: Shape, filter: Shape) -> tuple[Any, Any, Any]:
        """Input and filter with their ranks checked, and the output's spatial sizes."""
        input = shapes.with_rank(input, self.rank)
        filter = shapes.with_rank(filter, self.rank)
        for values, what in ((self.strides, "stride"), (self.dilations, "dilation")):
            if len(values) != self.rank:
                where = ""
                if what == "stride" and self.dimensions == 2:
                    where = f" on data format {self.data_format}"
                raise ValueError(
                    f"{self.op_type}{where} requires the {what} attribute to contain "
                    f"{self.rank} values, but got: {len(values)}"
                )
        geometry.check_explicit(
            self.padding, self.explicit, self.data_format, self.rank
        )
        out = geometry.window_sizes(
            self.inner(input), filter[: self.dimensions], self.inner(self.strides),
            self.inner(self.dilations), self.padding,
            geometry.pairs(self.explicit, self.data_format),
        )  # fmt: skip
        return input, filter, out

    def check_groups(self, channels: int | None, filter: Any) -> None:
        """Check that the channels divide into groups.  Raises: ValueError."""
        depth, outputs = filter[-2:]
        if channels is None or depth is None or channels == depth:
            return
        if depth == 0 or channels % depth:
            raise ValueError(
                f"Depth of input ({channels}) is not a multiple of input depth of "
                f"filter ({depth})"
            )
        groups = channels // depth
        if outputs is not None and groups and outputs % groups:
            raise ValueError(
                f"Depth of output ({outputs}) is not a multiple of the number of "
                f"groups ({groups})"
            )

    def check_ranks(self, **arrays: Any) -> None:
        """Check the arrays' ranks.  Raises: InvalidArgumentError."""
        for name, shape in arrays.items():
            if len(shape) != self.rank:
                colon = "" if name == "input" else ": "  # as in TensorFlow
                raise invalid_argument(
                    f"{name} must be {self.rank}-dimensional{colon}{shapes.text(shape)}"
                )

    def convolve(self, xp: ArrayModule, input: Any, filter: Any) -> Any:
        """The forward kernel."""
        windows = self.lay(input.shape, filter.shape)
        last = geometry.to_last(xp, input, self.data_format)
        out = kernels.convolve(xp, last, filter, windows)
        return geometry.from_last(xp, out, self.data_format)

    def lay_back(self, inputs: Any, filters: Any, grads: Any) -> geometry.Windows:
        """The windows of a gradient, whose three shapes must be consistent.

        Raises:
          InvalidArgumentError: the shapes are inconsistent.
        """
        name = self.op_type.replace("2D", "2DCustom")
        for values, what in ((self.strides, "strides"), (self.dilations, "dilations")):
            if len(values) != self.rank:
                raise invalid_argument(
                    f"Sliding window {what} field must specify {self.rank} dimensions"
                )
        self.check_ranks(
            **{
                f"{name}: input": inputs,
                f"{name}: filter": filters,
                f"{name}: out_backprop": grads,
            }
        )
        windows = self.lay(inputs, filters)
        if inputs[0] != grads[0]:
            raise invalid_argument(
                f"{name}: input and out_backprop must have the same batch sizeinput "
                f"batch: {inputs[0]}outbackprop batch: {grads[0]} batch_dim: 0"
            )
        self._check_depths(name, self.depth(inputs), filters, self.depth(grads))
        found = tuple(self.inner(grads))
        first = 2 if geometry.is_first(self.data_format) else 1
        for i, (size, right) in enumerate(zip(found, windows.out, strict=True)):
            if size != right:
                raise invalid_argument(
                    f"{name}: Size of out_backprop doesn't match computed: actual = "
                    f"{size}, computed = {right} spatial_dim: {i + first} input: "
                    f"{self.inner(inputs)[i]} filter: {filters[i]} output: {size} "
                    f"stride: {windows.strides[i]} dilation: {windows.dilations[i]}"
                )
        return windows

    def _check_depths(
        self, name: str, channels: int, filters: Any, outputs: int
    ) -> None:
        if channels != filters[-2]:
            raise invalid_argument(
                f"{name}: input depth must be evenly divisible by filter depth and, as "
                f"grouped convolutions are not supported, equal to it: {channels} vs "
                f"{filters[-2]}"
            )
        if outputs != filters[-1]:
            raise invalid_argument(
                f"{name}: filter and out_backprop must have the same out_depth: "
                f"{filters[-1]} vs {outputs}"
            )


class InputGradient(Convolution, abstract=True):
    """Mixin for the gradient of a convolution by its input.

    Attributes:
      checked_as: the op's name in TF's message about the sizes.
    """

    by_shape: ClassVar[tuple[str, ...]] = ("input_sizes",)
    host_inputs: ClassVar[tuple[str, ...]] = ("input_sizes",)
    checked_as: ClassVar[str]

    def infer_shape(
        self, input_sizes: Shape, filter: Shape, out_backprop: Shape
    ) -> Shape:
        return shapes.with_rank(input_sizes, self.rank)

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        moved = super().work(inputs, outputs)[1]
        return self.products(inputs[1], inputs[2]), moved

    def check_shapes(self, input_sizes: tuple[int, ...]) -> None:
        message = f"{self.checked_as}: input_sizes input must be 1-dim, not"
        require_vector(input_sizes, f"{message} {len(input_sizes)}")

    def compute(
        self, xp: ArrayModule, input_sizes: Array, filter: Array, out_backprop: Array
    ) -> Any:
        sizes = tuple(map(int, input_sizes))
        for size in sizes:
            if size < 0:
                raise invalid_argument(f"Dimension {size} must be >= 0")
        windows = self.lay_back(sizes, filter.shape, out_backprop.shape)
        grad = geometry.to_last(xp, out_backprop, self.data_format)
        inner = tuple(self.inner(sizes))
        out = kernels.input_gradient(xp, inner, filter, grad, windows)
        return geometry.from_last(xp, out, self.data_format)


class FilterGradient(Convolution, abstract=True):
    """Mixin for the gradient of a convolution by its filter.

    Attributes:
      checked_as: the op's name in TF's message about the sizes.
    """

    by_shape: ClassVar[tuple[str, ...]] = ("filter_sizes",)
    host_inputs: ClassVar[tuple[str, ...]] = ("filter_sizes",)
    checked_as: ClassVar[str]

    def infer_shape(
        self, input: Shape, filter_sizes: Shape, out_backprop: Shape
    ) -> Shape:
        return shapes.with_rank(filter_sizes, self.rank)

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        moved = super().work(inputs, outputs)[1]
        return self.products(outputs[0], inputs[2]), moved

    def check_shapes(self, filter_sizes: tuple[int, ...]) -> None:
        message = f"{self.checked_as}: filter_sizes input must be 1-dim, not"
        require_vector(filter_sizes, f"{message} {len(filter_sizes)}")

    def compute(
        self, xp: ArrayModule, input: Array, filter_sizes: Array, out_backprop: Array
    ) -> Any:
        sizes = tuple(map(int, filter_sizes))
        windows = self.lay_back(input.shape, sizes, out_backprop.shape)
        x = geometry.to_last(xp, input, self.data_format)
        grad = geometry.to_last(xp, out_backprop, self.data_format)
        return kernels.filter_gradient(xp, x, grad, windows)
