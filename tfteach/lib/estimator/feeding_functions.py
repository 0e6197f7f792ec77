"""Queues that fill themselves with the rows of arrays, DataFrames and generators.

Source: tensorflow_estimator/python/estimator/inputs/queues/feeding_functions.py.
"""

from __future__ import annotations

import abc
import inspect
import random
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, float32, int64
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Array, FeedDict
from tfteach.lib.estimator.feeding_queue_runner import FeedingQueueRunner
from tfteach.lib.queues.queue_runner import add_queue_runner
from tfteach.ops.core.placeholder import placeholder
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.queues.queue_base import QueueBase
from tfteach.ops.queues.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue

Examples = Iterator[Mapping[str, Any]]

_EMPTY = "x() must yield dicts; it yielded none"


def _check_count(placeholders: Sequence[Any], expected: int) -> None:
    if len(placeholders) != expected:
        raise ValueError(f"Expected {expected} placeholders; got {len(placeholders)}.")


class RowFeedFn(abc.ABC):
    """Feeds `batch_size` rows a call, from the first row on or from a random one.

    Args:
      placeholders: what to feed: the rows' numbers, then each column.
      length: the number of rows.
      batch_size: the rows of a call; the last call may feed fewer.
      random_start: whether to start at a random row.
      seed: the seed of that row.
      num_epochs: how often to go through the rows; None for ever.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        length: int,
        batch_size: int,
        random_start: bool,
        seed: int | None,
        num_epochs: int | None,
    ) -> None:
        self._placeholders = placeholders
        self._length, self._batch_size, self._num_epochs = (
            length,
            batch_size,
            num_epochs,
        )
        self._left = None if num_epochs is None else num_epochs * length
        self._row = 0
        if random_start:
            self._row = random.Random(seed).randint(0, length - 1)

    def __call__(self) -> FeedDict:
        """The next feeds.

        Raises:
          OutOfRangeError: all epochs were fed.
        """
        count = (
            self._batch_size
            if self._left is None
            else min(self._batch_size, self._left)
        )
        if count == 0:
            raise OutOfRangeError(
                None, None, f"Already emitted {self._num_epochs} epochs."
            )
        rows = np.arange(self._row, self._row + count) % self._length
        self._row = (self._row + count) % self._length
        if self._left is not None:
            self._left -= count
        return dict(zip(self._placeholders, self._values(rows), strict=True))

    @abc.abstractmethod
    def _values(self, rows: Array) -> list[Any]:
        """What to feed for some rows."""


class ArrayFeedFn(RowFeedFn):
    """Feeds the rows of an array; for the arguments see `RowFeedFn`.

    Raises:
      ValueError: there are not two placeholders.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        array: Array,
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
    ) -> None:
        if len(placeholders) != 2:
            raise ValueError(
                f"_array_feed_fn expects 2 placeholders; got {len(placeholders)}."
            )
        self._array = array
        super().__init__(
            placeholders, len(array), batch_size, random_start, seed, num_epochs
        )

    def _values(self, rows: Array) -> list[Any]:
        return [rows, self._array[rows]]


class OrderedDictNumpyFeedFn(RowFeedFn):
    """Feeds the rows of several arrays; for the arguments see `RowFeedFn`.

    Raises:
      ValueError: the arrays' lengths differ, or the number of placeholders is wrong.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        ordered_dict_of_arrays: Mapping[str, Array],
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
    ) -> None:
        self._arrays = list(ordered_dict_of_arrays.values())
        _check_count(placeholders, len(self._arrays) + 1)
        if len({len(array) for array in self._arrays}) > 1:
            raise ValueError("Array lengths must match.")
        length = len(self._arrays[0])
        super().__init__(
            placeholders, length, batch_size, random_start, seed, num_epochs
        )

    def _values(self, rows: Array) -> list[Any]:
        return [rows, *(array[rows] for array in self._arrays)]


class PandasFeedFn(RowFeedFn):
    """Feeds a DataFrame's index and columns; for the arguments see `RowFeedFn`.

    Raises:
      ValueError: the number of placeholders is wrong.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        dataframe: Any,
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
    ) -> None:
        _check_count(placeholders, len(dataframe.columns) + 1)
        self._index = dataframe.index.to_numpy()
        self._columns = [dataframe[name].to_numpy() for name in dataframe.columns]
        super().__init__(
            placeholders, len(dataframe), batch_size, random_start, seed, num_epochs
        )

    def _values(self, rows: Array) -> list[Any]:
        return [self._index[rows], *(column[rows] for column in self._columns)]


