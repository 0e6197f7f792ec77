"""Fused batch normalization folded into the layers before it.

The weights are scaled as the normalization would scale the layer's output, so that
what is quantized is what an inference graph holds.

Source: contrib/quantize/python/fold_batch_norms.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tfteach.autodiff.gradient_registry import RegisterGradient
from tfteach.framework.dtypes import float32
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.quantize.corrections import (
    Statistics,
    copied_layer,
    copied_unbatched,
    corrections,
    reroute,
)
from tfteach.lib.contrib.quantize.layers import LAYERS, is_one_of
from tfteach.ops.array.space_to_batch import BatchToSpaceND
from tfteach.ops.core.identity_reshape import Identity, Reshape, reshape
from tfteach.ops.core.shape_ops import size
from tfteach.ops.linalg.matmul import MatMul
from tfteach.ops.math.binary import Sub, add, subtract
from tfteach.ops.math.cast import cast
from tfteach.ops.math.multiply import Mul, multiply
from tfteach.ops.math.unary import rsqrt
from tfteach.ops.nn.fused_batch_norm import FusedBatchNorm, FusedBatchNormV3
from tfteach.ops.windows.conv_2d import Conv2D
from tfteach.ops.windows.depthwise_conv import DepthwiseConv2dNative

_BATCH_NORMS = FusedBatchNorm, FusedBatchNormV3
_GRADIENT = "FoldFusedBatchNormGrad"


class _Norm(NamedTuple):
    """A batch normalization and the layer before it."""

    op: Operation
    layer: Operation
    output: Tensor
    mean: Tensor
    variance: Tensor
    unbatched: Operation | None  # puts the batches of a dilated convolution together
    # Of the updates of the moving averages: (average, 1 - decay).
    moving_mean: tuple[Tensor, Tensor] | None = None
    moving_variance: tuple[Tensor, Tensor] | None = None

    @property
    def is_training(self) -> bool:
        return bool(self.op.get_attr("is_training"))


@RegisterGradient(_GRADIENT)
def _gradient(op: Operation, _: Any, grad_mean: Any, grad_var: Any, *rest: Any) -> Any:
    """The gradient by the input, through the mean and the variance only."""
    x = op.inputs[0]
    count = cast(size(x) / size(grad_mean), float32)
    of_mean = grad_mean / count
    of_variance = 2 * grad_var * (x - op.outputs[1]) / (count - 1)
    return of_mean + of_variance, None, None, None, None


def fold_fused_batch_norms(graph: Graph, freeze_delay: int | None) -> None:
    """Fold each fused batch normalization of a graph, in place.

    Args:
      graph: the graph.
      freeze_delay: the number of runs after which moving averages replace the batches'
        statistics; None for never.
    """
    norms: dict[Operation, _Norm] = {}
    for op in graph.get_operations():
        for norm in _matched(graph, op):
            norms.setdefault(norm.layer, norm)
    for norm in norms.values():
        _fold(graph, norm, freeze_delay)


def _matched(graph: Graph, op: Operation) -> Iterator[_Norm]:
    """The normalization that an op is, or that it reshapes, after a layer."""
    is_reshaped = is_one_of(op, [Reshape]) and is_one_of(op.inputs[0].op, _BATCH_NORMS)
    norm = op.inputs[0].op if is_reshaped else op
    if not is_one_of(norm, _BATCH_NORMS):
        return
    layer, unbatched = _layer_before(norm.inputs[0].op)
    if layer is None:
        return
    if is_one_of(layer, [MatMul]) and not is_reshaped:
        return
    output = op.outputs[0] if is_one_of(layer, [MatMul]) else norm.outputs[0]
    if not output.consumers():
        return
    if not norm.get_attr("is_training"):
        yield _Norm(norm, layer, output, norm.inputs[3], norm.inputs[4], unbatched)
        return
    norm._set_attr("_gradient_op_type", _GRADIENT)
    mean = norm.outputs[1]
    scope, slash, _ = norm.name.rpartition("/")
    with graph.name_scope(scope + slash):
        count = cast(size(layer.outputs[0]) / size(mean), float32)
        variance = multiply(
            norm.outputs[2], (count - 1) / count, name="Undo_Bessel_Correction"
        )
    averages = _moving_averages(graph, norm)
    yield _Norm(norm, layer, output, mean, variance, unbatched, *averages)


def _layer_before(op: Operation) -> tuple[Operation | None, Operation | None]:
    """The layer whose output an op is, and the BatchToSpaceND between, if any."""
    if is_one_of(op, [Reshape]):
        op = op.inputs[0].op
    if is_one_of(op, [Identity]):
        op = op.inputs[0].op
    unbatched = op if is_one_of(op, [BatchToSpaceND]) else None
    if unbatched is not None:
        op = op.inputs[0].op
    return (op if is_one_of(op, LAYERS) else None), unbatched


def _moving_averages(graph: Graph, norm: Operation) -> list[Any]:
    """(average, 1 - decay) of the products that move the mean and the variance."""
    found: list[Any] = [None, None]
    for op in graph.get_operations():
        if is_one_of(op, [Mul]) and is_one_of(op.inputs[0].op, [Sub]):
            average, value = op.inputs[0].op.inputs
            for i in (0, 1):
                if value is norm.outputs[1 + i]:
                    found[i] = average, op.inputs[1]
    return found


def _fold(graph: Graph, norm: _Norm, freeze_delay: int | None) -> None:
    layer, (_, gamma, beta) = norm.layer, norm.op.inputs[:3]
    weights = layer.inputs[1]
    is_plain = is_one_of(layer, (Conv2D, MatMul))
    scope, slash, _ = layer.name.rpartition("/")
    scale: Any = None
    recip: Any = None
    offset: Any = None
    with graph.name_scope(scope + slash):
        with graph.name_scope(f"{scope}{slash}BatchNorm_Fold{slash}"):
            epsilon = norm.op.get_attr("epsilon")
            factor = gamma * rsqrt(norm.variance + epsilon)
            bias = subtract(beta, norm.mean * factor, name="bias")
            if norm.is_training:
                statistics = _statistics(norm)
                scale, recip, offset = corrections(graph, statistics, freeze_delay)
            if not is_plain:
                channels = weights.get_shape().as_list()[2:]
                factor = reshape(factor, channels, name="scale_reshape")
                if scale is not None:
                    scale = reshape(scale, channels, name="correction_reshape")
        if scale is not None:
            weights = multiply(scale, weights, name="correction_mult")
        weights = multiply(weights, factor, name="mul_fold")
        name = layer.name.rpartition("/")[2] + "_Fold"
        output = copied_layer(layer, weights, name)
        # TensorFlow forgets it after other layers: their outputs stay in pieces.
        if norm.unbatched is not None and is_one_of(layer, [DepthwiseConv2dNative]):
            output = copied_unbatched(norm.unbatched, output)
        if recip is not None:
            output = multiply(recip, output, name="post_conv_mul")
            output = add(output, offset, "correction_add")
        output = add(output, bias, name="add_fold")
        reroute(output, norm.output, norm.output.consumers())


def _statistics(norm: _Norm) -> Statistics:
    if norm.moving_mean is None or norm.moving_variance is None:
        raise ValueError(
            f"{norm.op.name!r} has no updates of its moving averages: build them "
            "before the graph is quantized."
        )
    (mean, mean_rate), (variance, variance_rate) = (
        norm.moving_mean,
        norm.moving_variance,
    )
    return Statistics(
        norm.op.get_attr("epsilon"), norm.op.inputs[1], norm.mean, norm.variance, mean,
        variance, mean_rate, variance_rate,
    )  # fmt: skip
