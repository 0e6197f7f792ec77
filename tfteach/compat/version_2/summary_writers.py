"""`tf.compat.v2.summary`: writers, each of a file of its own.

Source: python/ops/summary_ops_v2.py (API, messages).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope, open_init_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.summary.writers import (
    NoopSummaryWriter,
    ResourceSummaryWriter,
    create_file,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.text.string_ops import string_join

_serial = count()


class FileWriter(ResourceSummaryWriter):
    """A writer of one file, which in an eager program ends with `close`."""

    _closed = False

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")

    def set_as_default(self) -> None:
        """Let this thread's summaries go to this writer."""
        self._check_open()
        super().set_as_default()

    @contextmanager
    def as_default(self) -> Iterator[FileWriter]:
        """A block whose summaries go to this writer; at its end they are flushed."""
        self._check_open()
        with super().as_default():
            yield self

    def init(self) -> Operation:
        """The op that creates the file."""
        self._check_open()
        return self._init_op

    def flush(self) -> Operation | None:
        """An op that writes what waits."""
        return None if self._closed else super().flush()

    def close(self) -> Operation | None:
        """An op that writes what waits, and closes the file."""
        if self._closed:
            return None
        try:
            return super().close()
        finally:
            self._closed = get_default_graph().is_eager


@export(v2="summary.create_file_writer")
def create_file_writer_v2(
    logdir: TensorLike,
    max_queue: TensorLike | None = None,
    flush_millis: TensorLike | None = None,
    filename_suffix: TensorLike | None = None,
    name: str | None = None,
) -> FileWriter:
    """A writer of an event file.

    In an eager program, also where a function is traced, the file is there at once; in
    a graph run the writer's `init()`.

    Args:
      logdir: the folder.
      max_queue: how many summaries wait at most before they are written; 10 by default.
      flush_millis: how long they wait at most; 120,000 by default.
      filename_suffix: the end of the file's name; ".v2" by default.
      name: the op's name.

    Returns:
      A `SummaryWriter`.

    Raises:
      ValueError: `logdir` is None, or an argument is a tensor of the function that is
        being traced.

    Example:
      >>> writer = tf.compat.v2.summary.create_file_writer("logs")
      >>> with writer.as_default():
      ...     tf.compat.v2.summary.scalar("loss", 0.5, step=1)

    Source: python/ops/summary_ops_v2.py.
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    given = {
        "logdir": logdir,
        "max_queue": max_queue,
        "flush_millis": flush_millis,
        "filename_suffix": filename_suffix,
    }
    tracing = get_default_graph()
    with (
        name_scope(name, "create_file_writer") as scope,
        open_init_scope(tracing),
        get_default_graph().device("cpu:0"),
    ):
        eager = get_default_graph().is_eager
        if eager:
            _check_eager(given, is_traced=tracing.building_function)
        folder = convert(logdir, string)
        queue = constant(10) if max_queue is None else max_queue
        millis = constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        suffix = constant(".v2") if filename_suffix is None else filename_suffix
        suffix = string_join([f".{os.getpid()}.{next(_serial)}", suffix])
        create = partial(
            create_file,
            logdir=folder,
            max_queue=queue,
            flush_millis=millis,
            suffix=suffix,
        )
        shared_name = f"summary_writer_{next(_serial)}" if eager else scope.rstrip("/")
        return FileWriter(shared_name, create)


def _check_eager(given: dict[str, Any], is_traced: bool) -> None:
    """Raises ValueError: an argument is a tensor of a graph."""
    for name, value in given.items():
        if not isinstance(value, Tensor) or hasattr(value, "numpy"):
            continue
        message = f'Invalid graph Tensor argument "{name}={value}" to '
        if is_traced:
            raise ValueError(
                f"{message}create_file_writer() inside an @tf.function. The create "
                "call will be lifted into the outer eager execution context, so it "
                "cannot consume graph tensors defined inside the function body."
            )
        raise ValueError(f"{message}eagerly executed create_file_writer().")


@export(v2="summary.create_noop_writer")
def create_noop_writer() -> NoopSummaryWriter:
    """A writer that writes nothing."""
    return NoopSummaryWriter()
