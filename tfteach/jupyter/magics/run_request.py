"""The run that a magic's arguments name: its graph, session, fetches and feeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from IPython.core.error import UsageError

from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.feeds import flatten_feeds
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.jupyter.magics.names import (
    element_of,
    fetched_by,
    graph_of,
    session_of,
)
from tfteach.jupyter.magics.options import unquoted

NO_VALUE = object()


class RunRequest(NamedTuple):
    """A run as a magic's arguments name it.

    Attributes:
      graph: the graph.
      fetches: the operations and tensors to fetch.
      feeds: the fed tensors with their values, or with NO_VALUE.
    """

    graph: Graph
    fetches: list[Operation | Tensor]
    feeds: dict[Tensor, Any]

    @property
    def fed(self) -> list[Tensor]:
        """The fed tensors."""
        return list(self.feeds)

    @property
    def feed_dict(self) -> dict[Tensor, Any] | None:
        """The feeds for `session.run`, or None.

        Raises:
          UsageError: one has no value.
        """
        for tensor, value in self.feeds.items():
            if value is NO_VALUE:
                name = tensor.op.name
                raise UsageError(f"--feed {name}: say what to feed, {name}=batch")
        return self.feeds or None


def request_in(shell: Any, session: BaseSession, args: Any) -> RunRequest:
    """The run of a session that `args.fetch`, `.feed` and `.feed_dict` name.

    Raises:
      UsageError: a name is not in the session's graph, or a feed is no feed.
    """
    graph = session.graph
    return RunRequest(
        graph, elements_of(shell, graph, args), feeds_of(shell, graph, args)
    )


def request_of(shell: Any, args: Any) -> RunRequest:
    """The same of a run that needs no session: `args.session` says which graph.

    Raises:
      UsageError: as for `request_in`, or the names may belong to several graphs.
    """
    graph = graph_asked(shell, args.session)
    if graph is None:
        graph = graph_of(shell.user_ns, [unquoted(name) for name in args.fetch])
    return RunRequest(
        graph, elements_of(shell, graph, args), feeds_of(shell, graph, args)
    )


def graph_asked(shell: Any, session: str | None) -> Graph | None:
    """The graph of `--session`; None without that option."""
    return session_of(shell, session, True).graph if session else None


def elements_of(shell: Any, graph: Graph, args: Any) -> list[Operation | Tensor]:
    """The elements of the graph that `args.fetch` names."""
    words: Iterable[str] = args.fetch
    return [
        element
        for word in words
        for element in fetched_by(graph, shell.user_ns, unquoted(word))
    ]


def feeds_of(shell: Any, graph: Graph, args: Any) -> dict[Tensor, Any]:
    """The fed tensors that `--feed` and `--feed-dict` name, with their values.

    Raises:
      UsageError: something cannot be fed.
    """
    check_feeds(args)
    feeds = _from_dict(shell, graph, args.feed_dict) if args.feed_dict else {}
    for word in args.feed:
        text = unquoted(word)
        name, equals, expression = text.partition("=")
        element = element_of(graph, shell.user_ns, name.strip())
        if isinstance(element, Operation):
            if not element.outputs:
                raise UsageError(f"--feed {text}: {element.name} has no output")
            element = element.outputs[0]
        try:
            feeds[element] = shell.ev(expression) if equals else NO_VALUE
        except Exception as error:
            raise UsageError(f"--feed {text}: {error}") from None
    return feeds


def check_feeds(args: Any) -> None:
    """Refuse feeds without fetches.

    Raises:
      UsageError: there are some.
    """
    if args.fetch or not (args.feed or args.feed_dict):
        return
    option = f"--feed {' '.join(args.feed)}" if args.feed else "--feed-dict"
    raise UsageError(
        f"{option} says more of a run: name also what it fetches. All names behind "
        "--feed, up to the next option, are fed."
    )


def _from_dict(shell: Any, graph: Graph, expression: str) -> dict[Tensor, Any]:
    try:
        feed = shell.ev(unquoted(expression))
    except Exception as error:
        raise UsageError(f"--feed-dict {expression}: {error}") from None
    if not isinstance(feed, dict):
        raise UsageError(f"--feed-dict {expression} is not a dict, but {feed!r}")
    try:
        return flatten_feeds(graph, feed)
    except (TypeError, ValueError) as error:
        raise UsageError(f"--feed-dict {expression}: {error}") from None
