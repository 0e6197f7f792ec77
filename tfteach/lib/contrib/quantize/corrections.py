"""What the foldings of batch normalizations share: corrections and copies of layers.

Source: contrib/quantize/python/fold_batch_norms.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.layers.utils import smart_cond
from tfteach.lib.contrib.quantize.layers import is_one_of
from tfteach.lib.contrib.quantize.steps import quantization_step
from tfteach.ops.array.space_to_batch import batch_to_space_nd
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.linalg.matmul import MatMul, matmul
from tfteach.ops.math.compare import greater_equal
from tfteach.ops.math.division import divide
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.unary import reciprocal, rsqrt
from tfteach.ops.windows.conv_2d import Conv2D, conv2d
from tfteach.ops.windows.depthwise_conv import depthwise_conv2d


class Statistics(NamedTuple):
    """What a batch normalization computes with.

    Attributes:
      epsilon: a number or Tensor added to variances.
      gamma: the scale.
      mean, variance: of the batch.
      moving_mean, moving_variance: their averages over runs.
      mean_rate, variance_rate: 1 - decay, as the updates of the averages read it.
    """

    epsilon: Any
    gamma: Tensor
    mean: Tensor
    variance: Tensor
    moving_mean: Tensor
    moving_variance: Tensor
    mean_rate: Tensor
    variance_rate: Tensor


def reroute(new: Tensor, old: Tensor, consumers: list[Operation]) -> int:
    """Let ops read one tensor instead of another; returns the number of inputs."""
    uses = [(op, i) for op in consumers for i, t in enumerate(op.inputs) if t is old]
    for op, i in uses:
        op._update_input(i, new)
    return len(uses)


def corrections(
    graph: Graph, statistics: Statistics, freeze_delay: int | None, context: str = ""
) -> tuple[Tensor, Tensor, Tensor]:
    """What keeps weights scaled by moving averages equal to those of the batch.

    Args:
      graph: the graph.
      statistics: of the normalization.
      freeze_delay: the number of runs after which moving averages replace the batches'
        statistics; None for never.
      context: the name scope of the new ops, with its slash.

    Returns:
      Tensors: a factor for the weights, one for the output, and what is added to it.
    """
    its = statistics
    with graph.name_scope(f"{context}batch_norm_correction"):
        of_average = rsqrt(its.moving_variance + its.epsilon)
        of_batch = rsqrt(its.variance + its.epsilon)
        scale = divide(of_average, of_batch, name="scale_compute")
        scale = identity(scale, name="correction_scale")
        recip = reciprocal(scale, name="reciprocal_compute")
        change = its.mean * of_batch - its.moving_mean * of_average
        offset = multiply(its.gamma, change, name="offset_compute")
        is_frozen: Any = False
        if freeze_delay is not None:
            is_frozen = greater_equal(
                quantization_step(), freeze_delay, name="use_moving_average"
            )
        for rate, what in ((its.mean_rate, "mean"), (its.variance_rate, "var")):
            consumers = rate.consumers()
            now = smart_cond(
                is_frozen, lambda: 0.0, lambda r=rate: r, name=f"freeze_moving_{what}"
            )
            reroute(now, rate, consumers)
        recip_now, offset_now = recip, offset
        recip = smart_cond(
            is_frozen, lambda: ones(scale.shape), lambda: recip_now,
            name="correction_recip",
        )  # fmt: skip
        offset = smart_cond(
            is_frozen, lambda: offset_now, lambda: zeros(offset_now.shape),
            name="correction_offset",
        )  # fmt: skip
    return scale, recip, offset


def copied_layer(layer: Operation, weights: Tensor, name: str) -> Tensor:
    """The layer's output with other weights."""
    x = layer.inputs[0]
    if is_one_of(layer, [MatMul]):
        return matmul(
            x, weights, layer.get_attr("transpose_a"), layer.get_attr("transpose_b"),
            name=name,
        )  # fmt: skip
    strides, padding = layer.get_attr("strides"), layer.get_attr("padding")
    if is_one_of(layer, [Conv2D]):
        layout = layer.get_attr("data_format").decode()
        on_cudnn = layer.get_attr("use_cudnn_on_gpu")
        return conv2d(x, weights, strides, padding, on_cudnn, layout, name=name)
    return depthwise_conv2d(x, weights, strides, padding, name=name)


def copied_unbatched(unbatched: Operation, output: Tensor, name: str = "") -> Tensor:
    """Another output put together as a BatchToSpaceND does."""
    name = name or unbatched.name.rpartition("/")[2] + "_Fold"
    _, block, crops = unbatched.inputs
    return batch_to_space_nd(output, block, crops, name=name)
