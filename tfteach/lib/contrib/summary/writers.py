"""Summary writers, and which one is in effect, and when.

Source: python/ops/summary_ops_v2.py.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

from tfteach.framework.defaults import get_default_session
from tfteach.framework.eager_tensor import ANONYMOUS
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import SessionLike, TensorLike
from tfteach.lib.training.global_step import get_or_create_global_step
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.debug.summary_writer_ops import (
    CloseSummaryWriter,
    CreateSummaryFileWriter,
    FlushSummaryWriter,
)
from tfteach.ops.debug.summary_writer_ops import (
    SummaryWriter as SummaryWriterOp,
)
from tfteach.ops.math.compare import equal, logical_and

_QUEUE, _FLUSH_MILLIS = 10, 2 * 60 * 1000
_INITIALIZERS = "_SUMMARY_WRITER_V2"


class _InEffect(threading.local):
    """The writer of this thread, and whether summaries are recorded."""

    def __init__(self) -> None:
        self.writer: SummaryWriter | None = None
        self.condition: Any = None


_in_effect = _InEffect()


def default_writer() -> SummaryWriter | None:
    """The writer that is in effect; None if there is none."""
    return _in_effect.writer


@export("contrib.summary.SummaryWriter")
class SummaryWriter:
    """Writes summaries to an event file; made by `create_file_writer`.

    Args:
      shared_name: the name that sessions share it by.
      create: makes the op that opens the file of a handle.

    Source: python/ops/summary_ops_v2.py.
    """

    def __init__(self, shared_name: str, create: Callable[[Any], Any]) -> None:
        graph = get_default_graph()
        name = ANONYMOUS if graph.is_eager else shared_name
        self._resource: Any = SummaryWriterOp(name)()
        self._create = create
        opened = create(self._resource)
        if not graph.is_eager:
            graph.add_to_collection(_INITIALIZERS, opened)

    def set_as_default(self) -> None:
        """Use it for the summaries of this thread from now on."""
        _in_effect.writer = self

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """A block whose summaries it writes; it is flushed at the end."""
        before, _in_effect.writer = _in_effect.writer, self
        try:
            yield self
            self.flush()
        finally:
            _in_effect.writer = before

    def init(self) -> Operation:
        """Open the file: an Operation, None in an eager program."""
        opened: Operation = self._create(self._resource)
        return opened

    def flush(self) -> Operation:
        """Write what is buffered: an Operation, None in an eager program."""
        return flush(self)

    def close(self) -> Operation:
        """Flush and close the file: an Operation, None in an eager program."""
        graph = get_default_graph()
        with graph.control_dependencies([self.flush()]), graph.device("cpu:0"):
            return CloseSummaryWriter()(self._resource)


class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing."""

    def __init__(self) -> None:
        pass

    def set_as_default(self) -> None:
        """No effect."""

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """A block that it does not affect."""
        yield self

    def init(self) -> Any:
        """No effect."""

    def flush(self) -> Any:
        """No effect."""

    def close(self) -> Any:
        """No effect."""


