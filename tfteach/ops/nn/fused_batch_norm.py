"""Batch normalization in one op, and its gradient.

TF 1.15 supports "NCHW" on GPUs only; here every device does.

Source: core/ops/nn_ops.cc, core/kernels/fused_batch_norm_op.cc, python/ops/nn_grad.py;
Ioffe and Szegedy 2015.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.windows import conv_geometry as geometry

FLOAT = dtypes_of("float32")
SHORT_OR_FLOAT = dtypes_of("half bfloat16 float32")
# cuDNN accepts nothing smaller, so TF's function uses at least this.
LEAST_EPSILON = 1.001e-5


class _FusedBatchNorm(MultiOutputOp, abstract=True):
    epsilon: float = 0.0001
    data_format: str = "NHWC"
    is_training: bool = True

    def validate(self) -> None:
        formats = geometry.FORMATS
        check_choice(self.op_type, "data_format", self.data_format, formats)

    def _with_channels(self, x: Shape, *others: Shape) -> tuple[Any, int | None]:
        """`x` with rank 4 and the number of channels, merged from all vectors."""
        x = shapes.with_rank(x, 4)
        channels = geometry.channel(x, self.data_format)
        for other in others:
            channels = shapes.same_size(channels, shapes.with_rank(other, 1)[0])
        inner = geometry.spatial(x, self.data_format)
        return geometry.around(x[0], inner, channels, self.data_format), channels


class _Forward(_FusedBatchNorm, abstract=True):
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(
        self, x: Shape, scale: Shape, offset: Shape, mean: Shape, variance: Shape
    ) -> list[Shape]:
        moments = () if self.is_training else (mean, variance)
        whole, channels = self._with_channels(x, scale, offset, *moments)
        found: list[Shape] = [whole, *(((channels,),) * 4)]
        return found + [None] * (len(type(self).outputs) - 5)

    def check_shapes(
        self,
        x: tuple[int, ...],
        scale: tuple[int, ...],
        offset: tuple[int, ...],
        mean: tuple[int, ...],
        variance: tuple[int, ...],
    ) -> None:
        require(len(x) == 4, "input must be 4-dimensional%s", x)
        require_vector(scale, "scale must be 1-dimensional%s")
        require_vector(offset, "offset must be 1-dimensional%s")
        require_vector(mean, "estimated_mean must be 1-dimensional%s")
        require_vector(variance, "estimated_variance must be 1-dimensional%s")

    def compute(
        self,
        xp: ArrayModule,
        x: Array,
        scale: Array,
        offset: Array,
        mean: Array,
        variance: Array,
    ) -> tuple[Any, ...]:
        last = geometry.to_last(xp, x, self.data_format)
        rows = last.reshape(-1, last.shape[-1]).astype(scale.dtype, copy=False)
        self._check(rows.shape[1], scale, offset, mean, variance)
        if self.is_training:
            count = rows.shape[0]
            mean = total(xp, rows) / scale.dtype.type(count)
            centred = rows - mean
            own = total(xp, centred * centred) / scale.dtype.type(count)
            outer = own * scale.dtype.type(count / max(count - 1, 1))
            outputs = mean, outer, mean.copy(), own
            variance = own
        else:
            centred = rows - mean
            outputs = mean.copy(), variance.copy(), mean.copy(), variance.copy()
        epsilon = scale.dtype.type(self.epsilon)
        centred *= scale / xp.sqrt(variance + epsilon)
        centred += offset
        y = centred.astype(x.dtype, copy=False).reshape(last.shape)
        extra = (xp.zeros((), scale.dtype),) * (len(type(self).outputs) - 5)
        return geometry.from_last(xp, y, self.data_format), *outputs, *extra

    def _check(self, channels: int, scale: Any, offset: Any, *moments: Any) -> None:
        names = ("scale", scale), ("offset", offset)
        estimated = tuple(
            zip(("estimated_mean", "estimated_variance"), moments, strict=True)
        )
        for name, vector in names if self.is_training else names + estimated:
            if vector.shape != (channels,):
                raise invalid_argument(
                    f"{name} must have one number for each of the {channels} channels, "
                    f"got shape {shapes.text(vector.shape)}"
                )
        if self.is_training:
            for name, vector in estimated:
                if vector.size:
                    raise invalid_argument(
                        f"{name} must be empty for training{shapes.text(vector.shape)}"
                    )

    def gradient(self, op: Operation, grad: Tensor, *_: Any) -> list[Gradient]:
        kind = _GRADIENT_OF[type(self)]
        x, scale = op.inputs[:2]
        extra = op.outputs[5:]
        if self.is_training:
            reserved = op.outputs[3], op.outputs[4]
            found = kind(*self.attributes)(grad, x, scale, *reserved, *extra)
            return [*found]
        is_first = self.data_format == "NCHW"
        if is_first:
            x = transpose(x, [0, 2, 3, 1])
            grad = transpose(grad, [0, 2, 3, 1])
        rule = kind(self.epsilon, "NHWC", False)
        found = rule(grad, x, scale, *op.inputs[3:5], *extra)
        of_x, of_scale, of_offset = found[:3]
        if is_first:
            of_x = transpose(of_x, [0, 3, 1, 2])
        return [of_x, of_scale, of_offset, None, None]


def total(xp: ArrayModule, rows: Any) -> Any:
    """The sum of the rows, in two steps: a single long float32 sum loses accuracy."""
    step = 256
    whole = len(rows) // step * step
    found = rows[:whole].reshape(-1, step, rows.shape[1]).sum(axis=1).sum(axis=0)
    return found + rows[whole:].sum(axis=0)


class FusedBatchNorm(_Forward):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, channel by channel.

    In training the batch's moments are used; the second output is then the unbiased
    variance (divided by n - 1), the fifth the biased one (divided by n).

    Source: core/ops/nn_ops.cc, FusedBatchNorm.
    """

    signature = (
        "x: T, scale: T, offset: T, mean: T, variance: T -> y: T, batch_mean: T, "
        "batch_variance: T, reserve_space_1: T, reserve_space_2: T"
    )
    T = FLOAT


