"""What an eager program uses in place of a magic that asks for a graph or a session."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.graph import Graph
from tfteach.lib.functions.function_spec import FunctionSpec
from tfteach.variables.eager import EagerVariable

INSTEAD = "`%%graph --trace` above a cell draws what it computes, `%%step` replays it."
PIPELINES = (
    "Datasets that are read eagerly have their stages in no graph: make them in a "
    "`with tf.Graph().as_default():` block to see these at work."
)
HERE = f"Ops run eagerly here, without a graph or a session: {INSTEAD}"


def runs_eagerly() -> bool:
    """Whether an op of the next cell would run at once."""
    return get_default_graph().is_eager


def no_session() -> UsageError:
    """The error of a magic that needs an open session."""
    if runs_eagerly():
        return UsageError(HERE)
    return UsageError("There is no open session: make one, sess = tf.Session()")


def check_is_graph(graph: Graph) -> Graph:
    """The graph, unless it is none because ops run eagerly.

    Raises:
      UsageError: it stands for eager execution.
    """
    if graph.is_eager:
        raise UsageError(HERE)
    return graph


def check_has_graph(name: str, value: Any) -> None:
    """Refuse what is in no graph, or in several.

    Args:
      name: what the user calls it.
      value: the user's object.

    Raises:
      UsageError: it was computed eagerly, or has a graph for each trace.
    """
    if isinstance(value, EagerTensor):
        raise UsageError(f"`{name}` has a value, and is in no graph: {INSTEAD}")
    if isinstance(value, EagerVariable):
        raise UsageError(
            f"`{name}` belongs to no graph, but to its Python object, as its value "
            f"does: {INSTEAD}"
        )
    if isinstance(getattr(value, "function_spec", None), FunctionSpec):
        raise UsageError(
            f"`{name}` has a graph for each of its traces: `%trace {name}` shows them."
        )
