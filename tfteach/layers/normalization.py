"""Batch normalization, with its moving averages.

Source: python/layers/normalization.py, python/keras/layers/normalization.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import smart_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, bfloat16, float16, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.framework.shape import TensorShape
from tfteach.initializers import Ones, Zeros
from tfteach.layers import lookups
from tfteach.layers.base import Layer, training_value
from tfteach.layers.core import branch_on
from tfteach.layers.specs import InputSpec
from tfteach.layers.windowed import given
from tfteach.ops.array import reshape
from tfteach.ops.batch_norm import batch_normalization as batch_normalization_op
from tfteach.ops.cast import cast
from tfteach.ops.constant import constant
from tfteach.ops.fused_batch_norm import fused_batch_norm
from tfteach.ops.nn import moments
from tfteach.ops.state import assign_sub
from tfteach.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)

_ZEROS, _ONES = Zeros(), Ones()


@export("layers.BatchNormalization")
class BatchNormalization(Layer):
    """Inputs of mean 0 and variance 1; see `tf.layers.batch_normalization`.

    Attributes:
      gamma, beta: Variables, the outputs' deviation and mean; or None.
      moving_mean, moving_variance: Variables that `updates` change, not the optimizer.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: Any = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = _ZEROS,
        gamma_initializer: Any = _ONES,
        moving_mean_initializer: Any = _ZEROS,
        moving_variance_initializer: Any = _ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: Any = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, **kwargs)
        if not isinstance(axis, int | list):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        _refuse(
            renorm=renorm,
            renorm_clipping=renorm_clipping,
            virtual_batch_size=virtual_batch_size,
            adjustment=adjustment,
        )
        self.axis = list(axis) if isinstance(axis, list) else [axis]
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale, self.fused = center, scale, fused
        self._beta = {
            "initializer": lookups.initializer(beta_initializer),
            "regularizer": lookups.function("regularizer", beta_regularizer),
            "constraint": lookups.function("constraint", beta_constraint),
        }
        self._gamma = {
            "initializer": lookups.initializer(gamma_initializer),
            "regularizer": lookups.function("regularizer", gamma_regularizer),
            "constraint": lookups.function("constraint", gamma_constraint),
        }
        self.moving_mean_initializer = lookups.initializer(moving_mean_initializer)
        self.moving_variance_initializer = lookups.initializer(
            moving_variance_initializer
        )

    # ---- variables

    @property
    def _param_dtype(self) -> Any:
        dtype = as_dtype(self.dtype or float32)
        return float32 if dtype in (float16, bfloat16) else dtype

    def build(self, input_shape: Any) -> None:
        input_shape = TensorShape(input_shape)
        rank = input_shape.ndims
        if not rank:
            raise ValueError("Input has undefined rank:", input_shape)
        self._resolve_axes(rank)
        self.fused = self.fused is not False and rank == 4 and self.axis in ([1], [3])
        sizes = {axis: input_shape[axis].value for axis in self.axis}
        if None in sizes.values():
            raise ValueError(
                "Input has undefined `axis` dimension. Input shape: ", input_shape
            )
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        shape = [sizes.get(axis, 1) for axis in range(rank)]
        if len(sizes) == 1:
            shape = list(sizes.values())
        self.gamma = self._affine("gamma", shape, self.scale, 1.0, self._gamma)
        self.beta = self._affine("beta", shape, self.center, 0.0, self._beta)
        # The averages are not cut into parts.
        scope: Any = self._scope
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        try:
            self.moving_mean = self._average(
                "moving_mean", shape, self.moving_mean_initializer
            )
            self.moving_variance = self._average(
                "moving_variance", shape, self.moving_variance_initializer
            )
        finally:
            scope.set_partitioner(partitioner)
        self.built = True

    def _resolve_axes(self, rank: int) -> None:
        self.axis = [axis + rank if axis < 0 else axis for axis in self.axis]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")

    def _affine(
        self, name: str, shape: Any, is_wanted: bool, value: float, options: Any
    ) -> Any:
        """gamma or beta: a variable, or None; `_fixed` has the op's value for it."""
        dtype = self._param_dtype
        if is_wanted:
            return self.add_weight(name, shape, dtype, trainable=True, **options)
        if self.fused:
            setattr(self, f"_fixed_{name}", constant(value, dtype, shape))
        return None

    def _average(self, name: str, shape: Any, initializer: Any) -> Any:
        return self.add_weight(
            name,
            shape,
            self._param_dtype,
            initializer=initializer,
            synchronization=VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=VariableAggregation.MEAN,
        )

    # ---- ops

    def call(self, inputs: Any, training: Any = False) -> Any:
        training = training_value(training)
        if self.fused:
            return self._fused(inputs, training)
        return self._from_parts(inputs, training)

    def _fused(self, inputs: Any, training: Any) -> Any:
        gamma = self.gamma if self.scale else self._fixed_gamma  # type: ignore[attr-defined]
        beta = self.beta if self.center else self._fixed_beta  # type: ignore[attr-defined]
        normalize = fused_batch_norm
        options: dict[str, Any] = {
            "epsilon": self.epsilon,
            "data_format": "NCHW" if self.axis == [1] else "NHWC",
        }
        output, mean, variance = branch_on(
            training,
            lambda: normalize(inputs, gamma, beta, **options),
            lambda: normalize(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                is_training=False,
                **options,
            ),
        )
        is_training = _known(training)
        if is_training is None:
            momentum = branch_on(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert(self.momentum)
        if is_training is not False:
            pairs = [(self.moving_mean, mean), (self.moving_variance, variance)]
            for average, value in pairs:
                self.add_update(_moved(average, value, momentum))
        return output

    def _from_parts(self, inputs: Any, training: Any) -> Any:
        rank = len(inputs.shape)
        reduced = [axis for axis in range(rank) if axis not in self.axis]

        def spread(value: Any) -> Any:
            """Parameters of one axis in a shape that broadcasts, where it is needed."""
            if value is None or len(value.shape) == rank or self.axis == [rank - 1]:
                return value
            sizes = [1] * rank
            sizes[self.axis[0]] = inputs.shape[self.axis[0]].value
            return reshape(value, sizes)

        scale, offset = spread(self.gamma), spread(self.beta)
        mean, variance = self.moving_mean, self.moving_variance
        if _known(training) is not False:
            mean, variance = self._batch_moments(inputs, reduced, training)
        dtype = inputs.dtype
        mean, variance = cast(mean, dtype), cast(variance, dtype)
        offset = None if offset is None else cast(offset, dtype)
        scale = None if scale is None else cast(scale, dtype)
        outputs = batch_normalization_op(
            inputs, spread(mean), spread(variance), offset, scale, self.epsilon
        )
        outputs.set_shape(inputs.shape)
        return outputs

    def _batch_moments(
        self, inputs: Any, reduced: list[int], training: Any
    ) -> tuple[Any, Any]:
        """The batch's mean and variance, or the averages if it is no training."""
        found = moments(
            cast(inputs, self._param_dtype), reduced, keep_dims=len(self.axis) > 1
        )
        averages = [self.moving_mean, self.moving_variance]
        mean, variance = (
            branch_on(training, lambda m=m: m, lambda a=a: convert(a))
            for m, a in zip(found, averages, strict=True)
        )
        for average, value in zip(averages, (mean, variance), strict=True):
            update = branch_on(
                training,
                lambda a=average, v=value: _moved(a, v, self.momentum),
                lambda a=average: a,
            )
            self.add_update(update)
        return mean, variance

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


def _refuse(**options: Any) -> None:
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"batch_normalization: {name}={value!r}")


