"""Summaries of tensors by category.

Source: contrib/layers/python/layers/summaries.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from tfteach.framework.dtypes import bool_, string
from tfteach.framework.export import export_value
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import get_collection
from tfteach.lib.contrib.layers.utils import public
from tfteach.ops.debug.summary_functions import histogram, scalar
from tfteach.ops.math.cast import cast, to_float
from tfteach.ops.math.compare import greater, less
from tfteach.ops.math.reduce_functions import reduce_mean


@public("summarize_activation")
def summarize_activation(op: Any) -> Tensor:
    """A histogram of an activation, and the fraction that is 0 (or 6, for relu6)."""
    kind, inputs = op.op.type, op.op.inputs
    for kinds, compare, limit, word in (
        (("Relu", "Softplus", "Relu6"), less, 0.0, "zeros"),
        (("Relu6",), greater, 6.0, "sixes"),
    ):
        if kind in kinds:
            is_there = compare(inputs[0], cast(limit, inputs[0].dtype))
            scalar(f"{op.op.name}/{word}", reduce_mean(to_float(is_there)))
    return histogram(f"{op.op.name}/activation", op)


@public("summarize_tensor")
def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A scalar's value or a Tensor's histogram; None for strings and bools."""
    if tensor.dtype.base_dtype in (string, bool_):
        return None
    tag = tag or f"{tensor.op.name}_summary"
    kind = scalar if tensor.shape.ndims == 0 else histogram
    return kind(tag, tensor)


@public("summarize_tensors")
def summarize_tensors(
    tensors: Sequence[Any], summarizer: Any = summarize_tensor
) -> list[Any]:
    """The summaries of several tensors."""
    return [summarizer(tensor) for tensor in tensors]


@public("summarize_collection")
def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Any = summarize_tensor
) -> list[Any]:
    """The summaries of a collection's tensors with matching names."""
    tensors = get_collection(collection)
    if name_filter is not None:
        tensors = [t for t in tensors if re.match(name_filter, t.op.name)]
    return summarize_tensors(tensors, summarizer)


@public("summarize_activations")
def summarize_activations(
    name_filter: str | None = None, summarizer: Any = summarize_activation
) -> list[Any]:
    """The summaries of `tf.GraphKeys.ACTIVATIONS`."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)


summarize_variables = functools.partial(
    summarize_collection, GraphKeys.GLOBAL_VARIABLES
)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)
export_value(
    __name__,
    summarize_variables="contrib.slim.summarize_variables",
    summarize_weights="contrib.slim.summarize_weights",
    summarize_biases="contrib.slim.summarize_biases",
)
