"""Who watches calls of traced functions, such as a view that shows why one traces."""

from __future__ import annotations

from collections.abc import Callable
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
    """

    function: Any
    arguments: Arguments
    concrete: ConcreteFunction
    is_new: bool


class Observers:
    """Who is called for each call.

    Attributes:
      all: the callbacks; none in most programs.
    """

    all: tuple[Callable[[Call], Any], ...] = ()


def observe_calls(callback: Callable[[Call], Any]) -> Callable[[], None]:
    """Call `callback` for each call of a traced function; returns what ends that."""
    Observers.all = (*Observers.all, callback)

    def stop() -> None:
        Observers.all = tuple(o for o in Observers.all if o is not callback)

    return stop
