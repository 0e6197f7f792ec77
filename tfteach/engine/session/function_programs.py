"""Functions that kernels call: each body is compiled once, as a program of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tfteach.engine.execute.kernel_context import Resources
from tfteach.framework.dtypes import string
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, defined_in
from tfteach.framework.graph import Graph
from tfteach.framework.transaction import outside_transactions, running

Called = Callable[[Sequence[Any]], list[Any]]


class Runs(Protocol):
    """A program, of whichever kind."""

    def run(self, fed: Sequence[Any]) -> Any: ...


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


def _called(body: Body, program: Runs) -> Called:
    run = program.run
    texts = [i for i, t in enumerate(body.outputs) if t.dtype.base_dtype is string]

    def call(arguments: Sequence[Any]) -> list[Any]:
        if running.transaction is None:
            found: list[Any] = run(arguments)
        else:  # what it writes is committed when it returns
            with outside_transactions():
                found = run(arguments)
        for i in texts:
            if not isinstance(found[i], np.ndarray):
                found[i] = np.array(found[i], object)
        return found

    return call
