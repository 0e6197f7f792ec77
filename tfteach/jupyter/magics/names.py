"""Names of ops, tensors, graphs and sessions in magics: looking them up."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from IPython.core.error import UsageError

from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import open_sessions
from tfteach.framework import protos
from tfteach.framework.defaults import get_default_graph, get_default_session
from tfteach.framework.graph import Graph, Operation, Tensor


def element_of(graph: Graph, user_ns: dict[str, Any], name: str) -> Operation | Tensor:
    """What a name stands for: an op or tensor of the graph, or the user's variable.

    Where `loss` is the op of that name and the user's variable for its output, it is
    the output: a run that fetches the op gives nothing.

    Raises:
      UsageError: nothing; it says which names are near.
    """
    value: Any = user_ns.get(name)
    if hasattr(value, "_as_graph_element"):  # a variable
        value = value._as_graph_element()
    is_of_graph = isinstance(value, Operation | Tensor) and value.graph is graph
    known = [op.name for op in graph.get_operations()]
    if name.partition(":")[0] in known:
        if is_of_graph and value.name == f"{name}:0":
            return value
        return graph.as_graph_element(name)
    if is_of_graph:
        return value
    if not known:
        raise UsageError(f"{name!r} is no op or tensor of the graph, which is empty.")
    near = did_you_mean(name, known, 0.5)
    raise UsageError(f"{name!r} is no op or tensor of the graph.{near}")


def did_you_mean(name: str, known: Iterable[str], least: float = 0.6) -> str:
    """ " Did you mean this or that?", or "" if nothing known is near."""
    near = difflib.get_close_matches(name, list(known), 3, least)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def graph_of(user_ns: dict[str, Any], names: Sequence[str]) -> Graph:
    """The graph that is meant where nothing but these names is said.

    It is that of the first Python variable among them; else the one at hand that has
    the first as an op: the default graph before others, then the only one to which
    the user's names lead (a cell that ran twice has left another); else the default.

    Raises:
      UsageError: several graphs have such an op, and nothing says which is meant.
    """
    for name in names:
        value = user_ns.get(name)
        if isinstance(getattr(value, "graph", None), Graph):
            return value.graph  # type: ignore[union-attr]
    default, op = get_default_graph(), names[0].partition(":")[0] if names else ""
    known = [graph for graph in graphs_at_hand(user_ns) if has_op(graph, op)]
    if default in known or not known:
        return default
    in_use = {_graph_behind(value) for value in _values(user_ns)}
    known = [graph for graph in known if graph in in_use] or known
    if len(known) > 1:
        raise UsageError(
            f"{op!r} is an op of {len(known)} graphs: name a tensor by its Python name"
        )
    return known[0]


def _values(user_ns: dict[str, Any]) -> list[Any]:
    return [value for name, value in list(user_ns.items()) if not name.startswith("_")]


def _graph_behind(value: Any) -> Graph | None:
    """A graph, or that of a session, op, tensor or variable; else None."""
    if isinstance(value, Graph):
        return value
    is_of_graph = isinstance(value, BaseSession | Operation | Tensor)
    if is_of_graph or hasattr(type(value), "_as_graph_element"):  # a variable
        return value.graph
    return None


def has_op(graph: Graph, name: str) -> bool:
    """Whether the graph has an op of that name."""
    try:
        graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return False
    return True


def graphs_at_hand(user_ns: dict[str, Any]) -> list[Graph]:
    """The default graph, those of open sessions, and those that have names."""
    named = [value for value in _values(user_ns) if isinstance(value, Graph)]
    of_sessions = [session.graph for session in open_sessions()]
    return list(dict.fromkeys([get_default_graph(), *of_sessions, *named]))


def graphs_in(user_ns: dict[str, Any]) -> list[str]:
    """The user's names of graphs, GraphDefs and sessions."""
    return [
        name
        for name, value in list(user_ns.items())
        if isinstance(value, Graph | protos.GraphDef | BaseSession)
        and not name.startswith("_")
    ]


def session_of(
    shell: Any, expression: str | None, may_be_closed: bool = False
) -> BaseSession:
    """The session that an expression gives; the default one; or the only one open.

    Of several that are open it is the only one that the user has a name for.

    Raises:
      UsageError: it gives none or a closed one, or none is meant.
    """
    if expression:
        try:
            value = shell.ev(expression)
        except Exception as error:
            near = did_you_mean(expression, sessions_in(shell.user_ns))
            kind = "" if isinstance(error, NameError) else f"{type(error).__name__}: "
            raise UsageError(f"{expression}: {kind}{error}.{near}") from None
        if not isinstance(value, BaseSession):
            raise UsageError(f"{expression} is no session, but {value!r}")
        if value._closed and not may_be_closed:
            raise UsageError(f"{expression} is closed: make another, tf.Session()")
        return value
    default = get_default_session()
    if default is not None:
        return default
    found = open_sessions()
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError("There is no open session: make one, sess = tf.Session()")
    names = sessions_in(shell.user_ns)
    if len(set(names.values())) == 1:  # others were left open somewhere
        return next(iter(names.values()))
    raise UsageError(f"Which of {len(found)} sessions? {', '.join(names)}")


def sessions_in(user_ns: dict[str, Any]) -> dict[str, BaseSession]:
    """The user's names of open sessions, in the order of the sessions."""
    found = {
        name: value
        for name, value in user_ns.items()
        if isinstance(value, BaseSession)
        and not value._closed
        and not name.startswith("_")
    }
    return dict(sorted(found.items(), key=lambda pair: pair[1].number))
