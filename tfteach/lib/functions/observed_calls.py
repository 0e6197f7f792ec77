"""Who watches calls of traced functions, such as a view that shows why one traces."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tfteach.lib.functions.concrete_function import ConcreteFunction
    from tfteach.lib.functions.function_spec import Arguments


class Call(NamedTuple):
    """A call of a traced function, for those who watch it trace.

    Attributes:
      function: what was called: a `PolymorphicFunction`, or a `TracedFunction`.
      arguments: with what.
      concrete: the trace that ran.
      is_new: whether it was made for this call.
      tracing_s: how long that took, in seconds; 0.0 if it was there.
      made_variables: whether the function was traced once more before, to create its
        variables.
      at_end: callbacks for the end of the call; each receives the seconds that the
        trace ran, or that took to add it to a graph.
    """

    function: Any
    arguments: Arguments
    concrete: ConcreteFunction
    is_new: bool
    tracing_s: float
    made_variables: bool
    at_end: list[Callable[[float], Any]]


class Observers:
    """Who is called for each call.

    Attributes:
      all: the callbacks; none in most programs.
    """

    all: tuple[Callable[[Call], Any], ...] = ()


def run_observed(call: Call) -> Any:
    """Tell the observers of a call, and run it."""
    for observer in Observers.all:
        observer(call)
    began_s = perf_counter()
    try:
        return call.concrete.call_flat(call.arguments.tensors)
    finally:
        elapsed_s = perf_counter() - began_s
        for callback in call.at_end:
            callback(elapsed_s)


def observe_calls(callback: Callable[[Call], Any]) -> Callable[[], None]:
    """Call `callback` for each call of a traced function; returns what ends that."""
    Observers.all = (*Observers.all, callback)

    def stop() -> None:
        Observers.all = tuple(o for o in Observers.all if o is not callback)

    return stop
