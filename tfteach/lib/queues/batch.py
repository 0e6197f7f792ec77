"""`tf.train.batch` and its siblings: batches in the order of the input.

Source: python/training/input.py (API, nodes, messages).
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.framework.export import export
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.queues.batch_queues import (
    Shapes,
    Tensors,
    batches,
    plain_queue,
    summarize_fullness,
)
from tfteach.ops.queues.queue_base import Dequeued


@export("train.batch")
def batch(
    tensors: Tensors,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """Batches of the tensors, whose ops threads run again and again into a queue.

    A QueueRunner joins the collection `tf.GraphKeys.QUEUE_RUNNERS`:
    `tf.train.start_queue_runners` starts its threads.

    Args:
      tensors: the components of an element: a list, or a dict by names; a SparseTensor
        becomes one of the batch, of one rank more.
      batch_size: the number of elements in a batch.
      num_threads: how many threads compute elements; several change the order.
      capacity: of the queue.
      enqueue_many: whether each row of the tensors is an element.
      shapes: of an element's components, if the tensors' are not known.
      dynamic_pad: whether sizes may vary: smaller ones are padded with zeros.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name by which sessions share the queue.
      name: of the operations.

    Returns:
      A tensor, a list or a dict, as `tensors`, with a further first axis.

    Raises:
      ValueError: there are no tensors, or a rank is unknown.
      tf.errors.OutOfRangeError: in a run, the input has ended.

    Example:
      >>> number = tf.train.range_input_producer(5, shuffle=False).dequeue()
      >>> pairs = tf.train.batch([number], batch_size=2)
      >>> session = tf.Session()
      >>> threads = tf.train.start_queue_runners(session)
      >>> session.run(pairs)
      array([0, 1], dtype=int32)
      >>> session.close()

    Source: python/training/input.py.
    """
    return _in_order(
        "batch", [tensors], True, batch_size, num_threads, capacity, enqueue_many,
        shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@export("train.maybe_batch")
def maybe_batch(
    tensors: Tensors,
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """`tf.train.batch` of the elements for which `keep_input` is true.

    Args:
      tensors: as for `batch`.
      keep_input: a bool scalar; with `enqueue_many` also a bool for each row.
      batch_size, num_threads, capacity, enqueue_many, shapes: as for `batch`.
      dynamic_pad, allow_smaller_final_batch, shared_name, name: as for `batch`.

    Raises:
      ValueError: `keep_input` has another rank.

    Source: python/training/input.py.
    """
    return _in_order(
        "batch", [tensors], keep_input, batch_size, num_threads, capacity,
        enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name,
        name,
    )  # fmt: skip


@export("train.batch_join")
def batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """`tf.train.batch` of several inputs, each of which has a thread.

    Args:
      tensors_list: for each input the components of an element, as for `batch`.
      batch_size, capacity, enqueue_many, shapes, dynamic_pad: as for `batch`.
      allow_smaller_final_batch, shared_name, name: as for `batch`.

    Raises:
      TypeError: the inputs have different types.

    Source: python/training/input.py.
    """
    return _in_order(
        "batch_join", tensors_list, True, batch_size, 1, capacity, enqueue_many,
        shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@export("train.maybe_batch_join")
def maybe_batch_join(
    tensors_list: Sequence[Tensors],
    keep_input: TensorLike,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Dequeued:
    """`tf.train.batch_join` of the elements for which `keep_input` is true.

    Args:
      tensors_list: as for `batch_join`.
      keep_input: a bool scalar; with `enqueue_many` also a bool for each row.
      batch_size, capacity, enqueue_many, shapes, dynamic_pad: as for `batch`.
      allow_smaller_final_batch, shared_name, name: as for `batch`.

    Source: python/training/input.py.
    """
    return _in_order(
        "batch_join", tensors_list, keep_input, batch_size, 1, capacity, enqueue_many,
        shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def _in_order(
    function: str,
    inputs: Sequence[Tensors],
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int,
    capacity: int,
    enqueue_many: bool,
    shapes: Shapes,
    dynamic_pad: bool,
    allow_smaller: bool,
    shared_name: str | None,
    name: str | None,
) -> Dequeued:
    """Batches by a queue that keeps the order."""
    return batches(
        inputs,
        keep_input,
        lambda types, sizes: plain_queue(dynamic_pad)(
            capacity, types, sizes, shared_name=shared_name
        ),
        lambda queue: summarize_fullness(queue, capacity),
        batch_size,
        function=function,
        num_threads=num_threads,
        enqueue_many=enqueue_many,
        shapes=shapes,
        allow_smaller=allow_smaller,
        name=name,
    )
