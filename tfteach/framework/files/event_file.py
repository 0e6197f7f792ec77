"""Event files: framed Event protos, read by TensorBoard.

Source: core/util/events_writer.cc.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from typing import BinaryIO

from tfteach.framework.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    OpError,
)
from tfteach.framework.files.file_system import open_file
from tfteach.framework.files.records import frame
from tfteach.framework.protos.wire_format import chunk, varint

FILE_VERSION = b"brain.Event:2"

# Fields of a serialized Event: wall_time 1 (double), step 2 (varint); from 3 on they
# are length-delimited.
FILE_VERSION_FIELD, GRAPH_DEF_FIELD, SUMMARY_FIELD = 3, 4, 5
SESSION_LOG_FIELD, TAGGED_RUN_METADATA_FIELD, META_GRAPH_FIELD = 7, 8, 9


def event_bytes(
    field: int, data: bytes, step: int | None = None, wall_time: float | None = None
) -> bytes:
    """A serialized Event with one payload field; its time is the present if None."""
    now = time.time() if wall_time is None else wall_time
    head = b"\x09" + struct.pack("<d", now)
    if step:
        head += b"\x10" + varint(step)
    return head + chunk(varint(field << 3 | 2), data)


class EventFile:
    """An event file that is created with the first event.

    Events are serialized into a buffer, which is written after `max_queue` events,
    after `flush_secs` seconds (checked at each event), and by `flush`.
    """

    def __init__(
        self, logdir: str, max_queue: int, flush_secs: float, suffix: str
    ) -> None:
        self.logdir = logdir
        self.path: str | None = None
        self._file: BinaryIO | None = None
        self._max_queue, self._flush_secs, self._suffix = max_queue, flush_secs, suffix
        self._lock = threading.Lock()
        self._waiting = 0
        self._next_flush = 0.0

    def write(self, event: bytes) -> None:
        """Add a serialized Event."""
        record = frame(event)
        with self._lock:
            file = self._file
            if file is None:
                file = self._open()
            file.write(record)
            self._waiting += 1
            now = time.monotonic()
            if now >= self._next_flush or 0 < self._max_queue <= self._waiting:
                file.flush()
                self._waiting, self._next_flush = 0, now + self._flush_secs

    def _open(self) -> BinaryIO:
        now = seconds = int(time.time())
        while True:
            name = f"events.out.tfevents.{seconds:010d}.{socket.gethostname()}"
            path = os.path.join(self.logdir, name + self._suffix)
            try:
                # "x": an existing file, created in the same second, is not overwritten.
                file = open_file(path, "xb")
                break
            except AlreadyExistsError:
                seconds += 1
            except OpError as error:
                raise FailedPreconditionError(
                    None, None, f"{path}: cannot write event files: {error.message}"
                ) from None
        self.path, self._file = path, file
        version = event_bytes(FILE_VERSION_FIELD, FILE_VERSION, wall_time=now)
        file.write(frame(version))
        return file

    def open(self) -> None:
        """Create the file, if there is none yet."""
        with self._lock:
            if self._file is None:
                self._open()

    def start(self) -> None:
        """Create a complete file without events; `flush_secs` begin now."""
        self.open()
        self.flush()
        self._next_flush = time.monotonic() + self._flush_secs

    def flush(self) -> None:
        """Write what is buffered."""
        with self._lock:
            if self._file is not None:
                self._file.flush()
                self._waiting = 0

    def close(self) -> None:
        """Close the file; a later event starts a new one."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __del__(self) -> None:
        # An unclosed writer still writes its events, so no warning is needed.
        if self._file is not None:
            self._file.close()