class GeneratorFeedFn:
    """Feeds the examples of a generator, of about `batch_size` values a call.

    Only the beginning of a call counts the epochs: each call feeds equally many
    examples, if need be the next epoch's first ones.

    Args:
      placeholders: what to feed: each key of the examples, in order.
      generator: a function that returns an iterator of dicts.
      batch_size: the least number of values of a call, as TensorFlow counts: examples
        times keys.
      random_start, seed: have no effect, as in TensorFlow.
      num_epochs: how often to call the function; None for ever.
      pad_value: what fills arrays up to the largest of a call.

    Raises:
      ValueError: the number of placeholders is wrong.
      KeyError: the keys of examples differ.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        generator: Callable[[], Examples],
        batch_size: int,
        random_start: bool = False,
        seed: int | None = None,
        num_epochs: int | None = None,
        pad_value: Any = None,
    ) -> None:
        del random_start, seed
        self._keys = sorted(_first_example(generator))
        _check_count(placeholders, len(self._keys))
        self._placeholders = placeholders
        self._generator, self._examples = generator, generator()
        # TensorFlow counts values, of which each example has one for each key.
        self._count, self._num_epochs = -(-batch_size // len(self._keys)), num_epochs
        self._pad_value = pad_value
        self._epoch, self._is_empty = 0, True

    def __call__(self) -> FeedDict:
        """The next feeds.

        Raises:
          OutOfRangeError: all epochs were fed.
        """
        if self._num_epochs is not None and self._epoch >= self._num_epochs:
            raise OutOfRangeError(
                None, None, f"Already emitted {self._num_epochs} epochs."
            )
        rows = [self._next() for _ in range(self._count)]
        columns = [[row[key] for row in rows] for key in self._keys]
        if self._pad_value is not None:
            columns = [pad_if_needed(column, self._pad_value) for column in columns]
        values = [np.asarray(column) for column in columns]
        return dict(zip(self._placeholders, values, strict=True))

    def _next(self) -> Mapping[str, Any]:
        row = next(self._examples, None)
        while row is None:
            if self._is_empty:
                raise ValueError(_EMPTY)
            self._epoch += 1
            self._examples, self._is_empty = self._generator(), True
            row = next(self._examples, None)
        self._is_empty = False
        if sorted(row) != self._keys:
            raise KeyError(
                f"key mismatch between dicts emitted by GenFunExpected {self._keys} "
                f"keys; got {sorted(row)}"
            )
        return row


def _first_example(generator: Callable[[], Examples]) -> Mapping[str, Any]:
    for example in generator():
        return example
    raise ValueError(_EMPTY)


def fill_array(arr: Array, seq: Any, fillvalue: Any = 0) -> None:
    """Write nested sequences of several lengths into an array, and fill it up."""
    if arr.ndim == 1:
        count = len(seq)
        arr[:count] = seq
        arr[count:] = fillvalue
        return
    for part, row in zip(arr, seq, strict=False):
        fill_array(part, row, fillvalue)
    arr[len(seq) :] = fillvalue


def pad_if_needed(batch_key_item: Sequence[Array], fillvalue: Any = 0) -> Any:
    """Arrays as one, filled up to the largest of their last sizes.

    Raises:
      ValueError: they differ in other sizes.
    """
    shapes = [array.shape for array in batch_key_item]
    if len(set(shapes)) == 1:
        return batch_key_item
    if len({(len(shape), shape[:-1]) for shape in shapes}) > 1:
        raise ValueError("Array shapes must match.")
    sizes = np.max(shapes, axis=0)
    found = np.empty((len(batch_key_item), *sizes), batch_key_item[0].dtype)
    for part, array in zip(found, batch_key_item, strict=True):
        fill_array(part, array, fillvalue)
    return found


def enqueue_data(
    data: Any,
    capacity: int,
    shuffle: bool = False,
    min_after_dequeue: int | None = None,
    num_threads: int = 1,
    seed: int | None = None,
    name: str = "enqueue_input",
    enqueue_size: int = 1,
    num_epochs: int | None = None,
    pad_value: Any = None,
) -> QueueBase:
    """A queue of the rows of some data, which queue runners fill.

    Args:
      data: an array, an OrderedDict of arrays, a pandas DataFrame, or a function that
        returns an iterator of dicts of arrays.  A row comes after its number, that of a
        DataFrame after its index; examples of a generator have no number.
      capacity: the queue's capacity.
      shuffle: whether the queue shuffles; rows then start at a random one.
      min_after_dequeue: how many rows remain to be shuffled; None for a quarter of the
        capacity.
      num_threads: the threads that fill it, each with all rows.
      seed: the seed of shuffling, and of the rows to start at.
      name: the name scope.
      enqueue_size: the rows of one enqueuing.
      num_epochs: how often each thread goes through the rows; None for ever.
      pad_value: for a generator of arrays whose last sizes differ, what fills up the
        smaller ones of a batch; without shuffling only.

    Returns:
      The queue.

    Raises:
      TypeError: `data` is something else.
      NotImplementedError: shuffling with `pad_value`, as in TensorFlow.

    Source: tensorflow_estimator/python/estimator/inputs/queues/feeding_functions.py.
    """
    with name_scope(name):
        types, shapes, feed_fn, options = _kind_of(data, pad_value)
        options |= {"random_start": shuffle, "num_epochs": num_epochs}
        _warn(shuffle, num_threads, num_epochs)
        queue, least = _queue(
            types, shapes, capacity, shuffle, min_after_dequeue, seed, pad_value
        )
        ops, feed_fns = [], []
        for number in range(1, num_threads + 1):
            held = [placeholder(kind) for kind in types]
            ops.append(queue.enqueue_many(held))
            options["seed"] = None if seed is None else number * seed
            feed_fns.append(feed_fn(held, data, enqueue_size, **options))
        add_queue_runner(FeedingQueueRunner(queue, ops, feed_fns=feed_fns))
        fraction = cast(maximum(0, queue.size() - least), float32) * (
            1.0 / (capacity - least)
        )
        full = f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full"
        scalar(full, fraction)
        return queue


def _kind_of(
    data: Any, pad_value: Any
) -> tuple[list[DType], list[Sequence[int | None]], Callable[..., Any], dict[str, Any]]:
    """Types and shapes of a row, the class that feeds it, and its further options."""
    if isinstance(data, np.ndarray):
        return [int64, as_dtype(data.dtype)], [(), data.shape[1:]], ArrayFeedFn, {}
    if isinstance(data, OrderedDict):
        arrays = list(data.values())
        types = [int64, *(as_dtype(array.dtype) for array in arrays)]
        shapes = [(), *(array.shape[1:] for array in arrays)]
        return types, shapes, OrderedDictNumpyFeedFn, {}
    if inspect.isfunction(data):
        first = _first_example(data)
        values = [first[key] for key in sorted(first)]
        sizes: list[Sequence[int | None]] = [value.shape for value in values]
        if pad_value is not None:
            sizes = [[*size[:-1], None] if size else size for size in sizes]
        types = [as_dtype(value.dtype) for value in values]
        return types, sizes, GeneratorFeedFn, {"pad_value": pad_value}
    check_frame(data)
    found = [data.index, *(data[name] for name in data.columns)]
    types = [as_dtype(column.to_numpy().dtype) for column in found]
    return types, [() for _ in types], PandasFeedFn, {}


def check_frame(data: Any) -> None:
    """Raise an error if it is no DataFrame; pandas is not imported for that."""
    if not all(hasattr(data, name) for name in ("index", "columns", "iloc")):
        raise TypeError(
            "data must be either a numpy array or pandas DataFrame if pandas is "
            f"installed; got {type(data).__name__}"
        )


def _warn(shuffle: bool, num_threads: int, num_epochs: int | None) -> None:
    if num_threads <= 1:
        return
    warn = get_logger().warning
    if num_epochs is not None:
        warn(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs "
            "is applied per thread, so this will produce more epochs than you probably "
            "intend. If you want to limit epochs, use one thread."
        )
    if not shuffle:
        warn(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will "
            "create multiple threads, all reading the array/dataframe in order. If you "
            "want examples read in order, use one thread; if you want multiple "
            "threads, enable shuffling."
        )
    elif num_epochs is not None:
        warn(
            "enqueue_data was called with shuffle=True, num_threads > 1, and "
            "num_epochs. This will create multiple threads, all reading the "
            "array/dataframe in order adding to the same shuffling queue; the results "
            "will likely not be sufficiently shuffled."
        )


def _queue(
    types: Sequence[DType],
    shapes: Sequence[Sequence[int | None]],
    capacity: int,
    shuffle: bool,
    min_after_dequeue: int | None,
    seed: int | None,
    pad_value: Any,
) -> tuple[QueueBase, int]:
    """The queue, and how many elements remain in it to be shuffled."""
    if pad_value is not None:
        if shuffle:
            raise NotImplementedError(
                "padding and shuffling data at the same time is not implemented"
            )
        return PaddingFIFOQueue(capacity, types, shapes), 0
    if not shuffle:
        return FIFOQueue(capacity, types, shapes), 0
    least = capacity // 4 if min_after_dequeue is None else min_after_dequeue
    return RandomShuffleQueue(capacity, least, types, shapes, seed=seed), least
