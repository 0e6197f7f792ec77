"""Writers of event files and databases, as objects of the program in both modes.

Source: python/ops/summary_ops_v2.py (API).
"""

from __future__ import annotations

import getpass
import re
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import PathLike, TensorLike
from tfteach.lib.contrib.summary.recording import current
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.debug.summary_writer_ops import (
    CloseSummaryWriter,
    CreateSummaryDbWriter,
    CreateSummaryFileWriter,
    FlushSummaryWriter,
    SummaryWriter,
)

# The collection of the ops that create the files of a graph's writers.
WRITER_INIT = "_SUMMARY_WRITER_V2"


@export(v2="summary.SummaryWriter")
class WriterInterface(ABC):
    """What writers of summaries have in common."""

    @abstractmethod
    def set_as_default(self) -> None:
        """Let this thread's summaries go to this writer."""

    @abstractmethod
    def as_default(self) -> AbstractContextManager[Any]:
        """A block whose summaries go to this writer."""

    def init(self) -> Operation | None:
        """An op that creates the file."""
        raise NotImplementedError

    def flush(self) -> Operation | None:
        """An op that writes what waits."""
        raise NotImplementedError

    def close(self) -> Operation | None:
        """An op that writes what waits, and closes the file."""
        raise NotImplementedError


class ResourceSummaryWriter(WriterInterface):
    """A writer; `create_file_writer` and `create_db_writer` make it.

    Args:
      shared_name: writers of one name are one.
      create: from the handle, an op that creates the file.
    """

    def __init__(self, shared_name: str, create: Callable[[Tensor], Operation]) -> None:
        self._resource = SummaryWriter(shared_name=shared_name)()
        self._create = create
        self._init_op = create(self._resource)
        graph = get_default_graph()
        if graph.is_eager:
            weakref.finalize(self, self._resource.value.close)  # type: ignore[attr-defined]
        else:
            graph.add_to_collection(WRITER_INIT, self._init_op)

    def set_as_default(self) -> None:
        """Let this thread's summaries go to this writer."""
        current.writer = self

    @contextmanager
    def as_default(self) -> Iterator[ResourceSummaryWriter]:
        """A block whose summaries go to this writer; at its end they are flushed."""
        outer, current.writer = current.writer, self
        try:
            yield self
            self.flush()
        finally:
            current.writer = outer

    def init(self) -> Operation:
        """An op that creates the file."""
        return self._create(self._resource)

    def flush(self) -> Operation | None:
        """An op that writes what waits."""
        return flush(self)

    def close(self) -> Operation | None:
        """An op that writes what waits, and closes the file."""
        with control_dependencies([self.flush()]), get_default_graph().device("cpu:0"):
            return CloseSummaryWriter()(self._resource)


class NoopSummaryWriter(WriterInterface):
    """A writer that writes nothing, for programs without a folder for logs."""

    def set_as_default(self) -> None:
        """No effect."""

    def as_default(self) -> AbstractContextManager[None]:
        """A block that is like any other."""
        return _nothing()

    def init(self) -> None:
        """No effect."""

    flush = close = init


@contextmanager
def _nothing() -> Iterator[None]:
    yield


Writer = ResourceSummaryWriter | NoopSummaryWriter


@export("contrib.summary.create_file_writer")
def create_file_writer(
    logdir: PathLike | None,
    max_queue: TensorLike | None = None,
    flush_millis: TensorLike | None = None,
    filename_suffix: TensorLike | None = None,
    name: str | None = None,
) -> Writer:
    """A writer of an event file.

    In an eager program the file is there at once; in a graph
    `tf.contrib.summary.initialize` creates it.

    Args:
      logdir: the folder; None for a writer that writes nothing.
      max_queue: how many summaries wait at most before they are written; 10 by default.
      flush_millis: how long they wait at most; 120,000 by default.
      filename_suffix: the end of the file's name; ".v2" by default.
      name: writers of one name are one; by default made of `logdir`.

    Returns:
      An object with `as_default()`, `set_as_default()`, `init()`, `flush()`, `close()`.

    Example:
      >>> writer = tf.contrib.summary.create_file_writer("logs")
      >>> with writer.as_default(), tf.contrib.summary.always_record_summaries():
      ...     tf.contrib.summary.scalar("loss", loss)

    Source: python/ops/summary_ops_v2.py.
    """
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with get_default_graph().device("cpu:0"):
        queue = constant(10) if max_queue is None else max_queue
        millis = constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        suffix = constant(".v2") if filename_suffix is None else filename_suffix
        create = partial(
            create_file,
            logdir=logdir,
            max_queue=queue,
            flush_millis=millis,
            suffix=suffix,
        )
        return ResourceSummaryWriter(
            "logdir:" + logdir if name is None else name, create
        )


