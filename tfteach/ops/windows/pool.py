"""Maxima and means over windows of an image, and their gradients.

TF 1.15 pools "NCHW" on GPUs only; here every device does.

Source: core/ops/nn_ops.cc, core/kernels/maxpooling_op.cc, avgpooling_op.cc,
python/ops/nn_ops.py, nn_grad.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core import fill, shape_ops
from tfteach.ops.core import identity_reshape as array
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows import pool_kernels as kernels

FLOATS = dtypes_of("half bfloat16 float32 float64")
MAX_TYPES = dtypes_of(
    "half bfloat16 float32 float64 int32 int64 uint8 int16 int8 uint16 qint8"
)
GRAD_TYPES = dtypes_of(
    "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
)


class Pooling(Op, abstract=True):
    """Base of the pooling ops; subclasses add the attributes."""

    formats: ClassVar[tuple[str, ...]] = geometry.FORMATS
    if TYPE_CHECKING:  # the subclasses' fields, in TF's order

        @property
        def ksize(self) -> tuple[int, ...]: ...

        @property
        def strides(self) -> tuple[int, ...]: ...

        @property
        def padding(self) -> str: ...

        @property
        def data_format(self) -> str: ...

    def validate(self) -> None:
        kind = self.op_type
        check_choice(kind, "padding", self.padding, geometry.PADDINGS)
        check_choice(kind, "data_format", self.data_format, self.formats)

    @property
    def rank(self) -> int:
        return len(self.data_format)

    def inner(self, items: Any) -> Any:
        """The height and width entries of a list with one entry per dimension."""
        return geometry.spatial(items, self.data_format)

    @property
    def depth(self) -> int:
        """The window's size over the channels."""
        return int(geometry.channel(self.ksize, self.data_format))

    def pooled(self, shape: Shape) -> Shape:
        """The output's shape."""
        shape = shapes.with_rank(shape, self.rank)
        for values, what in ((self.strides, "stride"), (self.ksize, "ksize")):
            if len(values) != self.rank:
                raise ValueError(
                    f"{self.op_type} requires the {what} attribute to contain "
                    f"{self.rank} values, but got: {len(values)}"
                )
        layout = self.data_format
        items = self.inner(shape), self.inner(self.ksize), self.inner(self.strides)
        dilations = (1,) * len(items[0])
        out = geometry.window_sizes(*items, dilations, self.padding)
        (depth,) = geometry.window_sizes(
            (geometry.channel(shape, layout),), (self.depth,),
            (geometry.channel(self.strides, layout),), (1,), self.padding,
        )  # fmt: skip
        return tuple(geometry.around(shape[0], out, depth, layout))

    def lay(self, shape: tuple[int, ...]) -> geometry.Windows:
        """The windows on an input of this shape."""
        if len(shape) != self.rank:
            raise invalid_argument(
                f"tensor_in_shape must have {self.rank - 2} spatial dimensions. "
                f"{len(shape)} {self.formats.index(self.data_format)}: "
                f"expected a batch and channels too, got {shapes.text(shape)}"
            )
        for i, size in enumerate(self.ksize):
            if size <= 0:
                raise invalid_argument(
                    f"Sliding window ksize for dimension {i} was zero."
                )
        if self.ksize[0] != 1 or self.strides[0] != 1:
            raise geometry.unimplemented(
                "Pooling is not yet supported on the batch dimension."
            )
        channels = geometry.channel(shape, self.data_format)
        self._check_depth(channels)
        window, strides = self.inner(self.ksize), self.inner(self.strides)
        ones = (1,) * len(window)
        return geometry.lay(self.inner(shape), window, strides, ones, self.padding)

    def _check_depth(self, channels: int) -> None:
        if self.depth == 1:
            return
        if any(n != 1 for n in self.inner(self.ksize)):
            raise geometry.unimplemented(
                "MaxPooling supports exactly one of pooling across depth or pooling "
                "across width/height."
            )
        if channels % self.depth:
            raise geometry.unimplemented(
                "Depthwise max pooling requires the depth window to evenly divide the "
                "input depth"
            )
        if self.depth != geometry.channel(self.strides, self.data_format):
            raise geometry.unimplemented(
                "Depthwise max pooling requires the depth window to equal the depth "
                "stride"
            )

    def refuse_depth(self, message: str) -> None:
        """Raise in kernels that pool only over height and width."""
        if self.depth != 1:
            raise geometry.unimplemented(message)

    def last(self, xp: ArrayModule, *arrays: Any) -> list[Any]:
        """The arrays with the channels last."""
        return [geometry.to_last(xp, a, self.data_format) for a in arrays]

    def native(self, xp: ArrayModule, result: Any) -> Any:
        """The inverse of `last`."""
        return geometry.from_last(xp, result, self.data_format)

    def same(self, kind: type[Pooling]) -> Any:
        """Another op with the same attributes."""
        return kind(*self.attributes)


