"""`tf.contrib.training.bucket`: batches of elements of a kind.

Source: contrib/training/python/training/bucket_ops.py (API, nodes, messages).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.framework import dtypes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.errors import CancelledError, OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.queues.batch_queues import (
    Shapes,
    Tensors,
    as_given,
    as_list,
    conditionally,
    plain_queue,
    shapes_of,
    types_of,
    validated,
    validated_keep,
)
from tfteach.lib.queues.queue_runner import QueueRunner, add_queue_runner
from tfteach.lib.queues.sparse_storage import restore_sparse, store_sparse
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.debug import summary_functions as summary
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, less, less_equal, logical_and
from tfteach.ops.math.reduce_functions import reduce_min
from tfteach.ops.queues.queue_base import Dequeued, QueueBase
from tfteach.ops.queues.queues import PaddingFIFOQueue

_END = (OutOfRangeError, CancelledError)


@export("contrib.training.bucket")
def bucket(
    tensors: Tensors,
    which_bucket: TensorLike,
    batch_size: TensorLike | Sequence[TensorLike],
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Shapes = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Dequeued]:
    """Batches whose elements belong to one bucket.

    Threads enqueue each element into the queue of its bucket; another one moves whole
    batches from there to the queue that the batches are read from.

    Args:
      tensors: the components of an element: a list, or a dict by names.
      which_bucket: the number of the element's bucket, an int32 scalar.
      batch_size: the number of elements in a batch; a list has one for each bucket.
      num_buckets: the number of buckets, at least 2.
      num_threads: how many threads compute elements.
      capacity: of the queue of batches.
      bucket_capacities: of the buckets' queues; `capacity` if None.
      shapes: of an element's components, if the tensors' are not known.
      dynamic_pad: whether sizes may vary: smaller ones are padded with zeros.
      allow_smaller_final_batch: whether the last batch of a bucket may be smaller.
      keep_input: a bool scalar: whether to enqueue the element.
      shared_name: a prefix of the names by which sessions share the queues.
      name: of the operations.

    Returns:
      The number of the batch's bucket, and the batch: a tensor, a list or a dict, as
      `tensors`, with a further first axis.

    Raises:
      ValueError: a list has not an item for each bucket; or as `tf.train.batch`.

    Source: contrib/training/python/training/bucket_ops.py.
    """
    if isinstance(batch_size, list | tuple):
        batch_sizes = list(batch_size)
        if len(batch_sizes) != num_buckets:
            raise ValueError(
                "If batch_size is a list it must have num_buckets elements"
            )
    else:
        batch_sizes = [batch_size] * num_buckets
    if bucket_capacities is None:
        bucket_capacities = [capacity] * num_buckets
    if len(bucket_capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly "
            f"num_buckets ({num_buckets}) elements."
        )
    elements = as_list(tensors)
    with name_scope(name, "bucket", elements):
        found = validated(elements, "bucket")
        keep = validated_keep(keep_input, enqueue_many=False)
        [dense], stored = store_sparse([found], False, keep)
        sizes = [_static_if_known(size) for size in batch_sizes]
        types = types_of([dense])
        which = convert(which_bucket, dtypes.int32, "which_bucket")
        queues: list[QueueBase] = [
            plain_queue(dynamic_pad)(
                capacity=bucket_capacities[i],
                dtypes=types,
                shapes=shapes_of([dense], shapes, enqueue_many=False),
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32, *types],
            shapes=_shapes_of_batches(sizes, queues[0], allow_smaller_final_batch),
            shared_name=shared_name,
            name="top_queue",
        )
        enqueue = _enqueue_by_bucket(queues, dense, which, keep)
        fill_top = _top_runner(top, queues, sizes, allow_smaller_final_batch)
        _fill_buckets(queues, [enqueue] * num_threads)
        add_queue_runner(fill_top)
        for queue in queues:  # as in TensorFlow, each has the size of the top queue
            size = cast(top.size(), dtypes.float32)
            summary.scalar(f"bucket/{queue.name}/size", size)
        fullness = cast(top.size(), dtypes.float32) * (1.0 / capacity)
        summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", fullness)
        dequeued: Any = top.dequeue(name="dequeue_top")
        first, *rows = dequeued
        batch = restore_sparse(rows[0] if len(rows) == 1 else rows, stored)
        return first, as_given(tensors, batch)


def _static_if_known(size: TensorLike) -> Any:
    tensor = convert(size, dtypes.int32, "batch_size")
    known = constant_value(tensor)
    return tensor if known is None else known


def _shapes_of_batches(
    sizes: Sequence[Any], queue: QueueBase, allow_smaller: bool
) -> list[TensorShape]:
    """The shapes in the top queue; the first size if all batches have it."""
    same = all(isinstance(s, np.ndarray | np.generic) and s == sizes[0] for s in sizes)
    size = int(sizes[0]) if same and not allow_smaller else None
    batches = [TensorShape([size]).concatenate(shape) for shape in queue.shapes]
    return [TensorShape([]), *batches]


def _enqueue_by_bucket(
    queues: Sequence[QueueBase], tensors: Sequence[Tensor], which: Tensor, keep: Tensor
) -> Any:
    """The op that enqueues an element into the queue of its bucket."""

    def enqueue_one(i: int) -> Operation:
        return queues[i].enqueue(list(tensors))

    def enqueue() -> Operation:
        ops = [
            cond(equal(which, i), functools.partial(enqueue_one, i), no_op)
            for i in range(len(queues))
        ]
        return group(*ops, name="group_enqueues")

    return conditionally(keep, enqueue)


def _fill_buckets(queues: Sequence[QueueBase], ops: Sequence[Any]) -> None:
    """The QueueRunner of the buckets' queues, which end together."""
    close = group(*[queue.close() for queue in queues])
    cancel = group(*[queue.close(cancel_pending_enqueues=True) for queue in queues])
    runner = QueueRunner(
        queues[0],
        ops,
        close_op=close,
        cancel_op=cancel,
        queue_closed_exception_types=_END,
    )
    add_queue_runner(runner)


