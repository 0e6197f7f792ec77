"""Caches of datasets in files: checkpoints of the elements, as TensorFlow writes them.

Source: core/kernels/data/cache_dataset_ops.cc, FileDataset.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Iterator
from typing import Any

from tfteach.framework.errors import AlreadyExistsError
from tfteach.framework.files import file_system
from tfteach.framework.files.tensor_bundle import BundleReader, index_path
from tfteach.framework.files.tensor_bundle_writer import BundleWriter
from tfteach.ops.data.dataset import Dataset, Running
from tfteach.ops.data.elements import Element, text_array

_NUMBER_WIDTH = 7  # of an element's number in its keys


def key_of(number: int, component: int, components: int) -> str:
    """The name in the checkpoint of a component of an element."""
    width = len(str(components - 1))
    return f"{number:{_NUMBER_WIDTH}d}_{component:{width}d}"


class CachedInFile(Dataset):
    """The elements of the first complete epoch, kept in files.

    Args:
      source: a dataset.
      prefix: of the files' names.
    """

    def __init__(self, source: Dataset, prefix: str) -> None:
        self.inputs = (source,)
        self.prefix = file_system.resolve(prefix)

    def cardinality(self) -> int:
        return self.inputs[0].cardinality()

    def elements(self, running: Running) -> Iterator[Element]:
        if file_system.exists(index_path(self.prefix)):
            return self._read()
        return Writing(self.inputs[0].elements(running), self.prefix)

    def _read(self) -> Iterator[Element]:
        count = len(self.types)
        with BundleReader(self.prefix) as reader:
            number = 0
            while key_of(number, 0, count) in reader:
                keys = (key_of(number, i, count) for i in range(count))
                yield tuple(_kept(reader.read(key)) for key in keys)
                number += 1


def _kept(array: Any) -> Any:
    return array if array.ndim else text_array(array[()])


class Writing:
    """Passes the elements on and writes them; the files exist after the last one."""

    def __init__(self, source: Iterator[Element], prefix: str) -> None:
        self._source, self._prefix = source, prefix
        self._writer: BundleWriter | None = None
        self._release: Any = None
        self._number = 0

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if self._release is None:
            self._begin()
        element = next(self._source, None)
        if self._writer is None:
            if element is None:
                raise StopIteration
            return element
        if element is None:
            self._writer.finish()
            self._writer = None
            self._release()
            raise StopIteration
        for i, array in enumerate(element):
            self._writer.add(key_of(self._number, i, len(element)), array)
        self._number += 1
        return element

    def _begin(self) -> None:
        lock = f"{self._prefix}_0.lockfile"
        if file_system.exists(lock):
            content = file_system.read_file(lock).decode("utf-8", "replace")
            raise AlreadyExistsError(
                None,
                None,
                "There appears to be a concurrent caching iterator running - cache "
                f"lockfile already exists ('{lock}'). If you are sure no other running "
                "TF computations are using this cache prefix, delete the lockfile and "
                f"re-initialize the iterator. Lockfile contents: {content}",
            )
        self._writer = BundleWriter(self._prefix)
        with file_system.open_file(lock, "wb") as file:
            file.write(f"Created at: {int(time.time())}".encode())
        self._release = weakref.finalize(self, _abandon, self._writer, lock)


def _abandon(writer: BundleWriter, lock: str) -> None:
    """Delete the lock, and what was written if it is not complete."""
    with contextlib.suppress(Exception):
        writer.discard()
    with contextlib.suppress(OSError):
        os.remove(lock)