def create_file(
    writer: Tensor, logdir: Any, max_queue: Any, flush_millis: Any, suffix: Any
) -> Operation:
    """The op that creates the file of the writer with this handle."""
    op = CreateSummaryFileWriter()
    return op(writer, logdir, max_queue, flush_millis, suffix)


@export("contrib.summary.create_db_writer")
def create_db_writer(
    db_uri: TensorLike,
    experiment_name: TensorLike | None = None,
    run_name: TensorLike | None = None,
    user_name: TensorLike | None = None,
    name: str | None = None,
) -> ResourceSummaryWriter:
    """A writer of summaries to a SQLite database.

    Args:
      db_uri: "file:" and the path of the database, which is created if it isn't there.
      experiment_name: the experiment of the run; "" for none, the date by default.
      run_name: the name of the run; "" for none, the time by default.
      user_name: whose experiment it is; by default that of the system's user.
      name: writers of one name are one.

    Returns:
      An object with `as_default()`, `set_as_default()`, `init()`, `flush()`, `close()`.

    Raises:
      ValueError: a name has characters that it must not have.

    Example:
      >>> writer = tf.contrib.summary.create_db_writer("file:logs.sqlite")
      >>> with writer.as_default(), tf.contrib.summary.always_record_summaries():
      ...     tf.contrib.summary.scalar("loss", loss)

    Source: python/ops/summary_ops_v2.py.
    """
    now = time.localtime()
    given = {
        "experiment_name": experiment_name,
        "run_name": run_name,
        "user_name": user_name,
    }
    defaults = {
        "experiment_name": lambda: time.strftime("%Y-%m-%d", now),
        "run_name": lambda: time.strftime("%H:%M:%S", now),
        "user_name": getpass.getuser,
    }
    with get_default_graph().device("cpu:0"):
        names = [
            _checked(key, defaults[key]() if value is None else value)
            for key, value in given.items()
        ]

        def create(writer: Tensor) -> Operation:
            return CreateSummaryDbWriter()(writer, db_uri, *names)

        return ResourceSummaryWriter(name or "", create)


_NAME_PATTERNS = {
    "experiment_name": r"^[^\x00-\x1F<>]{0,256}$",
    "run_name": r"^[^\x00-\x1F<>]{0,512}$",
    "user_name": r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$",
}


def _checked(key: str, value: TensorLike) -> Tensor:
    """A name as a Tensor."""
    pattern = _NAME_PATTERNS[key]
    # TensorFlow lets only users' names be in capitals, too.
    flags = re.IGNORECASE if key == "user_name" else 0
    if isinstance(value, str) and not re.search(pattern, value, flags):
        raise ValueError(f"{key} ({value}) must match {pattern}")
    return convert(value, string)


@export("contrib.summary.flush", v2="summary.flush")
def flush(
    writer: ResourceSummaryWriter | Tensor | None = None, name: str | None = None
) -> Operation:
    """An op that writes what waits in a writer; in an eager program it is done at once.

    Args:
      writer: a writer or its handle; by default that of this thread.
      name: the op's name.
    """
    writer = current.writer if writer is None else writer
    if writer is None:
        return no_op()
    handle = getattr(writer, "_resource", writer)
    with get_default_graph().device("cpu:0"):
        return FlushSummaryWriter()(handle, name=name)
