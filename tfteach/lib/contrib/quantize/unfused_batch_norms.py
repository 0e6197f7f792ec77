"""Batch normalization by several ops folded into the layers before it.

The ops are found by the names that `tf.contrib.layers.batch_norm(fused=False)` gives
them, as in TensorFlow: `.../BatchNorm/batchnorm_1/mul_1` and others.

Source: contrib/quantize/python/fold_batch_norms.py, common.py.
"""

from __future__ import annotations

import re

from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.quantize.corrections import (
    Statistics,
    copied_layer,
    copied_unbatched,
    corrections,
    reroute,
)
from tfteach.lib.contrib.quantize.layers import LAYERS, SKIPPED, is_one_of
from tfteach.ops.array.space_to_batch import BatchToSpaceND
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.linalg.matmul import MatMul
from tfteach.ops.math.binary import add
from tfteach.ops.math.multiply import Mul, multiply
from tfteach.ops.windows.depthwise_conv import DepthwiseConv2dNative
from tfteach.variables.scope.get_variable import get_variable_scope

_NORM = re.compile(r"^(.*)BatchNorm/batchnorm")
_ACTIVATIONS = "Relu6", "Relu", "Identity"
_RESOURCE = "/Read/ReadVariableOp"


def fold_unfused_batch_norms(
    graph: Graph, is_training: bool, freeze_delay: int | None
) -> None:
    """Fold each batch normalization by several ops, in place.

    Args:
      graph: the graph.
      is_training: whether statistics are those of batches.
      freeze_delay: the number of runs after which moving averages replace the batches'
        statistics; None for never.

    Raises:
      KeyError: an op is not found by its name.
      ValueError: a layer is of another type, or the normalization's output is read by
        neither an activation nor an addition with the expected name.
    """
    found = (_NORM.search(op.name) for op in graph.get_operations())
    contexts = dict.fromkeys(match.group(1) for match in found if match)
    contexts = {c: None for c in contexts if not c.startswith(SKIPPED)}
    # Whether each has a gamma is seen before any of them is folded.
    scaled = {context: _has_scaling(graph, context) for context in contexts}
    for context, has_scaling in scaled.items():
        shift = graph.get_operation_by_name(f"{context}BatchNorm/batchnorm_1/add_1")
        if shift.outputs[0].consumers():
            folded = _fold(graph, context, has_scaling, is_training, freeze_delay)
            consumer = _consumer(graph, context)
            if reroute(folded, shift.outputs[0], [consumer]) != 1:
                raise ValueError(f"Unexpected inputs to op: {consumer.name}")


def _has_scaling(graph: Graph, context: str) -> bool:
    """Whether 1 / sigma is multiplied by a gamma, before anything else."""
    rsqrt = graph.get_operation_by_name(f"{context}BatchNorm/batchnorm_1/Rsqrt")
    consumers = dict.fromkeys(rsqrt.outputs[0].consumers())
    products = [
        op
        for op in consumers
        if is_one_of(op, [Mul]) and not op.name.startswith(SKIPPED)
    ]
    return len(products) == 1


def _consumer(graph: Graph, context: str) -> Operation:
    """What reads the normalization: an activation, or an addition outside its scope."""
    for name in _ACTIVATIONS:
        try:
            return graph.get_operation_by_name(context + name)
        except KeyError:
            continue
    outer = context.rstrip("/").rpartition("/")[0]
    return graph.get_operation_by_name(f"{outer}/AddV2" if outer else "AddV2")


