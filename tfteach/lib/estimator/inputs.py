"""`tf.estimator.inputs`: input functions from arrays and from pandas.

Source: tensorflow_estimator/python/estimator/inputs/{numpy_io,pandas_io}.py,
inputs/queues/{feeding_functions,feeding_queue_runner}.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, float32, int64
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Array, FeedDict
from tfteach.lib.queues.queue_runner import QueueRunner, add_queue_runner
from tfteach.ops.core.placeholder import placeholder
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.queues.queue_base import QueueBase
from tfteach.ops.queues.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue

# The keys of what is no dict.
_DIRECT, _TARGET = "__direct_np_input__", "__target_key__"


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose threads feed each run.

    Args:
      queue: the queue.
      enqueue_ops: one op for each thread.
      feeds: for each op a function that returns an iterator of feed dicts; its end is
        that of the input.
    """

    def __init__(
        self,
        queue: QueueBase,
        enqueue_ops: list[Operation],
        feeds: list[Callable[[], Iterator[FeedDict]]],
    ) -> None:
        super().__init__(queue, enqueue_ops)
        self._feeds = dict(zip(enqueue_ops, feeds, strict=True))

    def _enqueue_call(self, sess: Any, enqueue_op: Operation) -> Callable[[], Any]:
        feeds = self._feeds[enqueue_op]()

        def call() -> None:
            feed_dict = next(feeds, None)
            if feed_dict is None:
                raise OutOfRangeError(None, None, "Already emitted all epochs.")
            sess.run(enqueue_op, feed_dict=feed_dict)

        return call

    def to_proto(self, export_scope: str | None = None) -> NoReturn:
        """Not possible: the fed arrays are no part of a graph."""
        raise NotImplementedError(
            "Queue runners that feed Python's arrays cannot be exported with a graph."
        )


def _rows(
    length: int, size: int, epochs: int | None, random_start: bool
) -> Iterator[Array]:
    """The rows of each run: `size` of them from the first, or a random one, on."""
    row = random.randint(0, length - 1) if random_start else 0
    left = None if epochs is None else epochs * length
    while left is None or left > 0:
        count = size if left is None else min(size, left)
        yield np.arange(row, row + count) % length
        row = (row + count) % length
        left = None if left is None else left - count


def _enqueued(
    columns: Mapping[str, Array],
    capacity: int,
    shuffle: bool,
    threads: int,
    size: int,
    epochs: int | None,
) -> QueueBase:
    """A queue of the columns' rows, each behind its number, that fills itself."""
    arrays = list(columns.values())
    return filled_queue(
        [int64, *(as_dtype(a.dtype) for a in arrays)],
        [(), *(a.shape[1:] for a in arrays)],
        lambda held: _feeds_of(held, arrays, size, epochs, shuffle),
        capacity,
        shuffle,
        threads,
    )


def filled_queue(
    types: Sequence[DType],
    shapes: Sequence[Sequence[int | None]],
    feeds_of: Callable[[list[Tensor]], Callable[[], Iterator[FeedDict]]],
    capacity: int,
    shuffle: bool,
    threads: int,
) -> QueueBase:
    """A queue that threads fill with arrays.

    Args:
      types, shapes: of the components of an element; a queue that pads, if a size is
        None.
      feeds_of: a function from the placeholders of a thread to a function that returns
        an iterator of feeds; its end is that of the input.
      capacity: the queue's capacity.
      shuffle: whether it shuffles.
      threads: the number of threads.
    """
    with name_scope("enqueue_input"):
        least = 0
        queue: QueueBase
        if any(None in shape for shape in shapes):
            queue = PaddingFIFOQueue(capacity, types, shapes)
        elif shuffle:
            least = capacity // 4
            queue = RandomShuffleQueue(capacity, least, types, shapes)
        else:
            queue = FIFOQueue(capacity, types, shapes)
        ops, feeds = [], []
        for _ in range(threads):
            held = [
                placeholder(kind, [None, *shape])
                for kind, shape in zip(types, shapes, strict=True)
            ]
            ops.append(queue.enqueue_many(held))
            feeds.append(feeds_of(held))
        add_queue_runner(FeedingQueueRunner(queue, ops, feeds))
        fraction = cast(maximum(0, queue.size() - least), float32) * (
            1.0 / (capacity - least)
        )
        name = f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full"
        scalar(name, fraction)
        return queue


def _feeds_of(
    held: list[Tensor],
    arrays: list[Array],
    size: int,
    epochs: int | None,
    shuffle: bool,
) -> Callable[[], Iterator[FeedDict]]:
    def feeds() -> Iterator[FeedDict]:
        for rows in _rows(len(arrays[0]), size, epochs, shuffle):
            yield dict(zip(held, [rows, *(a[rows] for a in arrays)], strict=True))

    return feeds


