"""Flatten, dropout, one-hot encoding, softmax; and repeated layers.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import CollectionNames, TensorLike
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.contrib.layers.shared import model_getter
from tfteach.lib.contrib.layers.utils import (
    collect_named_outputs,
    last_dimension,
    public,
)
from tfteach.lib.layers import core
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.strided_slice import strided_slice
from tfteach.ops.array.tile import tile
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import to_int64
from tfteach.ops.math.division import div
from tfteach.ops.math.reduce_functions import reduce_max, reduce_sum
from tfteach.ops.math.unary import sqrt, square
from tfteach.ops.nn.softmax import softmax as softmax_op
from tfteach.variables.scope import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@public("dropout")
@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: Any = 0.5,
    noise_shape: TensorLike | None = None,
    is_training: TensorLike = True,
    outputs_collections: CollectionNames | None = None,
    scope: VariableScope | str | None = None,
    seed: int | None = None,
) -> Tensor:
    """Dropout: while training, random zeros; others are scaled by 1 / keep_prob.

    Args:
      inputs: float Tensor.
      keep_prob: the fraction to keep, a number or scalar Tensor.
      noise_shape: int shape of the mask, which is broadcast.
      is_training: a bool or bool scalar Tensor; if false, `inputs` are returned
          unchanged.
      outputs_collections: collections for the output.
      scope: the variable scope; "Dropout" if None.
      seed: see `tf.set_random_seed`.

    Returns:
      A Tensor like `inputs`.
    """
    with variable_scope(
        scope, "Dropout", [inputs], custom_getter=model_getter()
    ) as opened:
        inputs = convert(inputs)
        layer = core.Dropout(
            rate=1 - keep_prob,
            noise_shape=noise_shape,
            seed=seed,
            name=opened.name,
            _scope=opened,
        )
        outputs = layer.apply(inputs, training=is_training)
        result: Tensor = collect_named_outputs(
            outputs_collections, opened.name, outputs
        )
        return result


@public("flatten")
@add_arg_scope
def flatten(
    inputs: Any,
    outputs_collections: CollectionNames | None = None,
    scope: Any = None,
) -> Tensor:
    """All dimensions except the first (the batch) merged; see `tf.layers.flatten`."""
    with name_scope(scope, "Flatten", [inputs]) as opened:
        outputs = core.flatten(convert(inputs))
        return collect_named_outputs(outputs_collections, opened, outputs)


@public("one_hot_encoding")
@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: CollectionNames | None = None,
    scope: Any = None,
) -> Tensor:
    """`tf.one_hot` as a layer.

    Args:
      labels: int Tensor of class indices.
      num_classes: the number of classes.
      on_value, off_value: the value at a label's index, and elsewhere.
      outputs_collections: collections for the output.
      scope: the name scope.

    Returns:
      A float32 Tensor [..., num_classes].
    """
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as opened:
        labels = convert(labels)
        if labels.dtype == int32:
            labels = to_int64(labels)
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, opened, outputs)


@public("softmax")
@add_arg_scope
def softmax(logits: Any, scope: VariableScope | str | None = None) -> Tensor:
    """`tf.nn.softmax` over the last axis of a Tensor of rank 2 or more."""
    with variable_scope(scope, "softmax", [logits]):
        count = last_dimension(logits.shape, min_rank=2)
        found = softmax_op(reshape(logits, [-1, count]))
        found = reshape(found, shape(logits))
        found.set_shape(logits.shape)
        return found


@public("unit_norm")
@add_arg_scope
def unit_norm(
    inputs: Any,
    dim: int,
    epsilon: float = 1e-7,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """`inputs / sqrt(epsilon + sum(inputs ** 2))` along an axis.

    Raises:
      ValueError: the rank is unknown, or the axis is out of range.
    """
    with variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.shape.ndims
        if not rank:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = sqrt(epsilon + reduce_sum(square(inputs), dim, True))
        multiples = []
        if dim > 0:
            multiples.append(ones([dim], int32))
        multiples.append(strided_slice(shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(ones([rank - 1 - dim], int32))
        return div(inputs, tile(lengths, concat(multiples, 0)))


@public("maxout")
@add_arg_scope
def maxout(
    inputs: Any,
    num_units: int,
    axis: int = -1,
    scope: VariableScope | str | None = None,
) -> Tensor:
    """The maximum of each group of features.

    Args:
      inputs: Tensor of known rank with a known size along `axis`.
      num_units: the number of groups, which must divide the size.
      axis: the features' axis.
      scope: the variable scope.

    Raises:
      ValueError: the size is not a multiple of `num_units`.

    Paper: Goodfellow et al., "Maxout networks" (2013).
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert(inputs)
        sizes = inputs.shape.as_list()
        count = sizes[axis]
        if count % num_units:
            raise ValueError(
                f"number of features({count}) is not a multiple of "
                f"num_units({num_units})"
            )
        sizes[axis] = num_units
        sizes += [count // num_units]
        sizes = [shape(inputs)[i] if n is None else n for i, n in enumerate(sizes)]
        return reduce_max(reshape(inputs, sizes), -1)


@public("repeat")
def repeat(
    inputs: TensorLike,
    repetitions: int,
    layer: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Tensor:
    """A layer applied repeatedly, in numbered scopes.

    Args:
      inputs: the first layer's input.
      repetitions: the number of repetitions.
      layer: a function such as `tf.contrib.layers.conv2d`.
      *args, **kwargs: its other arguments; `scope` names the enclosing scope.

    Returns:
      The last layer's output.

    Example:
      >>> slim = tf.contrib.slim
      >>> y = slim.repeat(tf.ones([1, 8, 8, 3]), 2, slim.conv2d, 4, [3, 3], scope="c")
      >>> slim.get_variables()[0].name
      'c/c_1/weights:0'
    """
    arguments = [args] * repetitions
    return _one_after_the_other(inputs, layer, arguments, kwargs, "Repeat", "repeat")


@public("stack")
def stack(inputs: TensorLike, layer: Any, stack_args: Any, **kwargs: Any) -> Tensor:
    """A layer applied repeatedly with different arguments, in numbered scopes.

    Args:
      inputs: the first layer's input.
      layer: a function such as `tf.contrib.layers.fully_connected`.
      stack_args: a list of each layer's next argument (or list of arguments).
      **kwargs: arguments shared by all; `scope` names the enclosing scope.

    Returns:
      The last layer's output.

    Raises:
      ValueError: `stack_args` is not a list.
    """
    if not isinstance(stack_args, list | tuple):
        raise ValueError("stack_args need to be a list or tuple")
    arguments = [a if isinstance(a, list | tuple) else [a] for a in stack_args]
    return _one_after_the_other(inputs, layer, arguments, kwargs, "Stack", "stack")


def _one_after_the_other(
    inputs: Any, layer: Any, arguments: Any, kwargs: Any, default: str, word: str
) -> Tensor:
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, default, [inputs]):
        outputs = convert(inputs)
        if scope is None:  # the layer's name, also inside a functools.partial
            function = getattr(layer, "func", layer)
            scope = getattr(layer, "__name__", getattr(function, "__name__", word))
        for i, given in enumerate(arguments):
            outputs = layer(outputs, *given, **{**kwargs, "scope": f"{scope}_{i + 1}"})
        return outputs
