"""Batches of features, parsed by threads that fill a queue: `tf.contrib.learn.io`.

Source: contrib/learn/python/learn/learn_io/graph_io.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.framework import dtypes
from tfteach.framework.errors import CancelledError, OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.contrib.learn.graph_io import (
    Files,
    ParseFn,
    Reader,
    read_keyed_batch_examples,
)
from tfteach.lib.parsing.examples import parse_example
from tfteach.lib.queues.queue_runner import QueueRunner, add_queue_runner
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.debug import summary_functions as summary
from tfteach.ops.io.reader_base import TFRecordReader
from tfteach.ops.math.cast import cast
from tfteach.ops.queues.queues import FIFOQueue

_Features = dict[str, Tensor | SparseTensor]


@export("contrib.learn.io.queue_parsed_features")
def queue_parsed_features(
    parsed_features: Mapping[str, Tensor | SparseTensor],
    keys: Tensor | None = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Tensor | None, _Features]:
    """Parsed features through a queue, so that threads parse ahead of the training.

    Args:
      parsed_features: a dict of names to Tensors and SparseTensors.
      keys: the keys of the examples; None for none.
      feature_queue_capacity: how many batches the queue holds.
      num_enqueue_threads: how many threads fill it.
      name: the beginning of the ops' names.

    Returns:
      The keys, or None, and a dict as `parsed_features`, dequeued.

    Raises:
      ValueError: there are no features, or no threads.

    Example:
      >>> _, batch = tf.contrib.learn.io.queue_parsed_features({"x": x})

    Source: contrib/learn/python/learn/learn_io/graph_io.py.
    """
    with name_scope(name, "queue_parsed_features", [*parsed_features.values(), keys]):
        tensors: list[Tensor] = []
        for _, value in sorted(parsed_features.items()):
            tensors.extend(_parts(value))
        if keys is not None:
            tensors.append(keys)
        queue = FIFOQueue(feature_queue_capacity, [tensor.dtype for tensor in tensors])
        summary.scalar(
            f"queue/parsed_features/{queue.name}/"
            f"fraction_of_{feature_queue_capacity}_full",
            cast(queue.size(), dtypes.float32) * (1.0 / feature_queue_capacity),
        )
        enqueuing = [queue.enqueue(tensors) for _ in range(num_enqueue_threads)]
        add_queue_runner(
            QueueRunner(
                queue,
                enqueuing,
                queue_closed_exception_types=(OutOfRangeError, CancelledError),
            )
        )
        found: Any = queue.dequeue()
        dequeued = list(found) if isinstance(found, list | tuple) else [found]
        # The queue does not know the shapes.
        for after, before in zip(dequeued, tensors, strict=True):
            after.set_shape(before.get_shape())
        queued_keys = None if keys is None else dequeued.pop()
        rest = iter(dequeued)
        return queued_keys, {
            key: SparseTensor(next(rest), next(rest), next(rest))
            if isinstance(value, SparseTensor)
            else next(rest)
            for key, value in sorted(parsed_features.items())
        }


def _parts(value: Tensor | SparseTensor) -> list[Tensor]:
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [value]


@export(
    "contrib.learn.read_keyed_batch_features",
    "contrib.learn.io.read_keyed_batch_features",
)
def read_keyed_batch_features(
    file_pattern: Files,
    batch_size: int | Tensor,
    features: Mapping[str, Any],
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[Tensor | None, _Features]:
    """Batches of the features of Examples in files, with the records' keys.

    Args:
      file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity:
        as in `tf.contrib.learn.read_batch_examples`.
      features: the features to read: name -> `tf.FixedLenFeature` or another.
      reader_num_threads: how many readers fill the queue of examples.
      feature_queue_capacity: how many batches the queue of features holds.
      num_enqueue_threads: how many threads fill it.
      parse_fn: from a string Tensor of records to one of serialized Examples.
      name: the beginning of the ops' names.
      read_batch_size: how many records a reader reads at once; None for `batch_size`.

    Returns:
      The keys, a string Tensor [batch_size], and a dict of the features' batches.

    Raises:
      ValueError: as in `tf.contrib.learn.read_batch_examples`, or there are no
        features.

    Source: contrib/learn/python/learn/learn_io/graph_io.py.
    """
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        size: Any = batch_size if read_batch_size is None else read_batch_size
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs,
            queue_capacity, reader_num_threads, size, parse_fn, scope,
        )  # fmt: skip
        return queue_parsed_features(
            parse_example(examples, features), keys, feature_queue_capacity,
            num_enqueue_threads, scope,
        )  # fmt: skip


@export("contrib.learn.read_batch_features", "contrib.learn.io.read_batch_features")
def read_batch_features(
    file_pattern: Files,
    batch_size: int | Tensor,
    features: Mapping[str, Any],
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> _Features:
    """Batches of the features of Examples in files, read and parsed by queues.

    Args:
      file_pattern, batch_size, features, reader, randomize_input, num_epochs,
        queue_capacity, feature_queue_capacity, reader_num_threads,
        num_enqueue_threads, parse_fn, name, read_batch_size: as in
        `tf.contrib.learn.read_keyed_batch_features`.

    Returns:
      A dict of the features' batches.

    Raises:
      ValueError: as in `tf.contrib.learn.read_keyed_batch_features`.

    Example:
      >>> batch = tf.contrib.learn.io.read_batch_features(
      ...     "*.tfrecord", 32, {"x": tf.FixedLenFeature([], tf.float32)},
      ...     tf.TFRecordReader)

    Source: contrib/learn/python/learn/learn_io/graph_io.py.
    """
    _, batches = read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs,
        queue_capacity, reader_num_threads, feature_queue_capacity,
        num_enqueue_threads, parse_fn, name, read_batch_size,
    )  # fmt: skip
    return batches


@export(
    "contrib.learn.read_batch_record_features",
    "contrib.learn.io.read_batch_record_features",
)
def read_batch_record_features(
    file_pattern: Files,
    batch_size: int | Tensor,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> _Features:
    """`tf.contrib.learn.read_batch_features` of TFRecord files.

    Args:
      file_pattern, batch_size, features, randomize_input, num_epochs, queue_capacity,
        reader_num_threads, name: as in `tf.contrib.learn.read_keyed_batch_features`.

    Returns:
      A dict of the features' batches.

    Raises:
      ValueError: as in `tf.contrib.learn.read_keyed_batch_features`.

    Source: contrib/learn/python/learn/learn_io/graph_io.py.
    """
    return read_batch_features(
        file_pattern, batch_size, features, TFRecordReader, randomize_input,
        num_epochs, queue_capacity, reader_num_threads=reader_num_threads, name=name,
    )  # fmt: skip
