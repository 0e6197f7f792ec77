"""Batch normalization, with its moving averages.

Source: python/layers/normalization.py, python/keras/layers/normalization.py.
"""

from __future__ import annotations

import functools
from typing import Any

from tfteach.control.branch import smart_constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import as_dtype, bfloat16, float16, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import (
    colocate_with,
    control_dependencies,
    name_scope,
)
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import (
    AxisLike,
    Constraint,
    Initializer,
    Regularizer,
    TensorLike,
)
from tfteach.lib.layers import activations_by_name
from tfteach.lib.layers.base import Layer, training_value
from tfteach.lib.layers.batch_renormalization import (
    checked_clipping,
    corrections,
    moved,
    update_renorm_averages,
)
from tfteach.lib.layers.core import branch_on
from tfteach.lib.layers.specs import InputSpec
from tfteach.lib.layers.windowed import given
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones_like, zeros_like
from tfteach.ops.core.identity_reshape import identity, reshape, stop_gradient
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.math.cast import cast
from tfteach.ops.math.reduce_functions import reduce_mean
from tfteach.ops.math.unary import sqrt
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.batch_norm import batch_normalization as batch_normalization_op
from tfteach.ops.nn.fused_batch_norm import fused_batch_norm
from tfteach.ops.nn.moments import moments
from tfteach.ops.state.ref_variables import assign
from tfteach.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from tfteach.variables.initializers import Ones, Zeros

_ZEROS, _ONES = Zeros(), Ones()