def _top_runner(
    top: QueueBase,
    queues: Sequence[QueueBase],
    sizes: Sequence[Any],
    allow_smaller: bool,
) -> QueueRunner:
    """The QueueRunner that moves batches from the buckets to the top queue."""
    ops = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        number = constant(i)
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        found = take(size, name=f"read_bucket_{i}")
        rows = [found] if isinstance(found, Tensor) else list(found)
        ops.append(top.enqueue([number, *rows], name=f"enqueue_from_bucket_{i}"))
    return QueueRunner(
        top,
        ops,
        close_op=top.close(),
        cancel_op=top.close(cancel_pending_enqueues=True),
        queue_closed_exception_types=_END,
    )


@export("contrib.training.bucket_by_sequence_length")
def bucket_by_sequence_length(
    input_length: TensorLike,
    tensors: Tensors,
    batch_size: TensorLike | Sequence[TensorLike],
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Shapes = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Dequeued]:
    """Batches of sequences of similar lengths.

    Args:
      input_length: the length of the element, an int32 scalar.
      tensors: the components of an element: a list, or a dict by names.
      batch_size: the number of elements in a batch; a list has one for each bucket.
      bucket_boundaries: increasing lengths: bucket i has those below number i, and the
        last one all others.
      num_threads, capacity, bucket_capacities, shapes: as for `bucket`.
      dynamic_pad, allow_smaller_final_batch, keep_input: as for `bucket`.
      shared_name, name: as for `bucket`.

    Returns:
      The length of the batch's sequences as `input_length` had it, and the batch.

    Raises:
      TypeError: the boundaries are no list of ints.
      ValueError: they do not increase, or there are none.

    Source: contrib/training/python/training/bucket_ops.py.
    """
    names = as_list(tensors)
    if not isinstance(bucket_boundaries, list | tuple):
        raise TypeError(
            "bucket_boundaries must be a list or tuple, but received: "
            f"{bucket_boundaries}"
        )
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in itertools.pairwise(bucket_boundaries):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(
                f"bucket boundaries must be integers, but saw: {low} and {high}"
            )
        if low >= high:
            raise ValueError(
                f"Buckets must contain sequential increasing lengths, but saw: {low} "
                f"before {high}"
            )
    with name_scope(name, "bucket_by_sequence_length", [input_length, *names]):
        length = convert(input_length, dtypes.int32, "input_length")
        shortest = [np.iinfo(np.int32).min, *bucket_boundaries]
        longest = [*bucket_boundaries, np.iinfo(np.int32).max]
        fits = logical_and(less_equal(shortest, length), less(length, longest))
        which = reduce_min(where(fits))
        which = cast(which, dtypes.int32)
        given = [length, *names]
        sizes = None if shapes is None else [[], *shapes]
        found: Any
        _, found = bucket(
            given,
            which,
            batch_size,
            len(bucket_boundaries) + 1,
            num_threads,
            capacity,
            bucket_capacities,
            sizes,
            dynamic_pad,
            allow_smaller_final_batch,
            keep_input,
            shared_name,
        )
        rows = found[1:]
        return found[0], as_given(tensors, rows[0] if len(rows) == 1 else rows)
