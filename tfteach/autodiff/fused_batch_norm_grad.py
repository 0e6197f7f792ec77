"""The gradient of batch normalization's gradient ops.

Source: python/ops/nn_grad.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.autodiff.gradient_tape import GradientTape
from tfteach.framework.dtypes import float16, float32
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.identity_reshape import reshape, stop_gradient
from tfteach.ops.core.shape_ops import size
from tfteach.ops.math.binary import squared_difference
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum
from tfteach.ops.math.unary import reciprocal, rsqrt
from tfteach.ops.nn.fused_batch_norm import (
    Backward,
    FusedBatchNormGrad,
    FusedBatchNormGradV2,
    FusedBatchNormGradV3,
)


@gradient_of(FusedBatchNormGrad, FusedBatchNormGradV2, FusedBatchNormGradV3)
def _second_gradient(
    op: Operation, of_x: Any, of_scale: Any, of_offset: Any, *_: Any
) -> list[Any]:
    watched = list(op.inputs[:3])
    spec = op.spec
    assert isinstance(spec, Backward)
    with GradientTape() as tape:
        tape.watch(watched)
        made = _plain_gradient(spec, *op.inputs[:5])
    found = tape.gradient(list(made), watched, [of_x, of_scale, of_offset])
    return [*found, *([None] * (len(op.inputs) - 3))]


def _plain_gradient(
    op: Backward, grad: Any, x: Any, scale: Any, mean: Any, variance: Any
) -> tuple[Any, Any, Any]:
    """The three gradients of batch normalization, composed of elementary ops."""
    kind = x.dtype.base_dtype
    if kind == float16:
        x, grad = cast(x, float32), cast(grad, float32)
    is_first = op.data_format == "NCHW"
    axes = [0, 2, 3] if is_first else [0, 1, 2]

    def wide(vector: Any) -> Tensor:
        return reshape(vector, [1, size(scale), 1, 1]) if is_first else vector

    of_offset = reduce_sum(grad, axes)
    if not op.is_training:
        inverse = rsqrt(wide(variance) + op.epsilon)
        of_scale = reduce_sum(grad * (x - wide(mean)) * inverse, axes)
        return cast(grad * wide(scale) * inverse, kind), of_scale, of_offset
    keep: dict[str, Any] = {"keepdims": True}
    mean = reduce_mean(x, axes, **keep)
    variance = reduce_mean(squared_difference(x, stop_gradient(mean)), axes, **keep)
    offset = x - mean
    inverse = rsqrt(variance + op.epsilon)
    slope = reduce_mean(grad * offset, axes, **keep)
    inner = grad - reduce_mean(grad, axes, **keep)
    inner -= reciprocal(variance + op.epsilon) * slope * offset
    of_scale = reshape(inverse * reduce_sum(grad * offset, axes, **keep), [-1])
    return cast(wide(scale) * inverse * inner, kind), of_scale, of_offset
