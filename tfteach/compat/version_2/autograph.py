"""`tf.compat.v2.autograph`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.lib.autograph.api import to_code, to_graph
from tfteach.lib.autograph.options import Features


@export(v2="autograph.to_code")
def to_code_v2(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Features = None,
) -> str:
    """`tf.autograph.to_code` without `arg_values`, `arg_types`, `indentation`."""
    return to_code(
        entity, recursive, experimental_optional_features=experimental_optional_features
    )


@export(v2="autograph.to_graph")
def to_graph_v2(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Features = None,
) -> Callable[..., Any]:
    """`tf.autograph.to_graph` without `arg_values`, `arg_types`."""
    return to_graph(
        entity, recursive, experimental_optional_features=experimental_optional_features
    )
