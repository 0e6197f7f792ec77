"""`tf.train.shuffle_batch` and its siblings: batches in random order.

Source: python/training/input.py (API, nodes, messages).
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.framework import dtypes
from tfteach.framework.export import export
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.queues.batch_queues import Shapes, Tensors, batches
from tfteach.ops.debug import summary_functions as summary
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.queues.queue_base import Dequeued, QueueBase
from tfteach.ops.queues.queues import RandomShuffleQueue


@export("train.shuffle_batch")
def shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """Batches of the tensors in random order, by a queue that threads fill.

    Args:
      tensors: the components of an element: a list, or a dict by names; a SparseTensor
        becomes one of the batch, of one rank more.
      batch_size: the number of elements in a batch.
      capacity: of the queue.
      min_after_dequeue: how many elements remain in the queue, among which the next
        batch is drawn: more mix better, and take longer at first.
      num_threads: how many threads compute elements.
      seed: of the order.
      enqueue_many: whether each row of the tensors is an element.
      shapes: of an element's components, if the tensors' are not known.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name by which sessions share the queue.
      name: of the operations.

    Returns:
      A tensor, a list or a dict, as `tensors`, with a further first axis.

    Raises:
      ValueError: there are no tensors, or a rank is unknown.
      tf.errors.OutOfRangeError: in a run, the input has ended.

    Example:
      >>> number = tf.train.range_input_producer(50).dequeue()
      >>> batch = tf.train.shuffle_batch([number], 4, capacity=30, min_after_dequeue=9)
      >>> session = tf.Session()
      >>> threads = tf.train.start_queue_runners(session)
      >>> session.run(batch).shape
      (4,)
      >>> session.close()

    Source: python/training/input.py.
    """
    return _shuffled(
        "shuffle_batch", [tensors], True, batch_size, num_threads, capacity,
        min_after_dequeue, seed, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


@export("train.maybe_shuffle_batch")
def maybe_shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """`tf.train.shuffle_batch` of the elements for which `keep_input` is true.

    Args:
      tensors, batch_size, capacity, min_after_dequeue: as for `shuffle_batch`.
      keep_input: a bool scalar; with `enqueue_many` also a bool for each row.
      num_threads, seed, enqueue_many, shapes: as for `shuffle_batch`.
      allow_smaller_final_batch, shared_name, name: as for `shuffle_batch`.

    Raises:
      ValueError: `keep_input` has another rank.

    Source: python/training/input.py.
    """
    return _shuffled(
        "shuffle_batch", [tensors], keep_input, batch_size, num_threads, capacity,
        min_after_dequeue, seed, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


@export("train.shuffle_batch_join")
def shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """`tf.train.shuffle_batch` of several inputs, each of which has a thread.

    Args:
      tensors_list: for each input the components of an element.
      batch_size, capacity, min_after_dequeue, seed: as for `shuffle_batch`.
      enqueue_many, shapes, allow_smaller_final_batch: as for `shuffle_batch`.
      shared_name, name: as for `shuffle_batch`.

    Raises:
      TypeError: the inputs have different types.

    Source: python/training/input.py.
    """
    return _shuffled(
        "shuffle_batch_join", tensors_list, True, batch_size, 1, capacity,
        min_after_dequeue, seed, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


@export("train.maybe_shuffle_batch_join")
def maybe_shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """`tf.train.shuffle_batch_join` of the elements that `keep_input` keeps.

    Args:
      tensors_list: as for `shuffle_batch_join`.
      batch_size, capacity, min_after_dequeue: as for `shuffle_batch`.
      keep_input: a bool scalar; with `enqueue_many` also a bool for each row.
      seed, enqueue_many, shapes, allow_smaller_final_batch: as for `shuffle_batch`.
      shared_name, name: as for `shuffle_batch`.

    Source: python/training/input.py.
    """
    return _shuffled(
        "shuffle_batch_join", tensors_list, keep_input, batch_size, 1, capacity,
        min_after_dequeue, seed, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


def _shuffled(
    function: str,
    inputs: Sequence[Tensors],
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None,
    enqueue_many: bool,
    shapes: Shapes,
    allow_smaller: bool,
    shared_name: str | None,
    name: str | None,
) -> Dequeued:
    """Batches by a queue that returns its elements in random order."""
    return batches(
        inputs,
        keep_input,
        lambda types, sizes: RandomShuffleQueue(
            capacity, min_after_dequeue, types, sizes, None, seed, shared_name
        ),
        lambda queue: _summarize(queue, capacity, min_after_dequeue),
        batch_size,
        function=function,
        num_threads=num_threads,
        enqueue_many=enqueue_many,
        shapes=shapes,
        allow_smaller=allow_smaller,
        name=name,
    )


def _summarize(queue: QueueBase, capacity: int, least: int) -> None:
    """A summary of the share that is full beyond what must remain."""
    beyond = maximum(0, queue.size() - least)
    fullness = cast(beyond, dtypes.float32) * (1.0 / (capacity - least))
    summary.scalar(f"fraction_over_{least}_of_{capacity - least}_full", fullness)