class Pool(Pooling, abstract=True):
    """Pooling over two dimensions."""

    minimum: ClassVar[dict[str, int]] = {"ksize": 4, "strides": 4}

    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    data_format: str = "NHWC"


def largest(xp: ArrayModule, array: Any) -> Any:
    """The ufunc of a maximum: like TF's, it prefers numbers to NaN."""
    return xp.maximum if array.dtype.kind in "iu" else xp.fmax


def check_alike(what: str, got: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Check a gradient's shape.  Raises: InvalidArgumentError."""
    if got != right:
        raise invalid_argument(
            f"Expected {what} shape to be {shapes.text(right)}, but got "
            f"{shapes.text(got)}"
        )


class MaxPool(Pool):
    """The maximum of each window.  Source: core/ops/nn_ops.cc, MaxPool."""

    signature = "input: T -> output: T"
    T = MAX_TYPES
    T_default = float32
    formats = (*geometry.FORMATS, "NCHW_VECT_C")

    def validate(self) -> None:
        super().validate()
        if self.data_format == "NCHW_VECT_C":
            raise NotImplementedError(
                "data_format='NCHW_VECT_C' is for int8 on a GPU: use NHWC or NCHW."
            )

    def infer_shape(self, input: Shape) -> Shape:
        return self.pooled(input)

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        windows = self.lay(input.shape)
        (x,) = self.last(xp, input)
        if self.depth > 1:
            count = x.shape[-1] // self.depth
            groups = x.reshape(*x.shape[:-1], count, self.depth)
            parts = [groups[..., i] for i in range(self.depth)]
            return self.native(xp, reduce(largest(xp, x), parts))
        return self.native(xp, kernels.reduce_windows(xp, largest(xp, x), x, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [self.same(MaxPoolGrad)(op.inputs[0], op.outputs[0], grad)]


class MaxPoolGrad(Pool):
    """The gradient, added to the first maximum of each window.

    Source: core/ops/nn_ops.cc, MaxPoolGrad.
    """

    signature = "orig_input: T, orig_output: T, grad: T -> output: T"
    T = GRAD_TYPES
    T_default = float32
    takes_epilogue: ClassVar[bool] = True

    def infer_shape(self, orig_input: Shape, orig_output: Shape, grad: Shape) -> Shape:
        return shapes.with_rank(orig_input, self.rank)

    def compute(
        self, xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array
    ) -> Any:
        windows = self.lay(orig_input.shape)
        self.refuse_depth("MaxPoolingGrad is not yet supported on the depth dimension.")
        x, y, grad = self.last(xp, orig_input, orig_output, grad)
        right = (x.shape[0], *windows.out, x.shape[-1])
        check_alike("orig_output", y.shape, right)
        check_alike("grad", grad.shape, right)
        return self.native(xp, kernels.max_gradient(xp, x, y, grad, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y, _ = op.inputs
        return [
            fill.zeros(shape_ops.shape(x), x.dtype),
            fill.zeros(shape_ops.shape(y), y.dtype),
            self.same(MaxPoolGradGrad)(x, y, grad),
        ]


class MaxPoolGradGrad(Pool):
    """The elements of `grad` at the first maximum of each window.

    Source: core/ops/nn_ops.cc, MaxPoolGradGrad.
    """

    signature = "orig_input: T, orig_output: T, grad: T -> output: T"
    T = GRAD_TYPES

    def infer_shape(self, orig_input: Shape, orig_output: Shape, grad: Shape) -> Shape:
        pooled = self.pooled(orig_input)
        shapes.merge(pooled, orig_output)
        return pooled

    def compute(
        self, xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array
    ) -> Any:
        windows = self.lay(orig_input.shape)
        self.refuse_depth(
            "MaxPoolingGradGrad is not yet supported on the depth dimension."
        )
        x, y, grad = self.last(xp, orig_input, orig_output, grad)
        check_alike("orig_output", y.shape, (x.shape[0], *windows.out, x.shape[-1]))
        check_alike("grad", grad.shape, x.shape)
        return self.native(xp, kernels.max_gradient_gradient(xp, x, y, grad, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        x, y, _ = op.inputs
        return [
            fill.zeros(shape_ops.shape(x), x.dtype),
            fill.zeros(shape_ops.shape(y), y.dtype),
            self.same(MaxPoolGrad)(x, y, grad),
        ]


class AvgPool(Pool):
    """The mean of each window, excluding padding.

    Source: core/ops/nn_ops.cc, AvgPool.
    """

    signature = "value: T -> output: T"
    T = FLOATS

    def infer_shape(self, value: Shape) -> Shape:
        return self.pooled(value)

    def compute(self, xp: ArrayModule, value: Array) -> Any:
        windows = self.lay(value.shape)
        self.refuse_depth("Non-spatial pooling is not yet supported.")
        (x,) = self.last(xp, value)
        return self.native(xp, mean_windows(xp, x, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [self.same(AvgPoolGrad)(shape_ops.shape(op.inputs[0]), grad)]


def mean_windows(xp: ArrayModule, x: Any, windows: geometry.Windows) -> Any:
    """The means of the windows of [batch, *sizes, channels]."""
    found = kernels.on_card(xp, "mean", x, windows)
    if found is not None:
        return found
    wide = x if x.dtype.itemsize > 2 else x.astype("float32")
    total = kernels.reduce_windows(xp, xp.add, wide, windows)
    total /= kernels.counts(xp, x.shape[1:-1], windows, wide.dtype)
    return total.astype(x.dtype, copy=False)


def spread_means(
    xp: ArrayModule, sizes: tuple[int, ...], grad: Any, windows: geometry.Windows
) -> Any:
    """The gradient of `mean_windows`."""
    found = kernels.on_card(xp, "mean_gradient", sizes, grad, windows)
    if found is not None:
        return found
    wide = grad if grad.dtype.itemsize > 2 else grad.astype("float32")
    share = wide / kernels.counts(xp, sizes, windows, wide.dtype)
    return kernels.spread(xp, share, sizes, windows).astype(grad.dtype, copy=False)


class AvgPoolGrad(Pool):
    """The gradient, divided equally among the elements of each window.

    Source: core/ops/nn_ops.cc, AvgPoolGrad.
    """

    signature = "orig_input_shape: int32, grad: T -> output: T"
    T = FLOATS
    by_shape: ClassVar[tuple[str, ...]] = ("orig_input_shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("orig_input_shape",)

    def infer_shape(self, orig_input_shape: Shape, grad: Shape) -> Shape:
        shapes.with_rank(grad, self.rank)
        return shapes.with_rank(orig_input_shape, self.rank)

    def check_shapes(self, orig_input_shape: tuple[int, ...]) -> None:
        message = "out_backprop must be 1-dimensional and 4 elements"
        require(orig_input_shape == (4,), message)

    def compute(self, xp: ArrayModule, orig_input_shape: Array, grad: Array) -> Any:
        shape = tuple(map(int, orig_input_shape))
        windows = self.lay(shape)
        self.refuse_depth("Non-spatial pooling is not yet supported.")
        (last,) = self.last(xp, grad)
        channels = geometry.channel(shape, self.data_format)
        check_alike("grad", last.shape, (shape[0], *windows.out, channels))
        sizes = tuple(self.inner(shape))
        return self.native(xp, spread_means(xp, sizes, last, windows))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [array.stop_gradient(op.inputs[0]), self.same(AvgPool)(grad)]


# ---- functions


def _window_arguments(
    ksize: Any, strides: Any, data_format: str | None
) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    layout = "NHWC" if data_format is None else data_format
    return (
        geometry.sequence(ksize, 2, layout, "ksize"),
        geometry.sequence(strides, 2, layout, "strides"),
        layout,
    )


@export("nn.max_pool")
def max_pool(
    value: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The maximum of each window of an image.

    Args:
      value: Tensor [batch, height, width, channels] of floats or integers; [batch,
        channels, height, width] for "NCHW".
      ksize: the window's size: an int, or a list of 1, 2 or 4 ints.
      strides: the distances of the windows, in the same form as `ksize`.
      padding: "SAME" (windows may cross the edge) or "VALID" (only complete windows).
      data_format: "NHWC" or "NCHW".
      name: the op's name.
      input: alias of `value`.

    Returns:
      A Tensor [batch, rows, columns, channels] (or as "NCHW").

    Raises:
      ValueError: the rank does not match, or an argument is invalid.
      UnimplementedError: (when run) windows over the batch, or over both channels and
        pixels.

    Example:
      >>> tf.nn.max_pool(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2, 2, "SAME")
      # [[5., 7.], [13., 15.]] as [1, 2, 2, 1]

    Source: MaxPool in core/ops/nn_ops.cc.
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as scope:
        ksize, strides, layout = _window_arguments(ksize, strides, data_format)
        if 0 in ksize:
            raise ValueError("ksize cannot be zero.")
        return MaxPool(ksize, strides, padding, layout)(value, name=scope)


@export("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The mean of each window of an image, excluding padding.

    Args:
      value: float Tensor [batch, height, width, channels]; [batch, channels, height,
        width] for "NCHW".
      ksize, strides, padding, data_format, name, input: as for `tf.nn.max_pool`.

    Returns:
      A Tensor [batch, rows, columns, channels] (or as "NCHW").

    Raises:
      ValueError: the rank does not match, or an argument is invalid.
      UnimplementedError: (when run) windows over the batch or the channels.

    Example:
      >>> tf.nn.avg_pool(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2, 2, "SAME")
      # [[2.5, 4.5], [10.5, 12.5]] as [1, 2, 2, 1]

    Source: AvgPool in core/ops/nn_ops.cc.
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    with name_scope(name, "AvgPool", [value]) as scope:
        ksize, strides, layout = _window_arguments(ksize, strides, data_format)
        return AvgPool(ksize, strides, padding, layout)(value, name=scope)
