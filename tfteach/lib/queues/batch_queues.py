"""What the functions that make batches by queues share.

Source: python/training/input.py (nodes, messages).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tfteach.control.branch import cond
from tfteach.framework import dtypes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert, convert_n_to_tensor
from tfteach.framework.dtypes import DType
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import ShapeLike, TensorLike
from tfteach.lib.queues.queue_runner import (
    QUEUES_REFUSED,
    QueueRunner,
    add_queue_runner,
)
from tfteach.lib.queues.sparse_storage import restore_sparse, store_sparse
from tfteach.ops.array.dynamic_partition import dynamic_partition
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.debug import summary_functions as summary
from tfteach.ops.math.cast import cast
from tfteach.ops.queues.queue_base import Dequeued, QueueBase
from tfteach.ops.queues.queues import FIFOQueue, PaddingFIFOQueue

# Tensors by position or by name.
Tensors: TypeAlias = "Sequence[TensorLike] | Mapping[str, TensorLike]"
# The shapes of an element's components.
Shapes: TypeAlias = "Sequence[ShapeLike] | None"


def as_list(tensors: Tensors) -> list[Any]:
    """The tensors; of a dict, in the order of their names."""
    if isinstance(tensors, Mapping):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return list(tensors)


def as_lists(tensors_list: Sequence[Tensors]) -> list[list[Any]]:
    """`as_list` of each.

    Raises:
      ValueError: there are none.
      TypeError: they are not all lists, or dicts with the same names.
    """
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, Mapping):
        for tensors in tensors_list[1:]:
            if not isinstance(tensors, Mapping) or set(tensors) != set(first):
                raise ValueError("All dictionaries must have the same keys")
    return [as_list(tensors) for tensors in tensors_list]


def as_given(tensors: Tensors, found: Any) -> Dequeued:
    """What was dequeued, by the names that `tensors` has."""
    if not isinstance(tensors, Mapping):
        return found  # type: ignore[no-any-return]
    keys = sorted(tensors, key=str)
    if len(keys) == 1:
        return {keys[0]: found}
    return dict(zip(keys, found, strict=True))


def validated(
    tensors: Sequence[Any], function: str = "batch"
) -> list[Tensor | SparseTensor]:
    """The tensors of one element.

    Raises:
      ValueError: there are none.
      NotImplementedError: one is an IndexedSlices.
    """
    for value in tensors:
        if isinstance(value, IndexedSlices):
            raise NotImplementedError(
                f"{function} of an IndexedSlices, which fails in TensorFlow, too: "
                "enqueue its indices and values."
            )
    if not tensors:
        raise ValueError(f"Expected at least one tensor in {function}().")
    return [
        value if isinstance(value, SparseTensor) else convert_n_to_tensor([value])[0]
        for value in tensors
    ]


def validated_keep(keep_input: TensorLike, enqueue_many: bool) -> Tensor:
    """The condition under which elements are enqueued, as a tensor.

    Raises:
      ValueError: its rank is unknown, or 2 and more; or it is a vector for one element.
    """
    keep = convert(keep_input)
    rank = keep.get_shape().ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def types_of(elements: Sequence[Sequence[Tensor]]) -> list[DType]:
    """The types that all elements have.

    Raises:
      TypeError: they differ.
    """
    every = [[tensor.dtype for tensor in element] for element in elements]
    for other in every[1:]:
        if other != every[0]:
            texts = [", ".join(t.name for t in found) for found in (every[0], other)]
            raise TypeError(
                f"Expected types to be consistent: {texts[0]} vs. {texts[1]}."
            )
    return every[0]


def shapes_of(
    elements: Sequence[Sequence[Tensor]], given: Shapes, enqueue_many: bool
) -> Sequence[ShapeLike]:
    """The shapes of the first element's components.

    As in TensorFlow, what the other elements know of their shapes is not used.

    Raises:
      ValueError: a rank is unknown, or a shape contradicts that of the first element.
    """
    if given is not None:
        return given
    for element in elements:
        for tensor in element:
            if tensor.get_shape().ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    found: list[ShapeLike] = []
    for column in zip(*elements, strict=True):
        sizes = [tensor.get_shape() for tensor in column]
        if enqueue_many:
            sizes = [size.with_rank_at_least(1)[1:] for size in sizes]
        for size in sizes[1:]:
            sizes[0].merge_with(size)
        found.append(sizes[0].as_list())
    return found


def plain_queue(dynamic_pad: bool) -> type[FIFOQueue] | type[PaddingFIFOQueue]:
    """The kind of queue that keeps the order."""
    return PaddingFIFOQueue if dynamic_pad else FIFOQueue


def conditionally(keep: Tensor, enqueue: Callable[[], Operation]) -> Operation | Tensor:
    """The op, under a `tf.cond` unless the condition is known."""
    known = constant_value(keep)
    if known is not None:
        return enqueue() if known else no_op()
    return cond(keep, enqueue, no_op)  # type: ignore[no-any-return]


def enqueue_op(
    queue: QueueBase, tensors: Sequence[Tensor], enqueue_many: bool, keep: Tensor
) -> Any:
    """The op that enqueues an element, or some of several rows."""
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep.get_shape().ndims == 1:
        parts = cast(keep, dtypes.int32)
        kept = [dynamic_partition(t, parts, num_partitions=2)[1] for t in tensors]
        return enqueue(kept)
    return conditionally(keep, lambda: enqueue(list(tensors)))


def run_in_threads(queue: QueueBase, ops: Sequence[Any]) -> None:
    """A QueueRunner of these ops, in its collection."""
    add_queue_runner(QueueRunner(queue, list(ops)))


def summarize_fullness(queue: QueueBase, capacity: int) -> None:
    """A summary of the share of the queue that is full."""
    fullness = cast(queue.size(), dtypes.float32) * (1.0 / capacity)
    summary.scalar(f"fraction_of_{capacity}_full", fullness)


def dequeue(
    queue: QueueBase, batch_size: TensorLike, allow_smaller: bool, name: str
) -> Dequeued:
    if allow_smaller:
        return queue.dequeue_up_to(batch_size, name=name)
    return queue.dequeue_many(batch_size, name=name)


def batches(
    inputs: Sequence[Tensors],
    keep_input: TensorLike,
    make_queue: Callable[[Sequence[DType], Sequence[ShapeLike]], QueueBase],
    summarize: Callable[[QueueBase], None],
    batch_size: TensorLike,
    *,
    function: str,
    num_threads: int,
    enqueue_many: bool,
    shapes: Shapes,
    allow_smaller: bool,
    name: str | None,
) -> Dequeued:
    """Batches of a queue that threads fill: all of `tf.train`'s functions for batches.

    Args:
      inputs: for each input the components of an element.
      keep_input: whether to enqueue an element, or which rows.
      make_queue: makes the queue, for these types and shapes.
      summarize: adds the queue's summary.
      batch_size: the number of elements in a batch.
      function: the default name of the operations.
      num_threads: how many threads run each input's op.
      enqueue_many: whether each row of the tensors is an element.
      shapes: of an element's components, if the tensors' are not known.
      allow_smaller: whether the last batch may have fewer elements.
      name: of the operations.

    Returns:
      A tensor, a list or a dict, as the first input, with a further first axis.
    """
    require_graph(QUEUES_REFUSED, ValueError)
    elements = as_lists(inputs)
    flat = [tensor for element in elements for tensor in element]
    with name_scope(name, function, [*flat, keep_input]) as scope:
        kind = function.removeprefix("shuffle_")
        found = [validated(element, kind) for element in elements]
        keep = validated_keep(keep_input, enqueue_many)
        dense, stored = store_sparse(found, enqueue_many, keep)
        queue = make_queue(types_of(dense), shapes_of(dense, shapes, enqueue_many))
        ops = [enqueue_op(queue, element, enqueue_many, keep) for element in dense]
        run_in_threads(queue, ops * num_threads)
        summarize(queue)
        rows = dequeue(queue, batch_size, allow_smaller, scope)
        return as_given(inputs[0], restore_sparse(rows, stored))


def shape_with(size: int | None, shape: TensorShape) -> TensorShape:
    """The shape of a batch."""
    return TensorShape([size]).concatenate(shape)
