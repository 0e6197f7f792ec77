"""Whether summaries are recorded, by which writer, at which step: of each thread.

Source: python/ops/summary_ops_v2.py (names).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.training.global_step import get_or_create_global_step
from tfteach.ops.math.compare import equal, logical_and

Condition = bool | Tensor | Callable[[], bool | Tensor] | None


class _Current(threading.local):
    """What a thread has set.

    Attributes:
      writer: where summaries go; None for nowhere.
      condition: whether they are recorded; None if nobody has said.
      step: their step; None if nobody has said.
    """

    writer: Any = None
    condition: Condition = None
    step: TensorLike | None = None


current = _Current()


@export(v2="summary.record_if")
@contextmanager
def record_if(condition: Condition) -> Iterator[None]:
    """A block that records summaries where the condition holds.

    Args:
      condition: a bool, a bool scalar Tensor, or a function that returns one, which is
        called for each summary.

    Example:
      >>> with tf.compat.v2.summary.record_if(lambda: step % 100 == 0):
      ...     train()
    """
    outer, current.condition = current.condition, condition
    try:
        yield
    finally:
        current.condition = outer


def is_recorded(default: bool) -> Tensor:
    """Whether summaries are recorded, a bool scalar Tensor.

    Args:
      default: the answer if nobody has said.
    """
    condition = current.condition
    if callable(condition) and not isinstance(condition, Tensor):
        condition = condition()
    return logical_and(True, default if condition is None else condition)


@export("contrib.summary.should_record_summaries")
def should_record_summaries() -> Tensor:
    """Whether summaries are recorded, a bool scalar Tensor; False by default."""
    return is_recorded(default=False)


@export("contrib.summary.always_record_summaries")
def always_record_summaries() -> AbstractContextManager[None]:
    """A block that records all summaries."""
    return record_if(True)


@export("contrib.summary.never_record_summaries")
def never_record_summaries() -> AbstractContextManager[None]:
    """A block that records no summaries."""
    return record_if(False)


@export("contrib.summary.record_summaries_every_n_global_steps")
def record_summaries_every_n_global_steps(
    n: int, global_step: TensorLike | None = None
) -> AbstractContextManager[None]:
    """A block that records summaries at each n-th step.

    Args:
      n: how many steps lie between two summaries.
      global_step: the step, an int scalar; the graph's global step by default.
    """
    step: Any = get_or_create_global_step() if global_step is None else global_step
    graph = get_default_graph()
    with graph.device("cpu:0"):
        if graph.is_eager:
            return record_if(lambda: equal(step % n, 0))
        return record_if(equal(step % n, 0))


@export(v2="summary.experimental.get_step")
def get_step() -> TensorLike | None:
    """The step of this thread's summaries, as `set_step` got it; or None."""
    return current.step


@export(v2="summary.experimental.set_step")
def set_step(step: TensorLike | None) -> None:
    """Set the step of this thread's summaries.

    Args:
      step: an int scalar, or a variable, which `tf.function` reads anew in each call;
        None for no step.
    """
    current.step = step
