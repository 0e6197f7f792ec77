"""Who is told of each op: the tapes of this thread, from which gradients are computed.

An op is recorded when it has run eagerly, or when it was added to a graph.  Gradients
of what was recorded: `autodiff/gradient_tape.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from tfteach.framework.operation import Operation, Tensor


class Tape(Protocol):
    """Records the ops that depend on the tensors it watches."""

    def record(self, op: Operation) -> None:
        """Called after each op of the thread, with its inputs and outputs."""

    def record_more_outputs(self, op: Operation, outputs: Sequence[Tensor]) -> None:
        """Called when an op that was recorded has got more outputs."""

    def record_variable(self, variable: Any) -> None:
        """Called when a variable is read."""

    def record_function(
        self,
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        backward: Callable[..., Any],
    ) -> None:
        """Called for a computation that has a gradient function of its own."""


class Traversal:
    """A tape that is traversed backward, to compute gradients.

    Attributes:
      tape: the tape.
      results: of the computation whose gradient is computed now.
    """

    __slots__ = ("results", "tape")

    def __init__(self, tape: Tape, results: Sequence[Tensor]) -> None:
        self.tape, self.results = tape, results


class _Tapes(threading.local):
    """What the tapes of a thread do.

    Attributes:
      active: those that record now, the outermost first.
      backward: the traversal that computes gradients now, or None.
    """

    active: Sequence[Tape] = ()
    backward: Traversal | None = None


tapes = _Tapes()


def record(op: Operation) -> None:
    """Notify the tapes of an op that has run, or was added to a graph."""
    for tape in tapes.active:
        tape.record(op)


def record_variable(variable: Any) -> None:
    """Notify the tapes that a variable is read."""
    for tape in tapes.active:
        tape.record_variable(variable)


def record_more_outputs(op: Operation, outputs: Sequence[Tensor]) -> None:
    """Notify the tapes that a recorded op has got more outputs."""
    for tape in tapes.active:
        tape.record_more_outputs(op, outputs)


def record_function(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], backward: Callable[..., Any]
) -> None:
    """Notify the tapes of a computation that has a gradient function of its own.

    Args:
      outputs: the results.
      inputs: what they depend on.
      backward: from the gradients of the outputs to those of the inputs.
    """
    for tape in tapes.active:
        tape.record_function(outputs, inputs, backward)


def record_same(copy: Tensor, tensor: Tensor) -> None:
    """Notify the tapes that a tensor of a function's body stands for an outer one.

    Each time that it is used, as a tape may have begun after the first time.
    """
    record_function([copy], [tensor], lambda grad: [grad])


@contextmanager
def stop_recording() -> Iterator[None]:
    """A block whose ops no tape records."""
    saved, tapes.active = tapes.active, ()
    try:
        yield
    finally:
        tapes.active = saved