def _known(training: Any) -> bool | None:
    """Whether it is training, or None if only a run can tell."""
    return None if isinstance(training, Variable) else smart_constant_value(training)


def _moved(average: Any, value: Any, momentum: Any) -> Any:
    """`average -= (average - value) * (1 - momentum)`"""
    with name_scope("AssignMovingAvg") as scope, colocate_with(average):
        decay = convert(1.0 - momentum, name="decay")
        dtype = average.dtype.base_dtype
        if decay.dtype != dtype:
            decay = cast(decay, dtype)
        delta = (average - cast(value, dtype)) * decay
        return assign_sub(average, delta, name=scope)


@export("layers.batch_normalization")
def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: Any = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = _ZEROS,
    gamma_initializer: Any = _ONES,
    moving_mean_initializer: Any = _ZEROS,
    moving_variance_initializer: Any = _ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: Any = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Tensor:
    """Inputs with mean `beta` and deviation `gamma`, per channel.

    While training, `gamma * (x - mean) / sqrt(variance + epsilon) + beta` with the
    batch's moments; else with their moving averages.  The averages change only when the
    ops in `tf.GraphKeys.UPDATE_OPS` run: make the training step depend on them.

    Args:
      inputs: float Tensor of known rank and channels.
      axis: the axis of the channels, or a list of axes.
      momentum: how much of the averages stays in an update.
      epsilon: added to the variance.
      center, scale: whether there is a `beta`, a `gamma`.
      beta_initializer, gamma_initializer, moving_mean_initializer,
      moving_variance_initializer: of the four variables [channels].
      beta_regularizer, gamma_regularizer: functions from a variable to a loss.
      beta_constraint, gamma_constraint: functions that optimizers apply.
      training: a bool or bool scalar Tensor.
      trainable: whether optimizers change gamma and beta.
      name: the layer's scope; "batch_normalization" ... if None.
      reuse: True: take the variables of an earlier layer of that name.
      fused: False: several ops instead of FusedBatchNorm, which is for rank 4 only.
      renorm, renorm_clipping, renorm_momentum, virtual_batch_size, adjustment: not
        implemented.

    Returns:
      A Tensor like `inputs`.

    Raises:
      ValueError: the rank or the channels are unknown, or there is no such axis.
      NotImplementedError: one of the last arguments is used.

    Example:
      >>> y = tf.layers.batch_normalization(tf.ones([4, 3]), training=True)
      >>> updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
      >>> with tf.control_dependencies(updates):
      ...     step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))

    Paper: Ioffe and Szegedy, "Batch normalization" (2015).
    """
    options = given(locals())
    training = options.pop("training")
    layer = BatchNormalization(**options, _scope=name, _reuse=reuse)
    return layer.apply(inputs, training=training)