@export("estimator.inputs.numpy_input_fn")
def numpy_input_fn(
    x: Array | Mapping[str, Array],
    y: Array | Mapping[str, Array] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An input function of arrays, in batches, by a queue.

    Args:
      x: an array [n, ...], or a dict of names to arrays of the same length.
      y: the labels: an array, a dict, or None.
      batch_size: the rows of a batch; the last one may be smaller.
      num_epochs: how often to go through the arrays; None for ever.
      shuffle: whether the queue shuffles; must be given.
      queue_capacity: the queue's capacity.
      num_threads: the threads that fill it: with more than one, each goes through all
        arrays.

    Returns:
      A function without arguments that returns features, or (features, labels).

    Raises:
      ValueError: `shuffle` is no bool, or the lengths differ, or something is empty.
      TypeError: `x` is neither array nor dict.

    Example:
      >>> input_fn = tf.estimator.inputs.numpy_input_fn(
      ...     {"x": xs}, ys, batch_size=32, num_epochs=None, shuffle=True
      ... )
      >>> estimator.train(input_fn, steps=1000)

    Source: tensorflow_estimator/python/estimator/inputs/numpy_io.py.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended "
            f"to set it as True for training); got {shuffle}"
        )

    def input_fn() -> Any:
        if not isinstance(x, dict | np.ndarray):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        if len(x) == 0:
            kind = "dict" if isinstance(x, dict) else "array"
            raise ValueError(f"x cannot be an empty {kind}")
        features = dict(x) if isinstance(x, dict) else {_DIRECT: x}
        if isinstance(y, dict) and not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        labels: dict[str, Array] = {}
        if y is not None:
            labels = dict(y) if isinstance(y, dict) else {_TARGET: np.asarray(y)}
        twice = features.keys() & labels.keys()
        if twice:
            raise ValueError(
                f"{len(twice)} duplicate keys are found in both x and y: {twice}"
            )
        columns = {key: features[key] for key in sorted(features)}
        columns |= {key: labels[key] for key in sorted(labels)}
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y "
                "must have the same length.\nShapes in x: "
                f"{ {key: f.shape for key, f in features.items()} }\nShapes in y: "
                f"{ {key: v.shape for key, v in labels.items()} }\n"
            )
        queue = _enqueued(
            columns, queue_capacity, shuffle, num_threads, batch_size, num_epochs
        )
        take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        batch: Any = take(batch_size)
        named = dict(zip(columns, batch[1:], strict=True))
        found: Any = {key: named[key] for key in columns if key in features}
        if not isinstance(x, dict):
            found = found[_DIRECT]
        if y is None:
            return found
        if isinstance(y, dict):
            return found, {key: named[key] for key in columns if key in labels}
        return found, named[_TARGET]

    return input_fn


@export("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: object,
    y: object = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """An input function of a pandas DataFrame, in batches, by a queue.

    Args:
      x: the DataFrame of the features.
      y: the labels: a Series, a DataFrame, or None.
      batch_size, num_epochs, shuffle, queue_capacity, num_threads: as in
        `tf.estimator.inputs.numpy_input_fn`.
      target_column: the name of the labels' column inside, when `y` is a Series.

    Returns:
      A function without arguments that returns features, or (features, labels).

    Raises:
      ValueError: `shuffle` is no bool, the indices differ, or `x` has the column.

    Example:
      >>> input_fn = tf.estimator.inputs.pandas_input_fn(frame, labels, shuffle=True)

    Source: tensorflow_estimator/python/estimator/inputs/pandas_io.py.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended "
            f"to set it as True for training); got {shuffle}"
        )
    frame: Any = x
    target: Any = y
    if y is not None and not np.array_equal(frame.index, target.index):
        raise ValueError(
            "Index for x and y are mismatched.\nIndex for x: "
            f"{frame.index}\nIndex for y: {target.index}\n"
        )

    def input_fn() -> Any:
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        features = list(columns)
        if y is not None and hasattr(target, "columns"):
            labels = {name: f"{name}{_TARGET}" for name in target.columns}
            columns |= {
                inside: target[name].to_numpy() for name, inside in labels.items()
            }
        elif y is not None:
            if target_column in columns:
                raise ValueError(
                    f"Cannot use name {target_column} for target column: DataFrame "
                    f"already has a column with that name: {frame.columns}"
                )
            columns[target_column] = target.to_numpy()
        queue = _enqueued(
            columns, queue_capacity, shuffle, num_threads, batch_size, num_epochs
        )
        take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        batch: Any = take(batch_size)
        named = dict(zip(columns, batch[1:], strict=True))
        found = {name: named[name] for name in features}
        if y is None:
            return found
        if hasattr(target, "columns"):
            return found, {name: named[inside] for name, inside in labels.items()}
        return found, named[target_column]

    return input_fn
