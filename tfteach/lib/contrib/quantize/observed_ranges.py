"""Fake quantization by a range that is a variable, which a training graph updates.

Source: contrib/quantize/python/quant_ops.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.lib.training.moving_averages import assign_moving_average
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.reduce_functions import reduce_max, reduce_min
from tfteach.ops.quantization.fake_quant import fake_quant_with_min_max_vars
from tfteach.ops.state.ref_variables import assign
from tfteach.variables.base import VariableAggregation
from tfteach.variables.initializers import Constant
from tfteach.variables.scope.get_variable import get_variable, variable_scope

_EMA_DECAY = 0.999


class Settings(NamedTuple):
    """How a graph is quantized.

    Attributes:
      is_training: whether runs update the ranges.
      weight_bits, activation_bits: numbers of bits.
      symmetric: whether ranges are symmetric about 0.
      quant_delay: the number of runs before the first that quantizes.
      scope: the prefix of the ops to rewrite; "" for all.
    """

    is_training: bool
    weight_bits: int
    activation_bits: int
    symmetric: bool
    quant_delay: int | None
    scope: str


def quantized(
    tensor: Tensor,
    name: str,
    settings: Settings,
    bits: int,
    is_weight: bool,
    init_min: float = -6.0,
) -> Tensor:
    """A tensor rounded to the steps of a range, a pair of variables.

    A training graph sets the range to that of a weight; for activations it keeps a
    moving average.

    Args:
      tensor: a float32 Tensor.
      name: the variables' scope, made unique.
      settings: of the graph.
      bits: the number of bits.
      is_weight: whether `tensor` is a weight, whose range is also one step narrower.
      init_min: the first value of the range's lower end.
    """
    with variable_scope(None, name, [tensor]) as scope:
        scope.set_partitioner(None)
        low = _end("min", init_min)
        high = _end("max", 6.0)
        if settings.is_training:
            found = _range_of(tensor, bits, is_weight, settings.symmetric)
            if is_weight:
                low = assign(low, found[0], name="AssignMinLast")
                high = assign(high, found[1], name="AssignMaxLast")
            else:
                low, high = (
                    assign_moving_average(end, now, _EMA_DECAY, name=f"Assign{n}Ema")
                    for end, now, n in zip(
                        (low, high), found, ("Min", "Max"), strict=True
                    )
                )
        return fake_quant_with_min_max_vars(
            tensor, low, high, num_bits=bits, narrow_range=is_weight
        )


def _end(name: str, value: float) -> Any:
    """A new variable for an end of the range, in TensorFlow's collections: twice."""
    return get_variable(
        name,
        shape=[],
        initializer=Constant(value),
        collections=[GraphKeys.GLOBAL_VARIABLES] * 2,
        trainable=False,
        aggregation=VariableAggregation.MEAN,
    )


def _range_of(
    tensor: Tensor, bits: int, is_narrow: bool, is_symmetric: bool
) -> tuple[Tensor, Tensor]:
    """The range of the elements, widened until it contains 0 or is symmetric."""
    low = reduce_min(tensor, name="BatchMin")
    high = reduce_max(tensor, name="BatchMax")
    if not is_symmetric:
        return minimum(low, 0.0), maximum(high, 0.0)
    ratio = -1 if is_narrow else -((1 << bits) - 2) / (1 << bits)
    return minimum(low, high / ratio), maximum(high, low * ratio)
