"""Implementation of `batch_norm` for cases that `tf.layers` does not cover.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import float32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import add_to_collections, control_dependencies
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.utils import (
    constant_value,
    get_variable_collections,
    smart_cond,
)
from tfteach.lib.training.moving_averages import assign_moving_average
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.nn.batch_norm import batch_normalization
from tfteach.ops.nn.fused_batch_norm import fused_batch_norm
from tfteach.ops.nn.moments import moments, weighted_moments
from tfteach.variables.initializers import Ones, Zeros
from tfteach.variables.scope import get_variable_scope, variable_scope

_ZEROS, _ONES = Zeros(), Ones()
_DEFAULTS = {
    "beta": _ZEROS,
    "gamma": _ONES,
    "moving_mean": _ZEROS,
    "moving_variance": _ONES,
}


class Parameters(NamedTuple):
    """The arguments that concern variables."""

    center: bool
    scale: bool
    initializers: dict[str, Any]
    regularizers: dict[str, Any]
    collections: Any
    trainable: bool

    def for_layer(self) -> dict[str, Any]:
        """The same arguments under the names of `tf.layers`."""
        found = {
            f"{name}_initializer": self.initializers.get(name, default)
            for name, default in _DEFAULTS.items()
        }
        for name in ("beta", "gamma"):
            found[f"{name}_regularizer"] = self.regularizers.get(name)
        return {"center": self.center, "scale": self.scale, **found}

    def variable(self, name: str, size: Any, dtype: DTypeLike, **options: Any) -> Any:
        return model_variable(
            name,
            shape=size,
            dtype=dtype,
            initializer=self.initializers.get(name, _DEFAULTS[name]),
            collections=get_variable_collections(self.collections, name),
            **options,
        )

    def averages(self, size: Any, dtype: DTypeLike) -> list[Any]:
        """The moving mean and variance, which are never partitioned."""
        with variable_scope(get_variable_scope()) as scope:
            scope.set_partitioner(None)
            return [
                self.variable(name, size, dtype, trainable=False)
                for name in ("moving_mean", "moving_variance")
            ]


def _move(averages: Any, values: Any, decay: Any, zero_debias: bool) -> list[Any]:
    return [
        assign_moving_average(averages[0], values[0], decay, zero_debias=zero_debias),
        assign_moving_average(averages[1], values[1], decay, zero_debias=False),
    ]


def update_averages(
    average: Any, averages: Any, values: Any, results: Any, otherwise: Any
) -> Any:
    """Update the averages while training: immediately, or by ops in collections.

    Args:
      average: (decay, zero_debias, collections, is_training).
      averages, values: the two averages, and the batch's values for them.
      results: the values that wait for the updates if there are no collections;
        `otherwise` returns the same values when not training.

    Returns:
      `results`; they depend on the updates if there are no collections.
    """
    decay, zero_debias, collections, is_training = average
    if collections is None:

        def updated() -> Any:
            with control_dependencies(_move(averages, values, decay, zero_debias)):
                found = [identity(result) for result in results]
                return found[0] if len(found) == 1 else tuple(found)

        return smart_cond(is_training, updated, otherwise)
    updates = smart_cond(
        is_training,
        lambda: tuple(_move(averages, values, decay, zero_debias)),
        lambda: tuple(averages),
    )
    for update in updates:
        add_to_collections(collections, update)
    return results[0] if len(results) == 1 else tuple(results)


def fused(
    inputs: Any, parameters: Parameters, average: Any, epsilon: float, layout: str
) -> Any:
    """FusedBatchNorm of inputs of rank 2 or 4."""
    inputs = convert(inputs)
    original = inputs
    if inputs.shape.ndims == 2:
        channels = dimension_value(inputs.shape[-1])
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        sizes = [-1, 1, 1, channels] if layout == "NHWC" else [-1, channels, 1, 1]
        inputs = reshape(inputs, sizes)
    size = inputs.shape[-1:] if layout == "NHWC" else inputs.shape[1:2]
    if not size.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {size}.")

    def affine(name: str, is_wanted: bool, fixed: float) -> Any:
        if not is_wanted:
            return constant(fixed, dtype=float32, shape=size)
        return parameters.variable(
            name,
            size,
            float32,
            regularizer=parameters.regularizers.get(name),
            trainable=parameters.trainable,
        )

    beta = affine("beta", parameters.center, 0.0)
    gamma = affine("gamma", parameters.scale, 1.0)
    averages = parameters.averages(size, float32)
    normalize = fused_batch_norm
    is_training = average[-1]
    outputs, mean, variance = smart_cond(
        is_training,
        lambda: normalize(inputs, gamma, beta, epsilon=epsilon, data_format=layout),
        lambda: normalize(
            inputs,
            gamma,
            beta,
            mean=averages[0],
            variance=averages[1],
            epsilon=epsilon,
            is_training=False,
            data_format=layout,
        ),
    )
    known = constant_value(is_training)
    if known is None or known:
        before = outputs
        outputs = update_averages(
            average, averages, (mean, variance), (outputs,), lambda: before
        )
    outputs.set_shape(inputs.shape)
    if original.shape.ndims == 2:
        outputs = reshape(outputs, shape(original))
    return outputs


def plain(
    inputs: Any,
    parameters: Parameters,
    average: Any,
    epsilon: float,
    layout: str,
    batch_weights: Any,
) -> Tensor:
    """Moments and `tf.nn.batch_normalization`, for inputs of any rank."""
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if batch_weights is not None:
        batch_weights = convert(batch_weights)
        inputs.shape[0:1].assert_is_compatible_with(batch_weights.shape)
        batch_weights = reshape(batch_weights, [-1] + [1] * (rank - 1))
    is_first = layout == "NCHW"
    size = inputs.shape[1:2] if is_first else inputs.shape[-1:]
    if not size.is_fully_defined():
        raise ValueError(
            f"Inputs {inputs.name} has undefined channels dimension {size}."
        )
    dtype = inputs.dtype.base_dtype
    made = [
        parameters.variable(name, size, dtype, trainable=parameters.trainable)
        if is_wanted
        else None
        for name, is_wanted in (
            ("beta", parameters.center),
            ("gamma", parameters.scale),
        )
    ]
    averages = parameters.averages(size, dtype)
    mean, variance = averages
    known = constant_value(average[-1])
    if known is None or known:
        mean, variance = _moments(inputs, is_first, batch_weights)
        mean, variance = _recorded(average, averages, mean, variance)
    if is_first:
        wide = [1, dimension_value(size[0])] + [1] * (rank - 2)
        mean, variance = reshape(mean, wide), reshape(variance, wide)
        made = [None if v is None else reshape(v, wide) for v in made]
    normalize = batch_normalization
    outputs = normalize(inputs, mean, variance, made[0], made[1], epsilon)
    outputs.set_shape(TensorShape(inputs.shape))
    return outputs


def _moments(inputs: Any, is_first: bool, weights: Any) -> Any:
    rank = inputs.shape.ndims
    axes = [0, *range(2, rank)] if is_first else list(range(rank - 1))
    if weights is None:
        options: dict[str, Any] = {"keep_dims": True} if is_first else {}
        found = moments(inputs, axes, **options)
    else:
        options = {"keepdims": True} if is_first else {}
        found = weighted_moments(inputs, axes, weights, **options)
    return tuple(reshape(m, [-1]) for m in found) if is_first else found


def _recorded(average: Any, averages: Any, mean: Any, variance: Any) -> Any:
    """The batch's moments while training, otherwise the averages; with the updates."""
    values = (mean, variance)
    found = update_averages(average, averages, values, values, lambda: tuple(averages))
    if average[2] is None:
        return found
    return smart_cond(average[-1], lambda: values, lambda: tuple(averages))
