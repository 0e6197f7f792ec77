"""Elements prepared by a thread.

Source: core/kernels/data/prefetch_dataset_op.cc.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import Dataset, DatasetOp, Element, Rows, Running, integer
from tfteach.ops.data.file_cache import CachedInFile
from tfteach.ops.data.mapping import AUTOTUNE
from tfteach.ops.data.selection import OfOne

_AUTOTUNED_SIZE = 2
END = object()


class Prefetched(OfOne):
    """The elements of a dataset, prepared ahead.

    Rows of arrays need no preparation.
    """

    def __init__(self, source: Dataset, size: int) -> None:
        self.inputs = (source,)
        self.size = size

    def rows(self, running: Running) -> Rows:
        return self.inputs[0].rows(running)

    def elements(self, running: Running) -> Iterator[Element]:
        source = self.inputs[0]
        elements = source.elements(running)
        if self.size == 0 or source.table is not None:
            return elements
        size = _AUTOTUNED_SIZE if self.size == AUTOTUNE else self.size
        return Prefetch(elements, size)


class Buffer:
    """What a thread and its consumer share.

    Attributes:
      items: elements, and exceptions in their place.
      size: the most elements to prepare.
      has_ended: no more elements follow.
      is_dropped: nobody wants any.
    """

    def __init__(self, size: int) -> None:
        self.items: deque[Any] = deque()
        self.size = size
        self.changed = threading.Condition(threading.Lock())
        self.has_ended = False
        self.is_dropped = False

    def drop(self) -> None:
        """End the thread."""
        with self.changed:
            self.is_dropped = True
            self.items.clear()
            self.changed.notify_all()


def fill(buffer: Buffer, prefetch: weakref.ref[Prefetch]) -> None:
    """The thread's work: draw elements while there is room.

    While it waits it holds no reference to the iterator, which refers to the session.
    """
    while True:
        with buffer.changed:
            while len(buffer.items) >= buffer.size and not buffer.is_dropped:
                buffer.changed.wait()
            if buffer.is_dropped:
                return
        item = drawn(prefetch)
        with buffer.changed:
            if buffer.is_dropped:
                return
            if item is END:
                buffer.has_ended = True
            else:
                buffer.items.append(item)
            buffer.changed.notify_all()
            if buffer.has_ended:
                return
        del item


def drawn(prefetch: weakref.ref[Prefetch]) -> Any:
    """The next element, the exception in its place, or `END`."""
    alive = prefetch()
    if alive is None:
        return END
    try:
        return next(alive.source)
    except StopIteration:
        return END
    except BaseException as error:
        return error


class Prefetch:
    """An iterator over the elements that a thread draws.

    The thread starts with the first request, and ends with the elements or with this
    object.
    """

    def __init__(self, source: Iterator[Element], size: int) -> None:
        self.source = source
        self.buffer = Buffer(size)
        self._has_started = False
        weakref.finalize(self, self.buffer.drop)

    @property
    def buffered(self) -> tuple[int, int]:
        """The number of prepared elements, and the most there may be."""
        return len(self.buffer.items), self.buffer.size

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        buffer = self.buffer
        if not self._has_started:
            self._has_started = True
            threading.Thread(
                target=fill,
                args=(buffer, weakref.ref(self)),
                daemon=True,
                name="tfteach-prefetch",
            ).start()
        with buffer.changed:
            while not buffer.items:
                if buffer.has_ended or buffer.is_dropped:
                    raise StopIteration
                buffer.changed.wait()
            item = buffer.items.popleft()
            buffer.changed.notify_all()
        if isinstance(item, BaseException):
            raise item
        return item  # type: ignore[no-any-return]


class PrefetchDataset(DatasetOp):
    """Elements prepared ahead.  Source: dataset_ops.cc, PrefetchDataset."""

    signature = "input_dataset: variant, buffer_size: int64 -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    slack_period: int = 0
    legacy_autotune: bool = True
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"buffer_size": 0}

    def dataset(self, context: KernelContext, source: Dataset, size: Any) -> Dataset:
        count = integer(size)
        if count < AUTOTUNE:
            raise invalid_argument(
                "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"
            )
        return Prefetched(source, count)


class Cached(OfOne):
    """The elements of the first complete epoch, kept in memory."""

    def __init__(self, source: Dataset) -> None:
        self.inputs = (source,)
        # The elements or the row numbers of an epoch, once there was a complete one.
        self._complete: list[Any] = []

    def rows(self, running: Running) -> Rows:
        return RecordedRows(self.inputs[0], self._complete, running)

    def elements(self, running: Running) -> Iterator[Element]:
        if self.table is not None:
            return super().elements(running)
        if self._complete:
            return iter(self._complete[0])
        return _Recording(self.inputs[0].elements(running), self._complete)


class RecordedRows(Rows):
    """Row numbers, recorded in the first epoch."""

    def __init__(self, source: Dataset, complete: list[Any], running: Running) -> None:
        self._complete = complete
        self._rows = None if complete else source.rows(running)
        self._parts: list[Array] = []
        self._at = 0

    def take(self, count: int) -> Array:
        if self._rows is None:
            found = self._complete[0][self._at : self._at + count]
            self._at += len(found)
            return found  # type: ignore[no-any-return]
        found = self._rows.take(count)
        if len(found):
            self._parts.append(found)
        elif not self._complete:
            empty = [np.empty(0, np.int64)]
            self._complete.append(np.concatenate(self._parts or empty))
        return found


class _Recording:
    def __init__(
        self, source: Iterator[Element], complete: list[list[Element]]
    ) -> None:
        self._source, self._complete = source, complete
        self._found: list[Element] = []

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        for element in self._source:
            self._found.append(element)
            return element
        if not self._complete:
            self._complete.append(self._found)
        raise StopIteration


class CacheDataset(DatasetOp):
    """The elements of the first epoch.  Source: dataset_ops.cc, CacheDataset."""

    signature = "input_dataset: variant, filename: string -> handle: variant"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {"filename": 0}

    def dataset(
        self, context: KernelContext, source: Dataset, filename: Any
    ) -> Dataset:
        path = np.asarray(filename, object).item().decode("utf-8", "surrogateescape")
        return CachedInFile(source, path) if path else Cached(source)
