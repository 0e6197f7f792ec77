"""Batch and layer normalization, and a layer that only adds biases.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import float16
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import (
    CollectionNames,
    Initializer,
    Regularizer,
    TensorLike,
)
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.batch import Parameters, plain
from tfteach.lib.contrib.layers.batch import fused as normalize_fused
from tfteach.lib.contrib.layers.dense import ZEROS
from tfteach.lib.contrib.layers.shared import (
    check_format,
    collect,
    finished,
    model_getter,
)
from tfteach.lib.contrib.layers.utils import get_variable_collections, public
from tfteach.lib.layers.normalization import BatchNormalization
from tfteach.ops.nn.batch_norm import batch_normalization
from tfteach.ops.nn.bias_add import bias_add as bias_add_op
from tfteach.ops.nn.moments import moments
from tfteach.variables.initializers import Ones
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope

_ONES = Ones()


@public("batch_norm")
@add_arg_scope
def batch_norm(
    inputs: TensorLike,
    decay: TensorLike = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[[Any], Tensor] | None = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: CollectionNames | None = GraphKeys.UPDATE_OPS,
    is_training: TensorLike = True,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    batch_weights: TensorLike | None = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: VariableScope | str | None = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: Any = 0.99,
    adjustment: Any = None,
) -> Tensor:
    """Inputs normalized to mean `beta` and deviation `gamma`, per channel.

    While training the batch's moments are used, otherwise their moving averages.  The
    averages change when the ops in `updates_collections` run, or in each training run
    if that is None.

    Args:
      inputs: float Tensor of known rank and channels.
      decay: the weight of the old averages in an update.
      center, scale: whether to use `beta` and `gamma`.
      epsilon: added to the variance.
      activation_fn: a function of the outputs.
      param_initializers: a dict with "beta", "gamma", "moving_mean" and
        "moving_variance".
      param_regularizers: a dict with "beta" and "gamma".
      updates_collections: collections of the updates; None: the outputs wait for them.
      is_training: a bool or bool scalar Tensor.
      reuse: whether to reuse the variables of `scope`.
      variables_collections: further collections: a list, or a dict by variable.
      outputs_collections: collections for the output.
      trainable: whether optimizers change gamma and beta.
      batch_weights: Tensor [batch], the weight of each example in the moments.
      fused: False: several ops instead of FusedBatchNorm.
      data_format: "NHWC" or "NCHW".
      zero_debias_moving_mean: whether to correct the mean for its start at zero.
      scope: the variable scope; "BatchNorm" if None.
      renorm, renorm_clipping, renorm_decay, adjustment: as renorm, renorm_clipping,
        renorm_momentum and adjustment in `tf.layers.batch_normalization`.

    Returns:
      A Tensor like `inputs`.

    Raises:
      ValueError: rank, channels or format are not supported, or `renorm` or
        `adjustment` is combined with `batch_weights`, `updates_collections` or
        `zero_debias_moving_mean`.

    Paper: Ioffe and Szegedy, "Batch normalization" (2015).
    """
    inputs = convert(inputs)
    is_default = updates_collections == GraphKeys.UPDATE_OPS
    is_simple = is_default and not zero_debias_moving_mean and batch_weights is None
    fused = fused is None or fused
    rank = inputs.shape.ndims
    parameters = Parameters(
        center, scale, param_initializers or {}, param_regularizers or {},
        variables_collections, trainable,
    )  # fmt: skip
    average = (decay, zero_debias_moving_mean, updates_collections, is_training)
    can_fuse = fused and batch_weights is None and not renorm and adjustment is None
    if can_fuse and (rank == 2 or (rank == 4 and not is_simple)):
        return _fused_in_scope(
            inputs, parameters, average, epsilon, data_format, reuse, scope,
            outputs_collections, activation_fn,
        )  # fmt: skip
    check_format(data_format, "NCHW", "NHWC")
    with variable_scope(
        scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=model_getter()
    ) as opened:
        inputs = convert(inputs)
        if is_simple:
            layer = BatchNormalization(
                axis=1 if data_format == "NCHW" else -1,
                momentum=decay,
                epsilon=epsilon,
                trainable=trainable,
                name=opened.name,
                _scope=opened,
                _reuse=reuse,
                fused=fused,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                **parameters.for_layer(),
            )
            outputs = layer.apply(inputs, training=is_training)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                variable = getattr(layer, name)
                if variable is not None:
                    collect(variable, variables_collections, name)
        else:
            if renorm:
                raise ValueError(
                    "renorm is not supported with batch_weights, updates_collections "
                    "or zero_debias_moving_mean"
                )
            if adjustment is not None:
                raise NotImplementedError(
                    "batch_norm: TensorFlow ignores `adjustment` with batch_weights, "
                    "updates_collections or zero_debias_moving_mean; omit one"
                )
            outputs = plain(
                inputs, parameters, average, epsilon, data_format, batch_weights
            )
        return finished(outputs, opened.name, outputs_collections, activation_fn)


def _fused_in_scope(
    inputs: Any,
    parameters: Parameters,
    average: Any,
    epsilon: float,
    data_format: str,
    reuse: Any,
    scope: Any,
    outputs_collections: CollectionNames | None,
    activation_fn: Callable[[Any], Tensor] | None,
) -> Tensor:
    check_format(data_format, "NCHW", "NHWC")
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as opened:
        outputs = normalize_fused(inputs, parameters, average, epsilon, data_format)
        return finished(outputs, opened.name, outputs_collections, activation_fn)


@public("layer_norm")
@add_arg_scope
def layer_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[[Any], Tensor] | None = None,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """Each example normalized to mean 0 and variance 1, times `gamma`, plus `beta`.

    Args:
      inputs: float Tensor [batch, ...] of known rank.
      center, scale: whether to use `beta` and `gamma`.
      activation_fn: a function of the outputs.
      reuse, variables_collections, outputs_collections, trainable: see
        `tf.contrib.layers.fully_connected`.
      begin_norm_axis: the first axis to normalize over.
      begin_params_axis: the first axis of `gamma` and `beta`.
      scope: the variable scope; "LayerNorm" if None.

    Returns:
      A Tensor like `inputs`.

    Raises:
      ValueError: rank or sizes are unknown, or an axis is out of range.

    Paper: Ba et al., "Layer normalization" (2016).
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = convert(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis "
                f"({begin_norm_axis}) must be < rank(inputs) ({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not "
                f"fully defined: {inputs.shape}"
            )
        dtype = inputs.dtype.base_dtype
        made: dict[str, Any] = {"beta": None, "gamma": None}
        for name, is_wanted, initializer in (
            ("beta", center, ZEROS),
            ("gamma", scale, _ONES),
        ):
            if is_wanted:
                made[name] = model_variable(
                    name,
                    shape=shape,
                    dtype=dtype,
                    initializer=initializer,
                    collections=get_variable_collections(variables_collections, name),
                    trainable=trainable,
                )
        axes = list(range(begin_norm_axis, rank))
        mean, variance = moments(inputs, axes, keep_dims=True)
        outputs = batch_normalization(
            inputs,
            mean,
            variance,
            offset=made["beta"],
            scale=made["gamma"],
            variance_epsilon=1e-3 if dtype == float16 else 1e-12,
        )
        outputs.set_shape(inputs.shape)
        return finished(outputs, opened.name, outputs_collections, activation_fn)


@public("bias_add")
@add_arg_scope
def bias_add(
    inputs: TensorLike,
    activation_fn: Callable[[Any], Tensor] | None = None,
    initializer: Initializer | None = ZEROS,
    regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: VariableScope | str | None = None,
) -> Tensor:
    """`activation_fn(inputs + biases)`, one bias per channel.

    For the arguments see `tf.contrib.layers.fully_connected`.

    Raises:
      ValueError: rank, channels or format are not supported.
    """
    check_format(data_format, "NCHW", "NHWC")
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = convert(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        size = dimension_value(inputs.shape[1 if data_format == "NCHW" else -1])
        if size is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases",
            shape=[size],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = bias_add_op(inputs, biases, data_format=data_format)
        return finished(outputs, opened.name, outputs_collections, activation_fn)
