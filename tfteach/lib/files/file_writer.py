"""`tf.summary.FileWriter`: writes graphs, summaries and run metadata to event files.

Source: python/summary/writer/{writer,event_file_writer,writer_cache}.py.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, ClassVar

from tfteach.framework.export import export
from tfteach.framework.files import event_file as events
from tfteach.framework.files import file_system
from tfteach.framework.files.event_file import EventFile, event_bytes
from tfteach.framework.files.file_system import resolve
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graphdef.graph_def import graph_bytes
from tfteach.framework.graphdef.meta_graph import (
    add_collections,
    meta_info,
    op_types_of,
)
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.protos.pool import message
from tfteach.framework.protos.wire_format import chunk
from tfteach.framework.type_aliases import PathLike, Proto, SessionLike, TensorLike
from tfteach.lib.files import (
    meta_graph as meta_graph,  # registers the protos of collections
)


def _is_message(value: Any, name: str) -> bool:
    return getattr(getattr(value, "DESCRIPTOR", None), "name", None) == name


def _meta_graph(graph: Any, data: bytes) -> bytes:
    """A MetaGraphDef of the same nodes, which TF writes with the first graph.

    Its collections are those of the default graph, whichever graph is written.
    """
    if isinstance(graph, Graph):
        op_types = {op.type for op in graph.operations}
    else:
        op_types = op_types_of(graph)
    rest = message("MetaGraphDef")(meta_info_def=meta_info(op_types))
    add_collections(rest, get_default_graph())
    result: bytes = rest.SerializeToString() + chunk(b"\x12", data)
    return result


@export("summary.FileWriter")
class FileWriter:
    """Writes event files for `tensorboard --logdir LOGDIR`.

    Args:
      logdir: the directory; created if missing.
      graph: a Graph to write immediately.
      max_queue: the number of events to buffer before writing.
      flush_secs: the maximum number of seconds to buffer them.
      graph_def: deprecated, a GraphDef instead of `graph`.
      filename_suffix: the end of the file's name.
      session: not implemented.

    Example:
      >>> with tf.summary.FileWriter("logs/run1", session.graph) as writer:
      ...     writer.add_summary(session.run(merged), step)

    Source: python/summary/writer/writer.py.
    """

    def __init__(
        self,
        logdir: PathLike,
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Proto | None = None,
        filename_suffix: str | None = None,
        session: SessionLike | None = None,
    ) -> None:
        require_graph(
            "tf.summary.FileWriter is not compatible with eager execution. Use "
            "tf.contrib.summary instead."
        )
        if session is not None:
            raise NotImplementedError(
                "FileWriter(session=...) is not implemented: omit it, summaries "
                "are written by this process"
            )
        self._logdir = resolve(logdir)
        file_system.makedirs(self._logdir)
        self._file = EventFile(
            self._logdir, max_queue, flush_secs, filename_suffix or ""
        )
        self._closed = False
        self._seen_tags: set[str] = set()
        self._session_run_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            data = self._write_graph(graph, graph_def, None)
            given = graph_def if graph is None else graph
            self._write(events.META_GRAPH_FIELD, _meta_graph(given, data), None)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory of the event files."""
        return self._logdir

    def _write(self, field: int, data: bytes, step: Any) -> None:
        if self._is_closed():
            return
        self._file.write(event_bytes(field, data, None if step is None else int(step)))

    def _is_closed(self) -> bool:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop "
                "unless the FileWriter is explicitly reopened.",
                stacklevel=4,
            )
        return self._closed

    def add_summary(self, summary: Any, global_step: TensorLike | None = None) -> None:
        """Write a summary.

        A tag's metadata is written only with its first value.

        Args:
          summary: the result of running a summary op (bytes), or a Summary proto.
          global_step: the step recorded for TensorBoard.

        Raises:
          TypeError: `summary` is neither.
          DecodeError: the bytes are not a Summary.
        """
        if not isinstance(summary, bytes) and not _is_message(summary, "Summary"):
            raise TypeError(
                "add_summary accepts a serialized Summary (the result of running a "
                f"summary op) or a Summary proto, got {type(summary).__name__}"
            )
        from tfteach.framework.protos import Summary

        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        for value in summary.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._seen_tags:
                value.ClearField("metadata")
            self._seen_tags.add(value.tag)
        self._write(events.SUMMARY_FIELD, summary.SerializeToString(), global_step)

    def add_graph(
        self,
        graph: Graph,
        global_step: TensorLike | None = None,
        graph_def: Proto | None = None,
    ) -> None:
        """Write a graph, for TensorBoard's Graphs.

        Args:
          graph: a Graph.
          global_step: a step to record with it.
          graph_def: deprecated, a GraphDef instead of `graph`.

        Raises:
          ValueError: both are given.
          TypeError: neither is a Graph or a GraphDef.
        """
        self._write_graph(graph, graph_def, global_step)

    def _write_graph(self, graph: Graph | None, graph_def: Any, step: Any) -> bytes:
        if graph is not None and graph_def is not None:
            raise ValueError(
                "Please pass only graph, or graph_def (deprecated), but not both."
            )
        given = graph_def if graph is None else graph
        if isinstance(given, Graph):
            data = graph_bytes(given, add_shapes=True)
        elif _is_message(given, "GraphDef"):
            get_logger().warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. "
                "Pass a `Graph` object instead, such as `sess.graph`."
            )
            data = given.SerializeToString()
        else:
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated "
                f"`GraphDef`, got {type(given).__name__}"
            )
        self._write(events.GRAPH_DEF_FIELD, data, step)
        return data

    def add_meta_graph(
        self, meta_graph_def: Proto, global_step: TensorLike | None = None
    ) -> None:
        """Write a MetaGraphDef.

        Args:
          meta_graph_def: a MetaGraphDef proto.
          global_step: a step to record with it.

        Raises:
          TypeError: it is not a MetaGraphDef.
        """
        if not _is_message(meta_graph_def, "MetaGraphDef"):
            raise TypeError(
                "meta_graph_def must be type MetaGraphDef, saw type: "
                f"{type(meta_graph_def)}"
            )
        data = meta_graph_def.SerializeToString()
        self._write(events.META_GRAPH_FIELD, data, global_step)

    def add_run_metadata(
        self, run_metadata: Proto, tag: str, global_step: TensorLike | None = None
    ) -> None:
        """Write a traced run's recorded times and memory, for TensorBoard's Graphs.

        Args:
          run_metadata: a RunMetadata proto.
          tag: its name in TensorBoard, used only once.
          global_step: a step to record with it.

        Raises:
          ValueError: the tag has been used before.
        """
        if tag in self._session_run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._session_run_tags.add(tag)
        data = chunk(b"\x0a", tag.encode())
        data += chunk(b"\x12", run_metadata.SerializeToString())
        self._write(events.TAGGED_RUN_METADATA_FIELD, data, global_step)

    def add_session_log(
        self, session_log: Any, global_step: TensorLike | None = None
    ) -> None:
        """Write a SessionLog proto: that a session started, stopped or saved."""
        self._write(
            events.SESSION_LOG_FIELD, session_log.SerializeToString(), global_step
        )

    def add_event(self, event: Any) -> None:
        """Write an Event proto unchanged."""
        if not self._is_closed():
            self._file.write(event.SerializeToString())

    def flush(self) -> None:
        """Write the buffered events to the file."""
        if not self._is_closed():
            self._file.flush()

    def close(self) -> None:
        """Flush and close the file; later events are dropped, with a warning.

        `reopen` starts a new file.
        """
        self._file.close()
        self._closed = True

    def reopen(self) -> None:
        """Continue after `close`, in a new file of the same directory."""
        self._closed = False


@export("summary.FileWriterCache")
class FileWriterCache:
    """One FileWriter per directory, shared by parts of a program."""

    # Creates the writers; tests replace it.
    writer_class: ClassVar[Any] = FileWriter
    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock: ClassVar[threading.RLock] = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Close and discard all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of `logdir`; a new one is created with the default graph."""
        with FileWriterCache._lock:
            writer: FileWriter | None = FileWriterCache._cache.get(logdir)
            if writer is None:
                writer = FileWriterCache.writer_class(logdir, graph=get_default_graph())
                FileWriterCache._cache[logdir] = writer
            return writer
