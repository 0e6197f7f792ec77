"""Batch renormalization: corrections of a batch's moments by their moving averages.

Paper: Ioffe, "Batch renormalization" (2017).
Source: python/keras/layers/normalization.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.scope import (
    colocate_with,
    control_dependencies,
    name_scope,
)
from tfteach.lib.layers.core import branch_on
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.unary import sqrt
from tfteach.ops.state.ref_variables import assign_sub


def checked_clipping(given: dict[str, Any]) -> dict[str, Any]:
    """The limits of r and d; raises ValueError for unknown keys."""
    keys = ["rmax", "rmin", "dmax"]
    if set(given) - set(keys):
        raise ValueError(f"renorm_clipping {given} contains keys not in {keys}")
    return given


def corrections(
    mean: Any,
    deviation: Any,
    averages: tuple[Any, Any],
    epsilon: float,
    clipping: dict[str, Any],
    training: Any,
) -> tuple[Any, Any, Any, Any]:
    """The corrections r = deviation / average and d = (mean - average) / deviation's.

    Args:
      mean, deviation: the batch's.
      averages: the variables of their moving averages.
      epsilon: the square of the smallest deviation that is divided by.
      clipping: the limits of r ("rmin", "rmax") and of |d| ("dmax").
      training: a bool or bool scalar Tensor; without it r = 1 and d = 0.

    Returns:
      r, d, and the mean and the deviation once both have been computed.
    """
    mean_average, deviation_average = averages
    expected = maximum(deviation_average, sqrt(epsilon))
    r = deviation / expected
    d = (mean - mean_average) / expected
    with control_dependencies([r, d]):  # these use the averages so far
        mean, deviation = identity(mean), identity(deviation)
    lowest, highest, most = (clipping.get(key) for key in ("rmin", "rmax", "dmax"))
    if lowest is not None:
        r = maximum(r, lowest)
    if highest is not None:
        r = minimum(r, highest)
    if most is not None:
        d = minimum(maximum(d, -most), most)
    unclipped = r, d
    r = branch_on(training, lambda: unclipped[0], lambda: ones_like(unclipped[0]))
    d = branch_on(training, lambda: unclipped[1], lambda: zeros_like(unclipped[1]))
    return r, d, mean, deviation


def update_renorm_averages(
    averages: tuple[Any, Any], values: tuple[Any, Any], momentum: Any, training: Any
) -> list[Any]:
    """The updates of the moving averages of mean and deviation, while training."""
    updates = []
    for average, value in zip(averages, values, strict=True):
        value = identity(value)
        update = branch_on(
            training,
            lambda a=average, v=value: moved(a, v, momentum),
            lambda a=average: identity(a),
        )
        updates.append(update)
    return updates


def moved(average: Any, value: Any, momentum: Any) -> Any:
    """`average -= (average - value) * (1 - momentum)`"""
    with name_scope("AssignMovingAvg") as scope, colocate_with(average):
        decay = convert(1.0 - momentum, name="decay")
        dtype = average.dtype.base_dtype
        if decay.dtype != dtype:
            decay = cast(decay, dtype)
        delta = (average - cast(value, dtype)) * decay
        return assign_sub(average, delta, name=scope)
