"""Datasets of lines and records of files.

Source: core/kernels/data/{text_line,tf_record,fixed_length_record}_dataset_op.cc.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import string
from tfteach.framework.errors import invalid_argument
from tfteach.framework.files.compression import WINDOW_BITS, opened_source
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.os_errors import os_errors_translated
from tfteach.framework.files.records import read_records
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import Dataset, DrawBlock, Running, integer
from tfteach.ops.data.elements import Element
from tfteach.ops.data.sources import SourceOp

_PIECE_BYTES = 1 << 18


class FileRecords(Dataset):
    """The records of files, one file after the other.

    Args:
      names: the files.
      compression: "", "GZIP" or "ZLIB".
      records: the records of an open file of that name.
    """

    def __init__(
        self,
        names: list[bytes],
        compression: str,
        records: Callable[[Any, str], Iterator[bytes]],
    ) -> None:
        self._names, self._compression, self._records = names, compression, records
        self.types = (string,)
        self.component_shapes = ((),)

    def elements(self, running: Running) -> Iterator[Element]:
        elements = RecordElements(self._names, self._open)
        running.add_buffer(elements)
        return elements

    def blocks(self, running: Running) -> DrawBlock:
        elements = RecordElements(self._names, self._open)
        running.add_buffer(elements)
        return elements.block

    def _open(self, name: bytes) -> Generator[bytes]:
        path = resolve(name)
        with os_errors_translated(path), contextlib.ExitStack() as stack:
            file = stack.enter_context(open_file(path, "rb", buffering=0))
            records = self._records(opened_source(file, path, self._compression), path)
            return _closing(records, path, stack.pop_all())


def _closing(
    records: Iterator[bytes], path: str, opened: contextlib.ExitStack
) -> Generator[bytes]:
    with opened, os_errors_translated(path):
        yield from records


class RecordElements:
    """Draws records.

    After an error in a file it continues with the next one; but not if a file cannot be
    opened.
    """

    def __init__(
        self, names: list[bytes], open_records: Callable[[bytes], Generator[bytes]]
    ) -> None:
        self._names = names
        self._next = 0
        self._open = open_records
        self._records: Iterator[bytes] = iter(())
        self._close: Callable[[], None] | None = None

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for record in self._records:
                return (np.array(record, object),)
            if not self._opens_next():
                raise StopIteration

    def block(self, count: int) -> Element | None:
        """The next records, stacked; fewer at the end, and then None."""
        found = list(islice(self._records, count))
        while len(found) < count and self._opens_next():
            found += islice(self._records, count - len(found))
        if not found:
            return None
        block = np.empty(len(found), object)
        block[:] = found
        return (block,)

    def _opens_next(self) -> bool:
        """Open the next file; False if there is none."""
        if self._next == len(self._names):
            return False
        records = self._open(self._names[self._next])
        self._records, self._close = records, records.close
        self._next += 1
        return True

    def drop(self) -> None:
        """Close the file that is being read: the iterator has ended."""
        self._next = len(self._names)
        if self._close is not None:
            with contextlib.suppress(ValueError):  # a thread is reading: it ends soon
                self._close()


def _records(source: Any, path: str) -> Iterator[bytes]:
    return read_records(source, path, ends_in_head=True)


def lines_of(source: Any, path: str) -> Iterator[bytes]:
    """The lines of a file, without a line feed and a carriage return before it."""
    rest = b""
    while piece := source.read(_PIECE_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest.removesuffix(b"\r")


def fixed_records(
    header: int, size: int, footer: int
) -> Callable[[Any, str], Iterator[bytes]]:
    """A function that returns the records of a file: `size` bytes each."""

    def records(source: Any, path: str) -> Iterator[bytes]:
        content = b"".join(iter(lambda: source.read(_PIECE_BYTES), b""))
        body = len(content) - header - footer
        if body < 0 or body % size:
            raise invalid_argument(
                f"Excluding the header ({header} bytes) and footer ({footer} bytes), "
                f'input file "{path}" has body length {body} bytes, which is not an '
                f"exact multiple of the record length ({size} bytes)."
            )
        ends = range(header + size, header + body + 1, size)
        return (content[end - size : end] for end in ends)

    return records


# ---- ops


class FileDatasetOp(SourceOp, abstract=True):
    """Records of files."""

    uses_files: ClassVar[bool] = True

    def compute(self, context: KernelContext, *inputs: Any) -> Dataset:
        made = self.dataset(context, *inputs)
        made.made_by(context.op)
        return made


def file_names(filenames: Array) -> list[bytes]:
    """The files that an input lists.

    Raises:
      InvalidArgumentError: it has more than one axis.
    """
    if filenames.ndim > 1:
        raise invalid_argument(" `filenames` must be a scalar or a vector.")
    return list(filenames.ravel().tolist())


def compression_kind(compression_type: Any) -> str:
    """The compression that an input names.

    Raises:
      InvalidArgumentError: there is no such compression.
    """
    kind = np.asarray(compression_type, object).item().decode()
    if kind and kind not in WINDOW_BITS:
        raise invalid_argument(" Unsupported compression_type.")
    return str(kind)


class TextLineDataset(FileDatasetOp):
    """The lines of files.  Source: dataset_ops.cc, TextLineDataset."""

    signature = (
        "filenames: string, compression_type: string, buffer_size: int64 "
        "-> handle: variant"
    )

    def dataset(
        self, context: KernelContext, names: Array, kind: Any, size: Any
    ) -> Dataset:
        return FileRecords(file_names(names), compression_kind(kind), lines_of)


class TFRecordDataset(FileDatasetOp):
    """The records of TFRecord files.  Source: dataset_ops.cc, TFRecordDataset."""

    signature = (
        "filenames: string, compression_type: string, buffer_size: int64 "
        "-> handle: variant"
    )

    def dataset(
        self, context: KernelContext, names: Array, kind: Any, size: Any
    ) -> Dataset:
        return FileRecords(file_names(names), compression_kind(kind), _records)


class FixedLengthRecordDatasetV2(FileDatasetOp):
    """Records of equal size.  Source: dataset_ops.cc, FixedLengthRecordDatasetV2."""

    signature = (
        "filenames: string, header_bytes: int64, record_bytes: int64, "
        "footer_bytes: int64, buffer_size: int64, compression_type: string "
        "-> handle: variant"
    )

    def dataset(self, context: KernelContext, names: Array, *given: Any) -> Dataset:
        header, size, footer = (integer(value) for value in given[:3])
        if header < 0:
            raise invalid_argument(" `header_bytes` must be >= 0")
        if size <= 0:
            raise invalid_argument(" `record_bytes` must be > 0")
        if footer < 0:
            raise invalid_argument(" `footer_bytes` must be >= 0")
        kind = compression_kind(given[4]) if len(given) > 4 else ""
        records = fixed_records(header, size, footer)
        return FileRecords(file_names(names), kind, records)


class FixedLengthRecordDataset(FixedLengthRecordDatasetV2):
    """The same for files that are not compressed.  Source: dataset_ops.cc."""

    signature = (
        "filenames: string, header_bytes: int64, record_bytes: int64, "
        "footer_bytes: int64, buffer_size: int64 -> handle: variant"
    )
