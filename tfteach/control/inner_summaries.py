"""Summaries that are recorded in branches and in the bodies of loops.

`tf.contrib.summary` collects its ops for the program to run.  Those inside of control
flow run with the branch or the iteration: its results wait for them.
Source: python/ops/control_flow_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import control_dependencies
from tfteach.ops.core.identity_reshape import identity


def call_with_summaries(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of the function, of which the tensors wait for its summaries."""
    graph = get_default_graph()
    before = graph.collection_size(GraphKeys._SUMMARY_COLLECTION)
    result = function(*arguments)
    if graph.collection_size(GraphKeys._SUMMARY_COLLECTION) == before:
        return result
    summaries = graph.collection_list(GraphKeys._SUMMARY_COLLECTION)
    new = summaries[before:]
    del summaries[before:]
    if result is None:
        return None
    with control_dependencies(new):
        return nest.map_structure(_waiting, result, expand_composites=True)


def _waiting(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else identity(value)
