"""Thread-local stacks of default graphs and sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tfteach.framework.export import export_value
from tfteach.framework.type_aliases import SessionLike

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []


_STACKS = _Stacks()
_global_graph: Graph | None = None
# What ops are added to outside all `with graph.as_default()` blocks, if it is not the
# global graph: in an eager program ops run there at once.
_outermost: Graph | None = None
_new_graph: Callable[[], Graph]


def get_default_graph() -> Graph:
    """What new ops are added to: the innermost default graph of this thread.

    Outside all blocks that set one it is the global graph, or in an eager program the
    one that `is_eager`, which runs ops at once.
    """
    graphs = _STACKS.graphs
    return graphs[-1] if graphs else (_outermost or _global_default())


def public_default_graph() -> Graph:
    """The default graph of this thread, for building a graph.

    Where ops run eagerly, it is the global graph, as in TensorFlow.

    Example:
      >>> tf.get_default_graph() is tf.constant(1.0).graph
      True
    """
    graph = get_default_graph()
    return _global_default() if graph.is_eager else graph


def set_outermost(graph: Graph | None) -> None:
    """Choose what ops are added to outside all blocks; None for the global graph."""
    global _outermost
    _outermost = graph


def outermost() -> Graph | None:
    """What `set_outermost` has chosen."""
    return _outermost


def has_default_graph() -> bool:
    """Whether this thread has set a default graph."""
    return bool(_STACKS.graphs)


def _global_default() -> Graph:
    global _global_graph
    if _global_graph is None:
        _global_graph = _new_graph()
    return _global_graph


def is_program_started() -> bool:
    """Whether something was built in the global graph, or its seed was set."""
    graph = _global_graph
    return graph is not None and (graph.version > 0 or graph.seed is not None)


def is_global_default(graph: Graph) -> bool:
    """Whether `graph` is the one that `reset_default_graph` replaces."""
    return graph is _global_graph


def set_graph_class(cls: Callable[[], Graph]) -> None:
    """Register the class of the global default graph; called by framework/graph.py."""
    global _new_graph
    _new_graph = cls


def reset_default_graph() -> None:
    """Replace the global default graph by an empty one.

    Raises:
      AssertionError: inside a `with graph.as_default()` block.
    """
    global _global_graph
    if not all(graph.is_eager for graph in _STACKS.graphs):
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need "
            "a cleared graph, exit the nesting and create a new graph. Here a `with` "
            "block, a session or %%graph has opened one already: leave this line out."
        )
    _global_graph = None


@contextmanager
def default_graph(graph: Graph) -> Iterator[Graph]:
    """Make `graph` the default within the block."""
    with _pushed(_STACKS.graphs, graph):
        yield graph


def get_default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return _STACKS.sessions[-1] if _STACKS.sessions else None


@contextmanager
def default_session(session: SessionLike | None) -> Iterator[Any]:
    """Make `session` the default within the block."""
    with _pushed(_STACKS.sessions, session):
        yield session


@contextmanager
def _pushed(stack: list[Any], item: Any) -> Iterator[None]:
    stack.append(item)
    try:
        yield
    finally:
        if stack[-1] is not item:
            raise AssertionError(
                f"Nesting violated: {item!r} is not the innermost default; leave the "
                "blocks in the reverse order of entering them."
            )
        stack.pop()


def push_session(session: SessionLike | None, graph: Graph | None) -> None:
    """Make a session (and its own graph, if given) the default until it is removed."""
    _STACKS.sessions.append(session)
    if graph is not None:
        _STACKS.graphs.append(graph)


def remove_session(session: SessionLike | None, graph: Graph | None) -> None:
    """Undo `push_session`, wherever in the stacks the two are by now."""
    if session in _STACKS.sessions:
        _STACKS.sessions.remove(session)
    if graph is not None and graph in _STACKS.graphs:
        _STACKS.graphs.remove(graph)


export_value(
    __name__,
    public_default_graph="get_default_graph",
    reset_default_graph="reset_default_graph",
)