@export("layers.BatchNormalization")
class BatchNormalization(Layer):
    """Inputs normalized to mean 0 and variance 1; see `tf.layers.batch_normalization`.

    Attributes:
      gamma, beta: Variables, the outputs' standard deviation and mean; or None.
      moving_mean, moving_variance: Variables changed by `updates`, not by optimizers.
    """

    def __init__(
        self,
        axis: AxisLike = -1,
        momentum: TensorLike = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Initializer = _ZEROS,
        gamma_initializer: Initializer = _ONES,
        moving_mean_initializer: Initializer = _ZEROS,
        moving_variance_initializer: Initializer = _ONES,
        beta_regularizer: Regularizer | None = None,
        gamma_regularizer: Regularizer | None = None,
        beta_constraint: Constraint | None = None,
        gamma_constraint: Constraint | None = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, **kwargs)
        if not isinstance(axis, int | list):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.renorm, self.adjustment = renorm, adjustment
        self.virtual_batch_size = virtual_batch_size
        if renorm:
            self.renorm_momentum = renorm_momentum
            self.renorm_clipping = checked_clipping(renorm_clipping or {})
        self.axis = list(axis) if isinstance(axis, list) else [axis]
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale, self.fused = center, scale, fused
        function = activations_by_name.function
        self.beta_initializer = activations_by_name.initializer(beta_initializer)
        self.beta_regularizer = function("regularizer", beta_regularizer)
        self.beta_constraint = function("constraint", beta_constraint)
        self.gamma_initializer = activations_by_name.initializer(gamma_initializer)
        self.gamma_regularizer = function("regularizer", gamma_regularizer)
        self.gamma_constraint = function("constraint", gamma_constraint)
        self.moving_mean_initializer = activations_by_name.initializer(
            moving_mean_initializer
        )
        self.moving_variance_initializer = activations_by_name.initializer(
            moving_variance_initializer
        )

    # ---- variables

    @property
    def _param_dtype(self) -> Any:
        dtype = as_dtype(self.dtype or float32)
        return float32 if dtype in (float16, bfloat16) else dtype

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        rank = input_shape.ndims
        if not rank:
            raise ValueError("Input has undefined rank:", input_shape)
        self._resolve_axes(rank)
        self._check_virtual_batches()
        is_plain = not self.renorm and self.adjustment is None
        can_fuse = is_plain and rank == 4 and self.axis in ([1], [3])
        self.fused = (
            self.fused is not False and can_fuse and self.virtual_batch_size is None
        )
        sizes = {axis: dimension_value(input_shape[axis]) for axis in self.axis}
        if None in sizes.values():
            raise ValueError(
                "Input has undefined `axis` dimension. Input shape: ", input_shape
            )
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        shape = [sizes.get(axis, 1) for axis in range(rank)]
        if self.virtual_batch_size is not None:  # the virtual batches are a new axis 1
            shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        elif len(sizes) == 1:
            shape = list(sizes.values())
        self.gamma = self._affine("gamma", shape, self.scale, 1.0)
        self.beta = self._affine("beta", shape, self.center, 0.0)
        # The averages are not partitioned.
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
            if self.renorm:
                self._build_renorm(shape)
        finally:
            scope.set_partitioner(partitioner)
        self.built = True

    def _build_renorm(self, shape: Any) -> None:
        """Create the averages used by the correction, and the deviation's."""

        def deviation(*args: Any, **kwargs: Any) -> Any:
            return sqrt(self.moving_variance_initializer(*args, **kwargs))

        mean = self.moving_mean_initializer
        with colocate_with(self.moving_variance):
            self.moving_stddev = self._average("moving_stddev", shape, deviation)
        with colocate_with(self.moving_mean):
            self.renorm_mean = self._average("renorm_mean", shape, mean)
        with colocate_with(self.moving_stddev):
            self.renorm_stddev = self._average("renorm_stddev", shape, deviation)

    def _check_virtual_batches(self) -> None:
        size = self.virtual_batch_size
        if size is None:
            return
        if size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true "
                "batch size of the input Tensor"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus "
                "axis cannot include 0"
            )
        if self.adjustment is not None:
            raise ValueError(
                "When using virtual_batch_size, adjustment cannot be specified"
            )

    def _resolve_axes(self, rank: int) -> None:
        self.axis = [axis + rank if axis < 0 else axis for axis in self.axis]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")

    def _affine(self, name: str, shape: Any, is_wanted: bool, value: float) -> Any:
        """gamma or beta: a variable, or None; `_fixed` holds the op's substitute."""
        dtype = self._param_dtype
        if is_wanted:
            kinds = ("initializer", "regularizer", "constraint")
            options = {kind: getattr(self, f"{name}_{kind}") for kind in kinds}
            return self.add_weight(name, shape, dtype, trainable=True, **options)
        if self.fused:
            setattr(self, f"_fixed_{name}", constant(value, dtype, shape))
        return None

    def _average(
        self, name: str, shape: Any, initializer: Initializer | None
    ) -> Tensor:
        result: Tensor = self.add_weight(
            name,
            shape,
            self._param_dtype,
            initializer=initializer,
            synchronization=VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=VariableAggregation.MEAN,
        )
        return result

    # ---- ops

    def call(self, inputs: Tensor, training: Any = False) -> Any:
        training = training_value(training)
        if self.fused:
            return self._fused(inputs, training)
        if self.virtual_batch_size is None:
            return self._from_parts(inputs, training)
        sizes = [-1, *inputs.shape.as_list()[1:]]
        parted = reshape(inputs, [self.virtual_batch_size, -1, *sizes[1:]])
        return reshape(self._from_parts(parted, training), sizes)

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
                self.add_update(functools.partial(moved, average, value, momentum))
        return output

    def _from_parts(self, inputs: Any, training: Any) -> Tensor:
        rank = len(inputs.shape)

        def spread(value: Any) -> Any:
            """Parameters of one axis, reshaped to broadcast where necessary."""
            if value is None or len(value.shape) == rank or self.axis == [rank - 1]:
                return value
            sizes: list[int | None] = [1] * rank
            sizes[self.axis[0]] = dimension_value(inputs.shape[self.axis[0]])
            return reshape(value, sizes)

        scale, offset = spread(self.gamma), spread(self.beta)
        mean, variance = self.moving_mean, self.moving_variance
        if _known(training) is not False:
            if self.adjustment:
                adjusted = self._adjusted(inputs, training)
                scale, offset = _composed(*adjusted, scale, offset)
            mean, variance = self._batch_moments(inputs, training)
            values = mean, variance
            if self.virtual_batch_size is not None:
                values = (
                    reduce_mean(mean, axis=1, keepdims=True),
                    reduce_mean(variance, axis=1, keepdims=True),
                )
            if self.renorm:
                r, d, values = self._correct(*values, training)
                r = spread(stop_gradient(r, name="renorm_r"))
                d = spread(stop_gradient(d, name="renorm_d"))
                scale, offset = _composed(r, d, scale, offset)
            self._update_averages(*values, training)
        dtype = inputs.dtype
        mean, variance = cast(mean, dtype), cast(variance, dtype)
        offset = None if offset is None else cast(offset, dtype)
        scale = None if scale is None else cast(scale, dtype)
        outputs = batch_normalization_op(
            inputs, spread(mean), spread(variance), offset, scale, self.epsilon
        )
        outputs.set_shape(inputs.shape)
        return outputs

    def _adjusted(self, inputs: Any, training: Any) -> tuple[Any, Any]:
        """The adjustment's scale and bias; 1 and 0 unless training."""
        scale, bias = self.adjustment(shape_of(inputs))
        scale = branch_on(training, lambda: scale, lambda: ones_like(scale))
        return scale, branch_on(training, lambda: bias, lambda: zeros_like(bias))

    def _batch_moments(self, inputs: Any, training: Any) -> tuple[Any, Any]:
        """The batch's mean and variance, or the averages unless training."""
        reduced = [axis for axis in range(len(inputs.shape)) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]  # each virtual batch has its own moments
        keep_dims = self.virtual_batch_size is not None or len(self.axis) > 1
        found = moments(cast(inputs, self._param_dtype), reduced, keep_dims=keep_dims)
        averages = [self.moving_mean, self.moving_variance]
        mean, variance = (
            branch_on(training, lambda m=m: m, lambda a=a: convert(a))
            for m, a in zip(found, averages, strict=True)
        )
        return mean, variance

    def _correct(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any]:
        """Batch renormalization's r and d, and the mean and variance to average."""
        averages = self.renorm_mean, self.renorm_stddev
        deviation = sqrt(variance + self.epsilon)
        limits = self.epsilon, self.renorm_clipping
        r, d, mean, deviation = corrections(
            mean, deviation, averages, *limits, training
        )
        updates = update_renorm_averages(
            averages, (mean, deviation), self.renorm_momentum, training
        )
        with control_dependencies(updates):
            return r, d, (identity(mean), identity(variance))

    def _update_averages(self, mean: Any, variance: Any, training: Any) -> None:
        def moved_variance() -> Any:
            if not self.renorm:
                return moved(self.moving_variance, variance, self.momentum)
            deviation = sqrt(variance + self.epsilon)
            deviation = moved(self.moving_stddev, deviation, self.momentum)
            # Rounding must not make the variance negative.
            value = relu(deviation * deviation - self.epsilon)
            average = self.moving_variance
            with name_scope("AssignNewValue") as scope, colocate_with(average):
                return assign(average, value, name=scope)

        def moved_mean() -> Any:
            return moved(self.moving_mean, mean, self.momentum)

        for move, average in (
            (moved_mean, self.moving_mean),
            (moved_variance, self.moving_variance),
        ):
            self.add_update(
                functools.partial(branch_on, training, move, lambda a=average: a)
            )

    def compute_output_shape(self, input_shape: TensorShape) -> Any:
        return input_shape


