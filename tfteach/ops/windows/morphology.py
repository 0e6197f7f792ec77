"""Grey dilation and erosion: maxima and minima over windows, with a height per tap.

Source: core/ops/nn_ops.cc, core/kernels/dilation_ops.cc, python/ops/nn_ops.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.transpose_reverse import reverse
from tfteach.ops.math.unary import negative
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.pool import GRAD_TYPES, check_alike
from tfteach.ops.windows.pool_kernels import taps


class _Dilation(Op, abstract=True):
    T = GRAD_TYPES
    minimum: ClassVar[dict[str, int]] = {"strides": 4, "rates": 4}
    strides: tuple[int, ...]
    rates: tuple[int, ...]
    padding: str

    def validate(self) -> None:
        kind = self.op_type
        check_choice(kind, "padding", self.padding, geometry.PADDINGS)
        for what, numbers in (("stride", self.strides), ("rates", self.rates)):
            if len(numbers) != 4:
                raise ValueError(
                    f"{kind} requires the {what} attribute to contain 4 values, but "
                    f"got: {len(numbers)}"
                )

    def same(self, kind: type[_Dilation]) -> Any:
        """Another op of this family with the same attributes."""
        return kind(*self.attributes)

    def lay(self, input: Any, filter: Any) -> geometry.Windows:
        """The windows on an input of this shape.

        Raises:
          InvalidArgumentError: ranks or channels do not match.
        """
        if len(input) != 4:
            raise invalid_argument(f"input must be 4-dimensional{shapes.text(input)}")
        if len(filter) != 3:
            raise invalid_argument(
                f"filter must be 3-dimensional: {shapes.text(filter)}"
            )
        if input[-1] != filter[-1]:
            raise invalid_argument(
                "input and filter must have the same depth: "
                f"{input[-1]} vs {filter[-1]}"
            )
        for what, values in (("Stride", self.strides), ("Rate", self.rates)):
            if values[0] != 1 or values[3] != 1:
                raise geometry.unimplemented(
                    f"{what} is only supported across spatial dimensions."
                )
        return geometry.lay(
            input[1:3], filter[:2], self.strides[1:3], self.rates[1:3], self.padding
        )

    def sums(
        self, x: Any, filter: Any, windows: geometry.Windows
    ) -> Iterator[tuple[tuple[int, ...], Any, Any, Any]]:
        """For each tap: the tap, its outputs, its inputs, and input plus height."""
        for tap, to, at in taps(windows, x.shape[1:3]):
            inputs = (slice(None), *at)
            yield tap, (slice(None), *to), inputs, x[inputs] + filter[tap]

    def winners(
        self, xp: ArrayModule, x: Any, filter: Any, windows: geometry.Windows
    ) -> tuple[Any, Any]:
        """The maxima, and the first tap (in row-major order) that attains each."""
        best = xp.zeros((len(x), *windows.out, x.shape[-1]), x.dtype)
        which = xp.full(best.shape, -1, "int64")
        for (i, j), outputs, _, found in self.sums(x, filter, windows):
            better = (which[outputs] < 0) | (found > best[outputs])
            best[outputs] = xp.where(better, found, best[outputs])
            tap = i * windows.window[1] + j
            which[outputs] = xp.where(better, tap, which[outputs])
        return best, which

    def hits(
        self, xp: ArrayModule, input: Any, filter: Any, out_backprop: Any
    ) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
        """For each tap: the tap, its inputs, and the gradient where it is maximal."""
        windows = self.lay(input.shape, filter.shape)
        right = (len(input), *windows.out, input.shape[-1])
        check_alike("out_backprop", out_backprop.shape, right)
        if not out_backprop.size:
            return
        _, which = self.winners(xp, input, filter, windows)
        for (i, j), outputs, inputs, _ in self.sums(input, filter, windows):
            won = which[outputs] == i * windows.window[1] + j
            yield (i, j), inputs, out_backprop[outputs] * won


class Dilation2D(_Dilation):
    """The maximum of input plus filter in each window, channel by channel.

    Source: core/ops/nn_ops.cc, Dilation2D.
    """

    signature = "input: T, filter: T -> output: T"

    def infer_shape(self, input: Shape, filter: Shape) -> Shape:
        input, filter = shapes.with_rank(input, 4), shapes.with_rank(filter, 3)
        shapes.same_size(input[3], filter[2])
        if None in input[1:3] + filter[:2]:
            return (input[0], None, None, filter[2])
        out = geometry.window_sizes(
            input[1:3], filter[:2], self.strides[1:3], self.rates[1:3], self.padding,
            may_be_empty=True,
        )  # fmt: skip
        return (input[0], *out, filter[2])

    def compute(self, xp: ArrayModule, input: Array, filter: Array) -> Any:
        windows = self.lay(input.shape, filter.shape)
        return self.winners(xp, input, filter, windows)[0]

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, filters = op.inputs
        return [
            self.same(Dilation2DBackpropInput)(x, filters, grad),
            self.same(Dilation2DBackpropFilter)(x, filters, grad),
        ]


class Dilation2DBackpropInput(_Dilation):
    """Dilation2D's gradient with respect to its input.  Source: core/ops/nn_ops.cc."""

    signature = "input: T, filter: T, out_backprop: T -> in_backprop: T"

    def infer_shape(self, input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
        return input

    def compute(
        self, xp: ArrayModule, input: Array, filter: Array, out_backprop: Array
    ) -> Any:
        result = xp.zeros(input.shape, input.dtype)
        for _, inputs, part in self.hits(xp, input, filter, out_backprop):
            result[inputs] += part
        return result


class Dilation2DBackpropFilter(_Dilation):
    """Dilation2D's gradient with respect to its filter.  Source: core/ops/nn_ops.cc."""

    signature = "input: T, filter: T, out_backprop: T -> filter_backprop: T"

    def infer_shape(self, input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
        return filter

    def compute(
        self, xp: ArrayModule, input: Array, filter: Array, out_backprop: Array
    ) -> Any:
        result = xp.zeros(filter.shape, filter.dtype)
        for tap, _, part in self.hits(xp, input, filter, out_backprop):
            result[tap] = part.sum(axis=(0, 1, 2), dtype=result.dtype)
        return result


@export("nn.dilation2d")
def dilation2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] | None = None,
    name: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The maximum of input plus filter in each window (grey-scale dilation).

    `out[b, y, x, c] = max(in[b, s * y + r * dy, s * x + r * dx, c] + f[dy, dx, c])`

    Args:
      input: Tensor [batch, height, width, channels] of floats or integers.
      filter, filters: Tensor [height, width, channels] of the same type.
      strides: a list of 4 ints, the distances of the windows.
      rates, dilations: a list of 4 ints, the distances of a window's elements.
      padding: "SAME" or "VALID"; padding is never the maximum.
      name: the op's name.

    Returns:
      A Tensor [batch, rows, columns, channels].

    Raises:
      ValueError: ranks or channels do not match, or an argument is invalid.

    Source: Dilation2D in core/ops/nn_ops.cc.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    rates = deprecated_argument_lookup("dilations", dilations, "rates", rates)
    return _dilation(strides, rates, padding)(input, filter, name=name)


def _dilation(strides: Any, rates: Any, padding: Any) -> Dilation2D:
    function = "dilation2d"
    return Dilation2D(
        geometry.ints(function, "strides", strides),
        geometry.ints(function, "rates", rates), padding,
    )  # fmt: skip


@export("nn.erosion2d")
def erosion2d(
    value: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str | Sequence[Sequence[int]],
    name: str | None = None,
) -> Tensor:
    """The minimum of value minus kernel in each window (grey-scale erosion).

    Args:
      value: Tensor [batch, height, width, channels] of floats or integers.
      kernel: Tensor [height, width, channels] of the same type.
      strides, rates, padding: as for `tf.nn.dilation2d`.
      name: the name scope of the ops.

    Returns:
      A Tensor [batch, rows, columns, channels].

    Raises:
      ValueError: ranks or channels do not match.

    Source: python/ops/nn_ops.py; Dilation2D of the negatives.
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        op = _dilation(strides, rates, padding)
        turned = negative(value), reverse(kernel, [0, 1])
        return negative(op(*turned, name=scope))