def _fold(
    graph: Graph,
    context: str,
    has_scaling: bool,
    is_training: bool,
    freeze_delay: int | None,
) -> Tensor:
    """The normalized output of a layer with folded weights."""
    inner = f"{context}BatchNorm/batchnorm_1/"
    product = graph.get_operation_by_name(inner + ("mul_1" if has_scaling else "mul"))
    layer, unbatched = product.inputs[0].op, None
    if is_one_of(layer, [BatchToSpaceND]):
        layer, unbatched = layer.inputs[0].op, layer
    weights, factor = layer.inputs[1], product.inputs[1]
    # Without scaling, TensorFlow makes this even where nothing reads it.
    statistics = _statistics(graph, context, has_scaling)
    corrected = None
    if is_training:
        if any(each is None for each in statistics):
            raise ValueError(
                f"None values not supported. {product.name!r} has no statistics of a "
                "batch: build the graph with is_training=True, or rewrite it with "
                "create_eval_graph."
            )
        corrected = corrections(graph, statistics, freeze_delay, context)
    if not is_one_of(layer, LAYERS):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    scale = None if corrected is None else corrected[0]
    if is_one_of(layer, [DepthwiseConv2dNative]):
        channels = weights.get_shape().as_list()[2:]
        factor = graph.get_operation_by_name(
            inner + ("mul" if has_scaling else "Rsqrt")
        ).outputs[0]
        factor = reshape(factor, channels, f"{context}scale_reshape")
        if scale is not None:
            scale = reshape(scale, channels, f"{context}correction_reshape")
    if scale is not None:
        with graph.device(product.device):
            weights = multiply(scale, weights, f"{context}correction_mult")
    folded = multiply(weights, factor, name=f"{context}mul_fold")
    _check_shape("mul_fold", weights, folded)
    _check_layer(layer, folded)
    output = copied_layer(layer, folded, f"{layer.name}_Fold")
    device = output.device
    if unbatched is not None:
        output = copied_unbatched(unbatched, output, f"{unbatched.name}_Fold")
    if corrected is not None:
        with graph.device(device):
            output = multiply(corrected[1], output, f"{context}post_conv_mul")
            output = add(output, corrected[2], f"{context}correction_add")
    shift = graph.get_operation_by_name(f"{inner}add_1")
    found = add(output, shift.inputs[1], name=f"{context}add_fold")
    _check_shape("add_fold", output, found)
    return found


def _statistics(graph: Graph, context: str, has_scaling: bool) -> Statistics:
    is_resource = get_variable_scope().use_resource
    read = _RESOURCE if is_resource else "/read"

    def find(name: str) -> Tensor:
        return _best(graph, f"BatchNorm/{name}", context)

    mean = find("moments/Squeeze")
    variance = find("moments/Squeeze_1")
    moving_mean = find(f"moving_mean{read}")
    moving_variance = find(f"moving_variance{read}")
    epsilon = find("batchnorm_1/add/y")
    mean_rate = find("AssignMovingAvg/decay")
    variance_rate = find("AssignMovingAvg_1/decay")
    if has_scaling:
        gamma = find(f"gamma{_RESOURCE if is_resource else ''}")
    else:
        gamma = ones(moving_mean.shape)
    return Statistics(
        epsilon, gamma, mean, variance, moving_mean, moving_variance, mean_rate,
        variance_rate,
    )  # fmt: skip


def _best(graph: Graph, suffix: str, context: str) -> Tensor:
    """The output of the op with this end of its name, nearest to a scope.

    Variables of an op in scope `net/net/layer/` may be in scope `net/layer/`.
    """
    parts = set(context.split("/"))
    found: dict[Operation, int] = {}
    for op in graph.get_operations():
        if op.name.endswith(suffix):
            common = len(parts.intersection(op.name.split("/")))
            if common or not context:
                found[op] = common
    if not found:
        return None  # type: ignore[return-value]  # evaluation needs few of them
    return max(found, key=lambda op: found[op]).outputs[0]


def _check_shape(name: str, before: Tensor, after: Tensor) -> None:
    if not before.shape.is_compatible_with(after.shape):
        raise ValueError(
            f"{name} should not change tensor shape: input {before.shape}, output "
            f"{after.shape}"
        )


def _check_layer(layer: Operation, weights: Tensor) -> None:
    x, w = layer.inputs[0].shape, weights.shape
    rank, a, b = (2, 1, 0) if is_one_of(layer, [MatMul]) else (4, 3, 2)
    if x.ndims != rank or w.ndims != rank or x[a] != w[b]:
        raise ValueError(f"Incompatible shapes for op {layer.name} inputs: {x} and {w}")
