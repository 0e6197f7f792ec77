"""Functions that kernels call: each body is compiled once, as a program of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.program import StepObserver
from tfteach.framework.dtypes import string
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, defined_in
from tfteach.framework.graph import Graph
from tfteach.framework.transaction import outside_transactions, running

Called = Callable[[Sequence[Any]], list[Any]]
# Called with a function's body before each call of it; returns observers of its ops.
Follow = Callable[[Body], Sequence[StepObserver]]

# The threads whose calls are followed.
_followed: dict[int, Follow] = {}


@contextmanager
def following(follow: Follow | None) -> Iterator[None]:
    """Follow the functions that kernels call in this thread.

    Args:
      follow: returns the observers of a call; None to follow none.
    """
    thread = threading.get_ident()
    before = _followed.get(thread)
    if follow is not None:
        _followed[thread] = follow
    try:
        yield
    finally:
        if before is None:
            _followed.pop(thread, None)
        else:
            _followed[thread] = before


class Runs(Protocol):
    """A program, of whichever kind."""

    def run(
        self, fed: Sequence[Any], observers: Sequence[StepObserver] = ()
    ) -> Any: ...


class FunctionPrograms:
    """The programs of one session's functions, by body.

    Args:
      compile_body: compiles a body, with the session's resources, for the session.
    """

    def __init__(self, compile_body: Callable[[Body, Resources, Any], Runs]) -> None:
        self._compile = compile_body
        self._lock = threading.RLock()
        self._called: dict[int, tuple[Body, Resources, Called]] = {}

    def get(
        self, function: Function, graph: Graph, resources: Resources, session: Any
    ) -> Called:
        """A Python function of the arrays of the arguments.

        Args:
          function: which, and the values of its attributes.
          graph: the graph whose library it is in.
          resources: the session's variables and other state.
          session: the session.

        Returns:
          A function of a list of arrays, for the arguments and the captures, which
          returns a list of arrays.  Threads can call it concurrently.

        Raises:
          NotFoundError: the function is not in the library.
        """
        body = defined_in(graph, function).body(function)
        found = self._called.get(id(body))
        if found is not None and found[1] is resources:
            return found[2]
        with self._lock:
            program = self._compile(body, resources, session)
            called = _called(body, program)
            self._called[id(body)] = body, resources, called  # keeps the id taken
            return called

    def clear(self) -> None:
        """Forget the programs, and with them the resources that they use."""
        with self._lock:
            self._called.clear()


def _observers(body: Body) -> Sequence[StepObserver]:
    follow = _followed.get(threading.get_ident())
    return () if follow is None else follow(body)


def _called(body: Body, program: Runs) -> Called:
    run = program.run
    texts = [i for i, t in enumerate(body.outputs) if t.dtype.base_dtype is string]

    def call(arguments: Sequence[Any]) -> list[Any]:
        # Called for each element of a dataset: nearly always, nothing is followed.
        observers = _observers(body) if _followed else ()
        if running.transaction is None:
            found: list[Any] = run(arguments, observers)
        else:  # what it writes is committed when it returns
            with outside_transactions():
                found = run(arguments, observers)
        for i in texts:
            if not isinstance(found[i], np.ndarray):
                found[i] = np.array(found[i], object)
        return found

    return call