def _composed(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> Any:
    """The composition of two affine maps."""
    if then_scale is not None:
        scale *= then_scale
        offset *= then_scale
    if then_offset is not None:
        offset += then_offset
    return scale, offset


def _known(training: Any) -> bool | None:
    """Whether it is training; None if that is decided at run time."""
    return None if isinstance(training, Variable) else smart_constant_value(training)


@export("layers.batch_normalization")
def batch_normalization(
    inputs: TensorLike,
    axis: AxisLike = -1,
    momentum: TensorLike = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Initializer = _ZEROS,
    gamma_initializer: Initializer = _ONES,
    moving_mean_initializer: Initializer = _ZEROS,
    moving_variance_initializer: Initializer = _ONES,
    beta_regularizer: Regularizer | None = None,
    gamma_regularizer: Regularizer | None = None,
    beta_constraint: Constraint | None = None,
    gamma_constraint: Constraint | None = None,
    training: TensorLike = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Tensor:
    """Inputs normalized to mean `beta` and standard deviation `gamma`, per channel.

    While training, `gamma * (x - mean) / sqrt(variance + epsilon) + beta` with the
    batch's moments; otherwise with their moving averages.  The averages change only
    when the ops in `tf.GraphKeys.UPDATE_OPS` run: make the training step depend on
    them.  In an eager program they change at once.

    Args:
      inputs: float Tensor of known rank and channels.
      axis: the axis of the channels, or a list of axes.
      momentum: the weight of the old averages in an update.
      epsilon: added to the variance.
      center, scale: whether to use `beta` and `gamma`.
      beta_initializer, gamma_initializer, moving_mean_initializer,
      moving_variance_initializer: of the four variables [channels].
      beta_regularizer, gamma_regularizer: functions from a variable to a loss.
      beta_constraint, gamma_constraint: functions that optimizers apply.
      training: a bool or bool scalar Tensor.
      trainable: whether optimizers change gamma and beta.
      name: the layer's scope; "batch_normalization" ... if None.
      reuse: True: reuse the variables of an earlier layer of that name.
      fused: False: several ops instead of FusedBatchNorm, which requires rank 4.
      renorm: Batch Renormalization: normalize with moving averages while training too,
        by corrections `r` and `d` of the batch's moments that receive no gradient.
      renorm_clipping: a dict with "rmax", "rmin" and "dmax", the limits of `r` and `d`.
      renorm_momentum: the weight of the old averages in an update of those.
      virtual_batch_size: the size of the parts of the batch that are normalized
        separately; it must divide the batch's size.
      adjustment: a function from the inputs' shape to a scale and a bias (Tensors that
        broadcast), applied to the normalized values while training.

    Returns:
      A Tensor like `inputs`.

    Raises:
      ValueError: the rank or the channels are unknown, the axis is out of range, or
        both `virtual_batch_size` and `adjustment` are given.

    Example:
      >>> y = tf.layers.batch_normalization(tf.ones([4, 3]), training=True)
      >>> updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
      >>> with tf.control_dependencies(updates):
      ...     step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))

    Papers: Ioffe and Szegedy, "Batch normalization" (2015); Ioffe, "Batch
    renormalization" (2017).
    """
    options = given(locals())
    training = options.pop("training")
    layer = BatchNormalization(**options, _scope=name, _reuse=reuse)
    result: Tensor = layer.apply(inputs, training=training)
    return result
