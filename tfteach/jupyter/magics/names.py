"""Looking up names of ops, tensors, graphs and sessions in arguments of magics."""

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
from tfteach.jupyter.magics.eager_hints import (
    check_has_graph,
    check_is_graph,
    no_session,
)


def element_of(graph: Graph, user_ns: dict[str, Any], name: str) -> Operation | Tensor:
    """The element that a name stands for: an op or tensor, or the user's variable.

    Where `loss` is both an op and the user's variable for its output, the output is
    meant: a run that fetches an op returns None.

    Raises:
      UsageError: there is none; the message suggests similar names.
    """
    given: Any = user_ns.get(name)
    value = given
    if hasattr(value, "_as_graph_element"):  # a variable
        value = value._as_graph_element()
    found = value if isinstance(value, Operation | Tensor) else None
    if getattr(found, "graph", None) is not graph:
        found = None
    known = [op.name for op in graph.get_operations()]
    if name.partition(":")[0] in known:
        if found is not None and found.name == f"{name}:0":
            return found
        return graph.as_graph_element(name)
    if found is not None:
        return found
    check_has_graph(name, given)
    check_is_graph(graph)
    if not known:
        raise UsageError(f"{name!r} is not an op or tensor: the graph is empty.")
    near = did_you_mean(name, known, 0.5)
    raise UsageError(f"{name!r} is not an op or tensor of the graph.{near}")


def fetched_by(graph: Graph, user_ns: dict[str, Any], name: str) -> list[Any]:
    """The elements that a name stands for: of a list or dict, those in it.

    `session.run` takes such structures too. An op of that name precedes.

    Raises:
      UsageError: as for `element_of`.
    """
    inside = _inside(user_ns.get(name))
    if not inside or has_op(graph, name.partition(":")[0]):
        return [element_of(graph, user_ns, name)]
    for value in inside:
        if getattr(value, "graph", None) is not graph:
            kind = type(value).__name__
            raise UsageError(f"{name!r} holds a {kind} that is not in the graph.")
    return [
        value._as_graph_element() if hasattr(value, "_as_graph_element") else value
        for value in inside
    ]


def _inside(value: Any) -> list[Any]:
    """What a list, tuple or dict holds, at any depth; [] if it is none of these."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        return []
    is_flat = [not isinstance(each, list | tuple | dict) for each in value]
    pairs = zip(value, is_flat, strict=True)
    return [
        leaf for each, flat in pairs for leaf in ([each] if flat else _inside(each))
    ]


def did_you_mean(name: str, known: Iterable[str], least: float = 0.6) -> str:
    """ " Did you mean this or that?", or "" if no known name is similar."""
    near = difflib.get_close_matches(name, list(known), 3, least)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def graph_of(user_ns: dict[str, Any], names: Sequence[str]) -> Graph:
    """The graph that these names refer to.

    It is that of the first Python variable among them; else the one that has the first
    name as an op. Of several such graphs the default graph precedes the only one that
    the user's variables refer to (a cell that ran twice has left another).

    Raises:
      UsageError: several graphs have such an op, and nothing decides between them.
    """
    for name in names:
        value = user_ns.get(name)
        for each in _inside(value) or [value]:
            graph = getattr(each, "graph", None)
            if isinstance(graph, Graph):
                return graph
            if each is value:
                check_has_graph(name, value)
    default, op = get_default_graph(), names[0].partition(":")[0] if names else ""
    known = [graph for graph in graphs_at_hand(user_ns) if has_op(graph, op)]
    if default in known or not known:
        return check_is_graph(default)
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
    """The graph itself, or that of a session, op, tensor or variable; else None."""
    if isinstance(value, Graph):
        return value
    is_of_graph = isinstance(value, BaseSession | Operation | Tensor)
    if is_of_graph or hasattr(type(value), "_as_graph_element"):  # a variable
        return getattr(value, "graph", None)  # None of one with a value
    return None


def has_op(graph: Graph, name: str) -> bool:
    """True if the graph has an op of that name."""
    try:
        graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return False
    return True


def graphs_at_hand(user_ns: dict[str, Any]) -> list[Graph]:
    """The default graph, those of open sessions, and those with a Python name."""
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
    """The session of an expression; else the default one; else the only one open.

    Of several open sessions, the only one that has a Python name is meant.

    Raises:
      UsageError: the expression yields no open session, or none can be determined.
    """
    if expression:
        try:
            value = shell.ev(expression)
        except Exception as error:
            near = did_you_mean(expression, sessions_in(shell.user_ns))
            kind = "" if isinstance(error, NameError) else f"{type(error).__name__}: "
            raise UsageError(f"{expression}: {kind}{error}.{near}") from None
        if not isinstance(value, BaseSession):
            raise UsageError(f"{expression} is not a session, but {value!r}")
        if value._closed and not may_be_closed:
            raise UsageError(f"{expression} is closed: make another, tf.Session()")
        return value
    default: BaseSession | None = get_default_session()
    if default is not None:
        return default
    found = open_sessions()
    if len(found) == 1:
        return found[0]
    if not found:
        raise no_session()
    names = sessions_in(shell.user_ns)
    if len(set(names.values())) == 1:  # others were left open without a name
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
