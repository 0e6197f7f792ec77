"""Dense, dropout and flatten.

Source: python/layers/core.py, python/keras/layers/core.py.
"""

from __future__ import annotations

import math
from typing import Any

from tfteach.control.branch import cond, smart_cond
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import as_dtype, float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import (
    Activation,
    Constraint,
    Initializer,
    Regularizer,
    TensorLike,
)
from tfteach.lib.layers import activations_by_name
from tfteach.lib.layers.base import Layer, training_value
from tfteach.lib.layers.specs import InputSpec
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.linalg.einsum_tensordot import tensordot
from tfteach.ops.linalg.matmul import MatMul
from tfteach.ops.math.cast import cast
from tfteach.ops.nn.bias_add import bias_add
from tfteach.ops.nn.dropout import dropout as drop
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_dense_matmul
from tfteach.variables.base import Variable
from tfteach.variables.initializers import Zeros

_ZEROS = Zeros()


def branch_on(pred: Any, on_true: Any, on_false: Any) -> Any:
    """`smart_cond` that treats a variable as unknown."""
    if isinstance(pred, Variable):
        return cond(pred, on_true, on_false)
    return smart_cond(pred, on_true, on_false)


@export("layers.Dense")
class Dense(Layer):
    """`activation(inputs @ kernel + bias)`; for the arguments see `tf.layers.dense`.

    Attributes:
      kernel: Variable [size, units].
      bias: Variable [units], or None.
    """

    def __init__(
        self,
        units: int,
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = _ZEROS,
        kernel_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None,
        kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable, name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.units = int(units)
        self.activation = activations_by_name.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = activations_by_name.initializer(kernel_initializer)
        self.bias_initializer = activations_by_name.initializer(bias_initializer)
        self.kernel_regularizer = activations_by_name.function(
            "regularizer", kernel_regularizer
        )
        self.bias_regularizer = activations_by_name.function(
            "regularizer", bias_regularizer
        )
        self.kernel_constraint = activations_by_name.function(
            "constraint", kernel_constraint
        )
        self.bias_constraint = activations_by_name.function(
            "constraint", bias_constraint
        )
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        dtype = as_dtype(self.dtype or float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(
                f"Unable to build `Dense` layer with non-floating point dtype {dtype}"
            )
        size = dimension_value(TensorShape(input_shape)[-1])
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found "
                "`None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight(
            "kernel",
            [size, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Tensor) -> Any:
        rank = len(inputs.shape)
        if rank > 2:
            outputs = tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            inputs = cast(inputs, self.dtype)
            if isinstance(inputs, SparseTensor):
                multiply = sparse_tensor_dense_matmul
                outputs = multiply(inputs, self.kernel)
            else:
                outputs = MatMul()(inputs, self.kernel)
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        sizes = TensorShape(input_shape).with_rank_at_least(2)
        if dimension_value(sizes[-1]) is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: "
                f"{sizes}"
            )
        result: TensorShape = sizes[:-1].concatenate(self.units)
        return result


@export("layers.dense")
def dense(
    inputs: TensorLike,
    units: int,
    activation: Activation | None = None,
    use_bias: bool = True,
    kernel_initializer: Initializer | None = None,
    bias_initializer: Initializer | None = _ZEROS,
    kernel_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None,
    kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """A fully connected layer: `activation(inputs @ kernel + bias)`.

    Args:
      inputs: float Tensor [..., size], of rank 2 or more, with a known last size.
      units: the number of outputs.
      activation: a function such as `tf.nn.relu`, or its name; None for none.
      use_bias: whether to add a bias.
      kernel_initializer: of the kernel [size, units]; Glorot's uniform if None.
      bias_initializer: of the bias [units].
      kernel_regularizer, bias_regularizer: functions from a variable to a loss.
      activity_regularizer: a function from the output to a loss.
      kernel_constraint, bias_constraint: functions that optimizers apply to a variable
        after each step.
      trainable: whether optimizers change the variables.
      name: the layer's scope; "dense", "dense_1" ... if None.
      reuse: True: reuse the variables of an earlier layer of that name.

    Returns:
      A Tensor [..., units].

    Raises:
      ValueError: the rank is below 2, or the last size is unknown.
      TypeError: the inputs are not floats.

    Example:
      >>> hidden = tf.layers.dense(tf.ones([4, 3]), 8, activation=tf.nn.relu)
    """
    options = {k: v for k, v in locals().items() if k not in ("inputs", "reuse")}
    result: Tensor = Dense(**options, _scope=name, _reuse=reuse).apply(inputs)
    return result


@export("layers.Dropout")
class Dropout(Layer):
    """Sets elements to zero while training; see `tf.layers.dropout`."""

    def __init__(
        self,
        rate: TensorLike = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Tensor, training: Any = False) -> Any:
        return branch_on(
            training_value(training),
            lambda: drop(
                inputs,
                noise_shape=self._noise_shape(inputs),
                seed=self.seed,
                rate=self.rate,
            ),
            lambda: identity(inputs),
        )

    def _noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        whole = shape(inputs)
        sizes = [whole[i] if n is None else n for i, n in enumerate(self.noise_shape)]
        return convert(sizes)

    def compute_output_shape(self, input_shape: TensorShape) -> Any:
        return input_shape


@export("layers.dropout")
def dropout(
    inputs: TensorLike,
    rate: TensorLike = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: TensorLike = False,
    name: str | None = None,
) -> Tensor:
    """Dropout: while training, random zeros; others are scaled by 1 / (1 - rate).

    Args:
      inputs: float Tensor.
      rate: the fraction of zeros, a number or scalar Tensor in [0, 1).
      noise_shape: int shape of the mask, which is broadcast; None for `inputs`' size.
      seed: see `tf.set_random_seed`.
      training: a bool or a bool scalar Tensor; if false, `inputs` are returned
          unchanged.
      name: the layer's scope.

    Returns:
      A Tensor like `inputs`.

    Example:
      >>> is_training = tf.placeholder_with_default(False, [])
      >>> y = tf.layers.dropout(tf.ones([4, 3]), 0.4, training=is_training)

    Paper: Srivastava et al., "Dropout" (2014).
    """
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    result: Tensor = layer.apply(inputs, training=training)
    return result


@export("layers.Flatten")
class Flatten(Layer):
    """All dimensions except the first merged; see `tf.layers.flatten`."""

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = activations_by_name.data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = transpose(inputs, perm=[0, *range(2, rank), 1])
        batch = dimension_value(inputs.shape[0]) or shape(inputs)[0]
        outputs = reshape(inputs, (batch, -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        batch, *others = TensorShape(input_shape).as_list()
        return TensorShape([batch, math.prod(others) if all(others) else None])


@export("layers.flatten")
def flatten(
    inputs: TensorLike, name: str | None = None, data_format: str = "channels_last"
) -> Tensor:
    """All dimensions except the first (the batch) merged.

    Args:
      inputs: Tensor [batch, ...].
      name: the layer's scope.
      data_format: "channels_first" moves the channels to the end first.

    Returns:
      A Tensor [batch, size].

    Example:
      >>> tf.layers.flatten(tf.ones([2, 3, 4])).shape  # (2, 12)
    """
    result: Tensor = Flatten(name=name, data_format=data_format).apply(inputs)
    return result
