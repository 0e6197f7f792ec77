"""`legacy_fully_connected`: a fully connected layer with default collections.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.export import export_value
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import add_to_collections
from tfteach.framework.type_aliases import CollectionNames, Regularizer, TensorLike
from tfteach.lib.contrib.layers.dense import XAVIER, ZEROS
from tfteach.lib.contrib.layers.utils import public
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack, unstack
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.nn.activations import relu
from tfteach.ops.nn.bias_add import bias_add
from tfteach.variables.scope import get_variable, variable_scope


@public("legacy_fully_connected")
def legacy_fully_connected(
    x: TensorLike,
    num_output_units: int,
    activation_fn: Callable[[Any], Tensor] | None = None,
    weight_init: Any = XAVIER,
    bias_init: Any = ZEROS,
    name: str | None = None,
    weight_collections: CollectionNames | None = (GraphKeys.WEIGHTS,),
    bias_collections: CollectionNames | None = (GraphKeys.BIASES,),
    output_collections: CollectionNames | None = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
) -> Tensor:
    """`activation_fn(x @ weights + bias)` for a Tensor of rank 2 or more.

    Args:
      x: float Tensor [..., size] with a known last size.
      num_output_units: the number of outputs.
      activation_fn: a function; None for none.
      weight_init, bias_init: initializers; `bias_init` None for no bias.
      name: the variable scope; "fully_connected" if None.
      weight_collections, bias_collections: further collections of the variables.
      output_collections: collections of the output, besides ACTIVATIONS.
      trainable: whether optimizers change the variables.
      weight_regularizer, bias_regularizer: functions from a variable to a loss.

    Returns:
      A Tensor [..., num_output_units].

    Raises:
      ValueError: the rank is below 2, or the last size is unknown.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert(x)
        dims = x.shape.dims
        if dims is None:
            raise ValueError("dims of x must be known but is None")
        if len(dims) < 2:
            raise ValueError(f"rank of x must be at least 2 not: {len(dims)}")
        size = dimension_value(dims[-1])
        if size is None:
            raise ValueError("last dimension of x must be known but is None")
        own = [GraphKeys.GLOBAL_VARIABLES]
        weights = get_variable(
            "weights",
            shape=[size, num_output_units],
            dtype=x.dtype.base_dtype,
            initializer=weight_init,
            collections=[*(weight_collections or ()), *own],
            regularizer=weight_regularizer,
            trainable=trainable,
        )
        rows = x if len(dims) == 2 else reshape(x, [-1, size])
        y = matmul(rows, weights)
        if bias_init is not None:
            bias = get_variable(
                "bias",
                shape=[num_output_units],
                dtype=x.dtype.base_dtype,
                initializer=bias_init,
                collections=[*(bias_collections or ()), *own],
                regularizer=bias_regularizer,
                trainable=trainable,
            )
            y = bias_add(y, bias)
        if len(dims) > 2:
            sizes: list[Any] = unstack(shape(x))
            sizes[-1] = num_output_units
            y = reshape(y, stack(sizes))
            y.set_shape([*x.shape.as_list()[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        names = [*(output_collections or ()), GraphKeys.ACTIVATIONS]
        add_to_collections(names, y)
        return y


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
export_value(
    __name__,
    legacy_relu="contrib.layers.legacy_relu contrib.slim.legacy_relu",
    legacy_linear="contrib.layers.legacy_linear contrib.slim.legacy_linear",
)
