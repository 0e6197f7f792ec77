"""A run's fetches and feeds, resolved; with its program, they are cached as a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.session.feeds import Converter, converter_for, flatten_feeds
from tfteach.engine.session.fetches import Fetches
from tfteach.engine.session.planner import AnyProgram
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import FeedDict


class Plan(NamedTuple):
    """A resolved combination of fetches and feeds, with its program."""

    program: AnyProgram
    converters: tuple[Converter, ...]
    result: Callable[[Sequence[Any]], Any]  # from the fetched values
    mutations: int


class Asked(NamedTuple):
    """The fetches and feeds of a run, flattened."""

    fetches: Fetches
    fed: tuple[Tensor, ...]
    converters: tuple[Converter, ...]
    arrays: list[Any]


def resolved(graph: Graph, fetches: Any, feed_dict: FeedDict | None) -> Asked:
    """The arguments of `Session.run`, flattened and checked against the graph.

    Raises:
      RuntimeError: the graph is empty.
      TypeError: a fetch or a feed key is of a wrong kind.
      ValueError: a fetch or feed is not of this graph, or a fed value does not fit.
    """
    if graph.version == 0:
        raise RuntimeError(
            "The Session graph is empty.  Add operations to the graph before calling "
            "run(). Ops that were built in another graph, by %%graph or in a `with` "
            "block, are run by tf.Session(graph=that_graph)."
        )
    # Feeds first, as in TF: their errors take precedence.
    fed = flatten_feeds(graph, feed_dict) if feed_dict else {}
    converters = tuple(converter_for(tensor) for tensor in fed)
    arrays = [c(v) for c, v in zip(converters, fed.values(), strict=True)]
    return Asked(Fetches(graph, fetches), tuple(fed), converters, arrays)
