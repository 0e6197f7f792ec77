"""Normalization within each example: instance and group norm.

Source: contrib/layers/python/layers/normalization.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import CollectionNames, DTypeLike, TensorLike
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.shared import check_format, finished
from tfteach.lib.contrib.layers.utils import get_variable_collections, public
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.unary import rsqrt
from tfteach.ops.nn.batch_norm import batch_normalization
from tfteach.ops.nn.moments import moments, normalize_moments, sufficient_statistics
from tfteach.variables.initializers import Ones, Zeros
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


def _affine(
    wanted: dict[str, bool], size: Any, wide: Any, dtype: DTypeLike, initializers: Any,
    collections: CollectionNames | None, trainable: bool,
) -> list[Any]:  # fmt: skip
    """beta and gamma, reshaped to broadcast; None if they are not used."""
    found = []
    for name, default in (("beta", Zeros()), ("gamma", Ones())):
        variable: Any = None
        if wanted[name]:
            variable = model_variable(
                name,
                shape=size,
                dtype=dtype,
                initializer=(initializers or {}).get(name, default),
                collections=get_variable_collections(collections, name),
                trainable=trainable,
            )
            if wide:
                variable = reshape(variable, wide)
        found.append(variable)
    return found


@public("instance_norm")
@add_arg_scope
def instance_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Tensor] | None = None,
    param_initializers: Any = None,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: VariableScope | str | None = None,
) -> Tensor:
    """Each channel of each example normalized to mean `beta` and deviation `gamma`.

    Args:
      inputs: float Tensor [batch, ..., channels] of known rank and channels.
      data_format: "NHWC" or "NCHW".
      others: see `tf.contrib.layers.batch_norm`.

    Returns:
      A Tensor like `inputs`.

    Raises:
      ValueError: rank, channels or format are not supported.

    Paper: Ulyanov et al., "Instance normalization" (2016).
    """
    inputs = convert(inputs)
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    check_format(data_format, "NCHW", "NHWC")
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        axis = 1 if data_format == "NCHW" else rank - 1
        size = inputs.shape[axis : axis + 1]
        if not size.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name} has undefined channels dimension {size}."
            )
        is_wide = axis == 1 != rank - 1
        wide = [1, size.num_elements()] + [1] * (rank - 2) if is_wide else None
        beta, gamma = _affine(
            {"beta": center, "gamma": scale}, size, wide, inputs.dtype.base_dtype,
            param_initializers, variables_collections, trainable,
        )  # fmt: skip
        axes = [i for i in range(1, rank) if i != axis]
        mean, variance = moments(inputs, axes, keep_dims=True)
        outputs = batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        return finished(outputs, opened.name, outputs_collections, activation_fn)


@public("group_norm")
@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Any = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Tensor] | None = None,
    param_initializers: Any = None,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: VariableScope | str | None = None,
    mean_close_to_zero: bool = False,
) -> Tensor:
    """Each group of channels of each example normalized to mean 0 and variance 1.

    Args:
      inputs: float Tensor of known rank, channels and sizes of `reduction_axes`.
      groups: the number of groups, which must divide the number of channels.
      channels_axis: the channels' axis.
      reduction_axes: the axes normalized together with a group's channels.
      mean_close_to_zero: whether to compute the moments from sums of squares.
      others: see `tf.contrib.layers.batch_norm`.

    Returns:
      A Tensor like `inputs`.

    Raises:
      ValueError: sizes are unknown, or groups and axes are inconsistent.

    Paper: Wu and He, "Group normalization" (2018).
    """
    inputs = convert(inputs)
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    whole = shape(inputs)
    sizes = [whole[i] if n is None else n for i, n in enumerate(inputs.shape.as_list())]
    channels_axis = channels_axis % rank
    channels = dimension_value(inputs.shape[channels_axis])
    axes = [axis + rank if axis < 0 else axis for axis in reduction_axes]
    _check_groups(inputs, groups, channels_axis, axes)
    assert channels is not None
    parts = [groups, channels // groups]
    before, after = sizes[:channels_axis], sizes[channels_axis + 1 :]
    wide = [1] * len(before) + parts + [1] * len(after)
    inputs = reshape(inputs, before + parts + after)
    axes = [channels_axis + 1, *(a + 1 if a > channels_axis else a for a in axes)]
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as opened:
        beta, gamma = _affine(
            {"beta": center, "gamma": scale}, [channels], wide, inputs.dtype.base_dtype,
            param_initializers, variables_collections, trainable,
        )  # fmt: skip
        if mean_close_to_zero:
            statistics = sufficient_statistics
            count, sums, squares, _ = statistics(inputs, axes, keep_dims=True)
            normalize = normalize_moments
            mean, variance = normalize(count, sums, squares, shift=None)
        else:
            mean, variance = moments(inputs, axes, keep_dims=True)
        gain = rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = reshape(inputs * gain + offset, sizes)
        return finished(outputs, opened.name, outputs_collections, activation_fn)


def _check_groups(
    inputs: Tensor, groups: int, channels_axis: int, axes: list[int]
) -> None:
    channels = dimension_value(inputs.shape[channels_axis])
    if channels is None:
        raise ValueError(
            f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}."
        )
    for axis in axes:
        if axis >= len(inputs.shape):
            raise ValueError("Axis is out of bounds.")
        if dimension_value(inputs.shape[axis]) is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
        if axis == channels_axis:
            raise ValueError(
                "reduction_axis must be mutually exclusive with channels_axis"
            )
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(
            f"{channels} channels is not commensurate with {groups} groups."
        )
