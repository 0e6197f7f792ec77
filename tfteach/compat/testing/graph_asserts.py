"""Assertions on graphs that tests take from `test_util`, and its decorators.

Source: python/framework/test_util.py (API, messages).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.compat.testing.both_modes import (
    run_all_in_graph_and_eager_modes as run_all_in_graph_and_eager_modes,
)
from tfteach.compat.testing.both_modes import (
    run_in_graph_and_eager_modes as run_in_graph_and_eager_modes,
)
from tfteach.framework.graph import Graph


def assert_ops_in_graph(
    expected_ops: Mapping[str, str], graph: Graph
) -> dict[str, Any]:
    """The NodeDefs of these ops of a graph, by name.

    Args:
      expected_ops: name -> op type.
      graph: the Graph.

    Raises:
      ValueError: an op is missing or has another type.
    """
    found = {
        node.name: node
        for node in graph.as_graph_def().node
        if node.name in expected_ops
    }
    for name, node in found.items():
        if expected_ops[name] != node.op:
            raise ValueError(
                f"Expected op for node {name} is different. {expected_ops[name]} vs "
                f"{node.op}"
            )
    if expected_ops.keys() != found.keys():
        raise ValueError(
            "Not all expected ops are present. Expected "
            f"{dict(expected_ops).keys()}, found {found.keys()}"
        )
    return found
