"""Shared parts of layers: model variables in their scopes, and the outputs.

Source: contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import CollectionNames
from tfteach.lib.contrib.framework.variables import model_variable
from tfteach.lib.contrib.layers.utils import (
    collect_named_outputs,
    get_variable_collections,
)
from tfteach.variables.partitioned import PartitionedVariable

# The parameters of `model_variable` that a custom getter receives.
_TAKEN = (
    "shape dtype initializer regularizer trainable collections caching_device "
    "partitioner use_resource synchronization aggregation"
).split()


def model_getter(**renamed: str) -> Callable[..., Any]:
    """A custom getter that creates model variables, with other short names."""

    def get(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        head, slash, short = name.rpartition("/")
        name = head + slash + renamed.get(short, short)
        given = {key: kwargs[key] for key in _TAKEN if key in kwargs}
        return model_variable(name, custom_getter=getter, **given)

    return get


def collect(variable: Any, collections: CollectionNames | None, name: str) -> None:
    """Add a layer's variable to the requested collections."""
    is_cut = isinstance(variable, PartitionedVariable)
    parts = list(variable) if is_cut else [variable]
    graph = get_default_graph()
    for collection in get_variable_collections(collections, name) or ():
        for part in parts:
            if not any(v is part for v in graph.collection_list(collection)):
                graph.add_to_collection(collection, part)


def finished(
    outputs: Any,
    scope_name: str,
    outputs_collections: CollectionNames | None,
    activation_fn: Callable[[Any], Tensor] | None,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
) -> Tensor:
    """The outputs normalized, activated, and added to collections."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    result: Tensor = collect_named_outputs(outputs_collections, scope_name, outputs)
    return result


def layout(data_format: str | None) -> str:
    """A data format in the notation of `tf.layers`."""
    is_first = data_format is not None and data_format.startswith("NC")
    return "channels_first" if is_first else "channels_last"


def check_format(data_format: str, *allowed: str) -> None:
    """Raise ValueError unless a data format is one of those allowed."""
    if data_format not in allowed:
        raise ValueError(f"data_format has to be either {' or '.join(allowed)}.")