class FusedBatchNormV2(_Forward):
    """FusedBatchNorm for short floats too.  Source: core/ops/nn_ops.cc."""

    signature = (
        "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, "
        "batch_variance: U, reserve_space_1: U, reserve_space_2: U"
    )
    T = SHORT_OR_FLOAT
    U = FLOAT


class FusedBatchNormV3(_Forward):
    """FusedBatchNormV2 with an output for cuDNN's reserve space (here a zero).

    Source: core/ops/nn_ops.cc, FusedBatchNormV3.
    """

    signature = (
        "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, "
        "batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U"
    )
    T = SHORT_OR_FLOAT
    U = FLOAT


class Backward(_FusedBatchNorm, abstract=True):
    def infer_shape(
        self, y_backprop: Shape, x: Shape, scale: Shape, mean: Shape, variance: Shape,
        *_: Shape,
    ) -> list[Shape]:  # fmt: skip
        vectors = scale, mean, variance
        whole, channels = self._with_channels(y_backprop, *vectors)
        rest = 0 if self.is_training else channels
        return [whole, (channels,), (channels,), (rest,), (rest,)]

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        y_backprop, x, scale, mean, variance = shapes[:5]
        require(len(y_backprop) == 4, "input must be 4-dimensional%s", y_backprop)
        require(len(x) == 4, "input must be 4-dimensional%s", x)
        require_vector(scale, "scale must be 1-dimensional%s")
        require_vector(mean, "saved mean must be 1-dimensional%s")
        require_vector(variance, "saved variance must be 1-dimensional%s")
        message = "x and y_backprop must have the same shape, got %s and %s"
        require(x == y_backprop, message, x, y_backprop)
        channels = (x[1 if self.data_format == "NCHW" else 3],)
        message = (
            "scale, mean and variance must have one number per channel, "
            "got %s, %s and %s for input %s"
        )
        fits = scale == mean == variance == channels
        require(fits, message, scale, mean, variance, x)

    def compute(
        self, xp: ArrayModule, y_backprop: Array, x: Array, scale: Array, mean: Array,
        variance: Array,
        *_: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        last = geometry.to_last(xp, x, self.data_format)
        grads = geometry.to_last(xp, y_backprop, self.data_format)
        flat = -1, last.shape[-1]
        centred = last.reshape(flat).astype(scale.dtype, copy=False) - mean
        grads = grads.reshape(flat).astype(scale.dtype, copy=False)
        inverse = 1 / xp.sqrt(variance + scale.dtype.type(self.epsilon))
        of_offset = total(xp, grads)
        of_scale = total(xp, grads * centred) * inverse
        if self.is_training:
            count = scale.dtype.type(max(grads.shape[0], 1))
            centred *= -inverse * of_scale / count
            centred += grads
            centred -= of_offset / count
            centred *= scale * inverse
        else:
            centred = grads * (scale * inverse)
        of_x = centred.astype(x.dtype, copy=False).reshape(last.shape)
        rest = xp.zeros(0 if self.is_training else scale.shape, scale.dtype)
        of_x = geometry.from_last(xp, of_x, self.data_format)
        return of_x, of_scale, of_offset, rest, rest.copy()


class FusedBatchNormGrad(Backward):
    """FusedBatchNorm's gradients.  Source: core/ops/nn_ops.cc, FusedBatchNormGrad."""

    signature = (
        "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> "
        "x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, "
        "reserve_space_4: T"
    )
    T = FLOAT


class FusedBatchNormGradV2(Backward):
    """FusedBatchNormV2's gradients.  Source: core/ops/nn_ops.cc."""

    signature = (
        "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U "
        "-> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, "
        "reserve_space_4: U"
    )
    T = SHORT_OR_FLOAT
    U = FLOAT


class FusedBatchNormGradV3(Backward):
    """FusedBatchNormV3's gradients.  Source: core/ops/nn_ops.cc."""

    signature = (
        "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, "
        "reserve_space_3: U -> x_backprop: T, scale_backprop: U, offset_backprop: U, "
        "reserve_space_4: U, reserve_space_5: U"
    )
    T = SHORT_OR_FLOAT
    U = FLOAT


_GRADIENT_OF: dict[type[Op], type[Backward]] = {
    FusedBatchNorm: FusedBatchNormGrad,
    FusedBatchNormV2: FusedBatchNormGradV2,
    FusedBatchNormV3: FusedBatchNormGradV3,
}


@export("nn.fused_batch_norm")
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalization in one op.

    `(x - mean) / sqrt(variance + epsilon) * scale + offset`

    Args:
      x: Tensor [batch, height, width, channels] of float32 (half, bfloat16).
      scale, offset: float32 Tensors [channels].
      mean, variance: float32 Tensors [channels] if not training, else None.
      epsilon: values below 1.001e-5 are raised to it.
      data_format: "NHWC" or "NCHW".
      is_training: whether to normalize by the batch's moments.
      name: the op's name.

    Returns:
      The normalized Tensor, and the mean and variance for moving averages: the batch's
      (its variance divided by n - 1), or the given ones.

    Raises:
      ValueError: moments are given in training, or the sizes do not match.

    Example:
      >>> x = tf.constant([1.0, 3.0], shape=[2, 1, 1, 1])
      >>> y, mean, variance = tf.nn.fused_batch_norm(x, [1.0], [0.0])  # -1, 1; 2; 2

    Source: FusedBatchNormV3 in core/ops/nn_ops.cc.
    """
    x = convert(x, name="input")
    scale = convert(scale, name="scale")
    offset = convert(offset, name="offset")
    if is_training and not (mean is None and variance is None):
        raise ValueError(
            "Both 'mean' and 'variance' must be None if is_training is True."
        )
    mean = constant([], float32) if mean is None else mean
    variance = constant([], float32) if variance is None else variance
    op = FusedBatchNormV3(max(epsilon, LEAST_EPSILON), data_format, is_training)
    y, batch_mean, batch_variance, *_ = op(x, scale, offset, mean, variance, name=name)
    return y, batch_mean, batch_variance
