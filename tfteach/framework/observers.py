"""Observers of graphs: notified when ops are added and sessions run.

`Graph.observe` observes one graph, `observe_all` all graphs. `observe_lifetimes` tells
when graphs are made, and sessions opened and closed.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph
    from tfteach.framework.operation import Operation, Tensor


class OpAdded(NamedTuple):
    """An operation was added to the graph."""

    op: Operation


class OpRan(NamedTuple):
    """An op has run eagerly.

    Attributes:
      op: the call, with its inputs and outputs, which have values.
      elapsed_s: how long its kernel took, in seconds.
      name: its name, with the open scopes; other calls may have the same.
      error: the exception that its kernel raised, or None.
      given_name: the name that the caller gave, or None.
    """

    op: Operation
    elapsed_s: float
    name: str
    error: Exception | None = None
    given_name: str | None = None


class SessionRun(NamedTuple):
    """A session is about to run a part of the graph.

    Attributes:
      session: the session.
      fetches, feeds: as graph elements.
      at_end: callbacks for the end of the run; each receives the
        error that ended the run, or None.
      run_metadata: the caller's RunMetadata, filled in by the end; None if not given.
      followers: the engine's step observers; one that is added follows this run,
        instruction by instruction.
    """

    session: Any
    fetches: tuple[Operation | Tensor, ...]
    feeds: tuple[Tensor, ...]
    at_end: list[Callable[[BaseException | None], Any]]
    run_metadata: Any
    followers: list[Any]


class RunRefused(NamedTuple):
    """A session refused a run before it began: nothing of it was executed.

    Attributes:
      session: the session; it may be closed.
      fetches, feed_dict: as the caller wrote them.
      error: why.
    """

    session: Any
    fetches: Any
    feed_dict: Any
    error: Exception


# Of an OpAdded or a SessionRun; eagerly, of an OpRan or a FunctionRun.
Observer = Callable[[Any], Any]


class GraphMade(NamedTuple):
    """A graph was made; it is still empty."""

    graph: Graph


class SessionOpened(NamedTuple):
    """A session was made.

    Attributes:
      session: the session.
      began_s: when its constructor was called, by `time.perf_counter`.
    """

    session: Any
    began_s: float


class SessionClosed(NamedTuple):
    """A session was closed. It may be on its way out of memory, so it is only named.

    Attributes:
      number: its `number`.
      is_dropped: nobody called `close`: nothing referred to it any longer.
    """

    number: int
    is_dropped: bool


class InputsMade(NamedTuple):
    """An estimator called its input function, before the model's.

    Attributes:
      graph: the graph that it builds.
      mode: what for, a `tf.estimator.ModeKeys`.
      features: the features, a nested structure of Tensors.
    """

    graph: Graph
    mode: str
    features: Any


Lived = GraphMade | SessionOpened | SessionClosed | InputsMade
LifetimeObserver = Callable[[Lived], Any]


class Subscription:
    """A listening observer; `close()` ends it."""

    def __init__(self, graph: Graph, callback: Observer) -> None:
        self._graph, self._callback = graph, callback

    def close(self) -> None:
        _stop(self._graph, self._callback)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stop(graph: Graph, callback: Observer) -> None:
    with graph.lock:
        graph.observers = tuple(o for o in graph.observers if o is not callback)


_graphs: weakref.WeakSet[Graph] = weakref.WeakSet()
_everywhere: tuple[Observer, ...] = ()  # observers of graphs created from now on


@contextmanager
def observe_all(callback: Observer) -> Iterator[None]:
    """Call `callback` for events of any graph, including those created inside."""
    global _everywhere
    _everywhere = (*_everywhere, callback)
    for graph in list(_graphs):
        with graph.lock:
            graph.observers = (*graph.observers, callback)
    try:
        yield
    finally:
        _everywhere = tuple(o for o in _everywhere if o is not callback)
        for graph in list(_graphs):
            _stop(graph, callback)


_of_refusals: tuple[Callable[[RunRefused], Any], ...] = ()


@contextmanager
def observe_refusals(callback: Callable[[RunRefused], Any]) -> Iterator[None]:
    """Call `callback` for each run that any session refuses."""
    global _of_refusals
    _of_refusals = (*_of_refusals, callback)
    try:
        yield
    finally:
        _of_refusals = tuple(o for o in _of_refusals if o is not callback)


def announce_refusal(event: RunRefused) -> None:
    """Notify the observers of refusals."""
    for observer in _of_refusals:
        observer(event)


def observers_of_new(graph: Graph) -> tuple[Observer, ...]:
    """The observers of a graph since its creation."""
    _graphs.add(graph)
    announce_lifetime(GraphMade(graph))
    return _everywhere


_of_lifetimes: tuple[LifetimeObserver, ...] = ()


@contextmanager
def observe_lifetimes(callback: LifetimeObserver) -> Iterator[None]:
    """Call `callback` for every graph made, and session opened or closed, inside."""
    global _of_lifetimes
    _of_lifetimes = (*_of_lifetimes, callback)
    try:
        yield
    finally:
        _of_lifetimes = tuple(o for o in _of_lifetimes if o is not callback)


def announce_lifetime(event: Lived) -> None:
    """Notify the observers of lifetimes."""
    for observer in _of_lifetimes:
        observer(event)
