"""Names of ops and tensors in magics: looking them up, and completing them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from IPython.core.error import UsageError

from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.framework.stacks import get_default_graph, get_default_session
from tfteach.session.base import BaseSession
from tfteach.session.session import open_sessions


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
    near = difflib.get_close_matches(name, known, 3, 0.5)
    advice = f" Did you mean {' or '.join(near)}?" if near else ""
    raise UsageError(f"{name!r} is no op or tensor of the graph.{advice}")


def graph_of(user_ns: dict[str, Any], names: Sequence[str]) -> Graph:
    """The graph of the first Python variable among `names`; else the default graph."""
    for name in names:
        value = user_ns.get(name)
        if isinstance(getattr(value, "graph", None), Graph):
            return value.graph  # type: ignore[union-attr]
    return get_default_graph()


def session_of(shell: Any, expression: str | None) -> BaseSession:
    """The session that an expression gives; the default one; or the only one open.

    Of several that are open it is the only one that the user has a name for.

    Raises:
      UsageError: it gives none, or none is meant.
    """
    if expression:
        try:
            value = shell.ev(expression)
        except NameError as error:
            near = difflib.get_close_matches(expression, sessions_in(shell.user_ns))
            advice = f". Did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"{error}{advice}") from None
        if not isinstance(value, BaseSession):
            raise UsageError(f"{expression} is no session, but {value!r}")
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


def complete_names(shell: Any, *magics: str) -> None:
    """Complete names of the default graph's ops after these magics ("%why")."""

    def names(_: Any, event: Any) -> list[str]:
        ops = get_default_graph().get_operations()
        return [op.name for op in ops if op.name.startswith(event.symbol)]

    for magic in magics:
        shell.set_hook("complete_command", names, str_key=magic)
