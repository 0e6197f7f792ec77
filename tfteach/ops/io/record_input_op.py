"""Batches of records of shuffled TFRecord files, as one op.

Source: core/ops/data_flow_ops.cc, RecordInput; core/kernels/record_yielder.cc (epochs).
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar

from tfteach.framework.errors import (
    NotFoundError,
    OutOfRangeError,
    invalid_argument,
)
from tfteach.framework.files import file_system
from tfteach.framework.files.compression import opened_source
from tfteach.framework.files.os_errors import os_errors_translated
from tfteach.framework.files.records import read_records
from tfteach.framework.op import StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.text.byte_string_arrays import strings


class RecordYielder:
    """Draws records of files in random order, epoch after epoch.

    Each epoch returns each record once, then the next one begins with the files in
    another order.  The order is a function of the seed alone.

    Args:
      paths: the files, sorted.
      seed: of both orders, that of files and that of records.
      shift_ratio: by which part of the list of files each epoch shifts it.
      buffer_size: the number of records to choose from.
      parallelism: the number of files read at a time.
      compression: "", "GZIP" or "ZLIB".
    """

    def __init__(
        self,
        paths: list[str],
        seed: int,
        shift_ratio: float,
        buffer_size: int,
        parallelism: int,
        compression: str,
    ) -> None:
        self._paths, self._shift_ratio = paths, shift_ratio
        self._buffer_size, self._parallelism = buffer_size, parallelism
        self._compression = compression
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._buffer: list[bytes] = []
        self._epoch = 0
        self._records: Iterator[bytes] = iter(())

    def batch(self, size: int) -> list[bytes]:
        """The next `size` records.

        Raises:
          DataLossError: a file is damaged; the records before that were returned.
          OutOfRangeError: an epoch has no record.
        """
        with self._lock:
            return [self._draw() for _ in range(size)]

    def _draw(self) -> bytes:
        self._fill()
        if not self._buffer:
            self._records = self._epoch_records()
            self._fill()
        if not self._buffer:
            raise OutOfRangeError(
                None, None, f"RecordInput: no record in {len(self._paths)} files"
            )
        buffer = self._buffer
        chosen = self._random.randrange(len(buffer))
        buffer[chosen], buffer[-1] = buffer[-1], buffer[chosen]
        return buffer.pop()

    def _fill(self) -> None:
        for record in self._records:
            self._buffer.append(record)
            if len(self._buffer) >= self._buffer_size:
                break

    def _epoch_records(self) -> Iterator[bytes]:
        """The records of an epoch, in turn of those files that are read at a time."""
        paths = list(self._paths)
        self._random.shuffle(paths)
        shift = int(self._shift_ratio * self._epoch * len(paths)) % len(paths)
        self._epoch += 1
        waiting = deque(paths[shift:] + paths[:shift])
        open_files: deque[Iterator[bytes]] = deque()
        while waiting or open_files:
            while waiting and len(open_files) < self._parallelism:
                open_files.append(self._file_records(waiting.popleft()))
            records = open_files.popleft()
            record = next(records, None)
            if record is not None:
                yield record
                open_files.append(records)

    def _file_records(self, path: str) -> Iterator[bytes]:
        with (
            os_errors_translated(path),
            file_system.open_file(path, "rb", buffering=0) as file,
        ):
            yield from read_records(opened_source(file, path, self._compression), path)


class RecordInput(StatefulOp):
    """A batch of records.  Source: data_flow_ops.cc, RecordInput."""

    signature = "-> records: string"
    file_pattern: str
    file_random_seed: int = 301
    file_shuffle_shift_ratio: float = 0.0
    file_buffer_size: int = 10000
    file_parallelism: int = 16
    batch_size: int = 32
    compression_type: str = ""

    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return None

    def compute(self, ctx: KernelContext) -> Any:
        yielder = ctx.resource("record input", ctx.op.name, self._new_yielder)
        return strings(yielder.batch(self.batch_size), (self.batch_size,))

    def _new_yielder(self) -> RecordYielder:
        smallest = {"file_buffer_size": 1, "file_parallelism": 1, "batch_size": 0}
        for name, least in smallest.items():
            found = getattr(self, name)
            if found < least:
                raise invalid_argument(
                    f"RecordInput: {name} must be at least {least}, found {found}"
                )
        patterns = self.file_pattern.split(",")
        paths = sorted(
            {
                path
                for pattern in patterns
                for path in file_system.glob(file_system.resolve(pattern))
            }
        )
        if not paths:
            raise NotFoundError(None, None, f"Found no files at {self.file_pattern}")
        return RecordYielder(
            paths,
            self.file_random_seed,
            self.file_shuffle_shift_ratio,
            self.file_buffer_size,
            self.file_parallelism,
            self.compression_type,
        )

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return []