@export("contrib.summary.create_file_writer")
@export("contrib.summary.create_summary_file_writer")
def create_file_writer(
    logdir: Any,
    max_queue: TensorLike | None = None,
    flush_millis: TensorLike | None = None,
    filename_suffix: TensorLike | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of event files for `tensorboard --logdir LOGDIR`.

    Args:
      logdir: the folder; None for a writer that writes nothing.
      max_queue: the number of events to buffer (10).
      flush_millis: the longest time that an event is buffered (120,000).
      filename_suffix: the end of the file's name (".v2").
      name: the name that sessions share it by; that of the folder if None.

    Example:
      >>> writer = tf.contrib.summary.create_file_writer("logs/eager")
      >>> step = tf.train.get_or_create_global_step()
      >>> with writer.as_default(), tf.contrib.summary.always_record_summaries():
      ...     written = tf.contrib.summary.scalar("loss", 0.5)

    Source: python/ops/summary_ops_v2.py.
    """
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with get_default_graph().device("cpu:0"):
        queue = constant(_QUEUE) if max_queue is None else max_queue
        millis = constant(_FLUSH_MILLIS) if flush_millis is None else flush_millis
        suffix = constant(".v2") if filename_suffix is None else filename_suffix

        def create(writer: Any) -> Any:
            return CreateSummaryFileWriter()(writer, logdir, queue, millis, suffix)

        return SummaryWriter("logdir:" + logdir if name is None else name, create)


@export("contrib.summary.flush")
def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Operation:
    """Write what a writer has buffered to its file.

    Args:
      writer: the writer; the one in effect if None.
      name: the op's name.

    Returns:
      An Operation; None in an eager program.

    Source: python/ops/summary_ops_v2.py.
    """
    writer = _in_effect.writer if writer is None else writer
    if writer is None or isinstance(writer, NoopSummaryWriter):
        return no_op()
    with get_default_graph().device("cpu:0"):
        return FlushSummaryWriter()(writer._resource, name=name)


# ---- when


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A block that records summaries if a condition holds.

    Args:
      condition: a bool, a bool Tensor, or a function that returns one.
    """
    before, _in_effect.condition = _in_effect.condition, condition
    try:
        yield
    finally:
        _in_effect.condition = before


@export("contrib.summary.always_record_summaries")
def always_record_summaries() -> AbstractContextManager[None]:
    """A block that records summaries.  Source: python/ops/summary_ops_v2.py."""
    return record_if(True)


@export("contrib.summary.never_record_summaries")
def never_record_summaries() -> AbstractContextManager[None]:
    """A block that records no summaries.  Source: python/ops/summary_ops_v2.py."""
    return record_if(False)


@export("contrib.summary.record_summaries_every_n_global_steps")
def record_summaries_every_n_global_steps(
    n: int, global_step: TensorLike | None = None
) -> AbstractContextManager[None]:
    """A block that records summaries at each n-th step.

    Args:
      n: the number of steps.
      global_step: the step; the global step if None.

    Source: python/ops/summary_ops_v2.py.
    """
    step: Any = get_or_create_global_step() if global_step is None else global_step
    with get_default_graph().device("cpu:0"):
        should = functools.partial(_is_multiple, step, n)
        return record_if(should if get_default_graph().is_eager else should())


def _is_multiple(step: Any, n: int) -> Tensor:
    return equal(step % n, 0)


@export("contrib.summary.should_record_summaries")
def should_record_summaries() -> Tensor:
    """Whether summaries are recorded here, a bool Tensor.

    Source: python/ops/summary_ops_v2.py.
    """
    condition = _in_effect.condition
    found = condition() if callable(condition) else condition
    return logical_and(True, False if found is None else found)


def known_condition() -> bool | None:
    """Whether summaries are recorded here, if the program says so; else None."""
    condition = _in_effect.condition
    if condition is None:
        return False
    return condition if isinstance(condition, bool) else None


# ---- graphs


@export("contrib.summary.summary_writer_initializer_op")
def summary_writer_initializer_op() -> list[Operation]:
    """The Operations that open the files of all writers of the graph.

    Raises:
      RuntimeError: in an eager program.

    Source: python/ops/summary_ops_v2.py.
    """
    if get_default_graph().is_eager:
        raise RuntimeError(
            "tf.contrib.summary.summary_writer_initializer_op is only supported in "
            "graph mode."
        )
    return get_default_graph().get_collection(_INITIALIZERS)


@export("contrib.summary.initialize")
def initialize(graph: Graph | None = None, session: SessionLike | None = None) -> None:
    """Open the files of all writers; no effect in an eager program.

    Args:
      graph: a graph to write, for TensorBoard's Graphs; or None.
      session: the session; the default session if None.

    Raises:
      RuntimeError: no writer is in effect.
      ValueError: there is no session.

    Source: python/ops/summary_ops_v2.py.
    """
    from tfteach.lib.contrib.summary.summaries import write_graph

    if get_default_graph().is_eager:
        return
    if _in_effect.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        write_graph(graph, session)
