"""Fully connected layers.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export_value
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import (
    CollectionNames,
    Initializer,
    Regularizer,
    TensorLike,
)
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.contrib.layers.initializers import xavier_initializer
from tfteach.lib.contrib.layers.shared import collect, finished, model_getter
from tfteach.lib.contrib.layers.utils import public
from tfteach.lib.layers.core import Dense
from tfteach.ops.nn.activations import elu as elu_op
from tfteach.ops.nn.activations import relu as relu_op
from tfteach.ops.nn.activations import relu6 as relu6_op
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope

XAVIER = xavier_initializer()
ZEROS = Zeros()


@public("fully_connected")
@add_arg_scope
def fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Callable[[Any], Tensor] | None = relu_op,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Initializer | None = XAVIER,
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer | None = ZEROS,
    biases_regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: CollectionNames | None = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """A fully connected layer: `activation_fn(inputs @ weights + biases)`.

    Args:
      inputs: float Tensor [..., size], of rank 2 or more, with a known last size.
      num_outputs: the number of outputs, an int.
      activation_fn: a function; None for none.
      normalizer_fn: a function such as `batch_norm`, used instead of biases.
      normalizer_params: a dict of its arguments.
      weights_initializer: of the weights [size, num_outputs].
      weights_regularizer: a function from the weights to a loss.
      biases_initializer: of the biases [num_outputs]; None for no biases.
      biases_regularizer: a function from the biases to a loss.
      reuse: whether to reuse the variables of `scope`.
      variables_collections: further collections for the variables: a list, or a dict
        with "weights" and "biases".
      outputs_collections: collections for the output.
      trainable: whether optimizers change the variables.
      scope: the variable scope; "fully_connected" if None.

    Returns:
      A Tensor [..., num_outputs].

    Raises:
      ValueError: `num_outputs` is not an int, or the inputs' rank or size is invalid.

    Example:
      >>> y = tf.contrib.layers.fully_connected(tf.ones([4, 3]), 8)
      >>> [v.name for v in tf.trainable_variables()]
      ['fully_connected/weights:0', 'fully_connected/biases:0']
    """
    if not isinstance(num_outputs, int):
        raise ValueError(
            "num_outputs type should be one of [<class 'int'>], got "
            f"{type(num_outputs)}."
        )
    with variable_scope(
        scope,
        "fully_connected",
        [inputs],
        reuse=reuse,
        custom_getter=model_getter(bias="biases", kernel="weights"),
    ) as opened:
        inputs = convert(inputs)
        layer = Dense(
            num_outputs,
            use_bias=not normalizer_fn and biases_initializer is not None,
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        collect(layer.kernel, variables_collections, "weights")
        if layer.bias is not None:
            collect(layer.bias, variables_collections, "biases")
        return finished(
            outputs,
            opened.name,
            outputs_collections,
            activation_fn,
            normalizer_fn,
            normalizer_params,
        )


# `fully_connected` without an activation.
linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=relu_op)
relu6 = functools.partial(fully_connected, activation_fn=relu6_op)
elu = functools.partial(fully_connected, activation_fn=elu_op)
export_value(
    __name__,
    linear="contrib.layers.linear contrib.slim.linear",
    relu="contrib.layers.relu contrib.slim.relu",
    relu6="contrib.layers.relu6 contrib.slim.relu6",
    elu="contrib.layers.elu contrib.slim.elu",
)
