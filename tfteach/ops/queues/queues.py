"""`tf.FIFOQueue` and its siblings: queues as objects of a program.

Source: python/ops/data_flow_ops.py (API, names of nodes, messages).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import int64
from tfteach.framework.eager_tensor import ANONYMOUS
from tfteach.framework.export import export
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, IntLike, ShapeLike
from tfteach.ops.queues.component_lists import (
    as_name_list,
    as_shape_list,
    as_shapes_attribute,
    as_type_list,
)
from tfteach.ops.queues.queue_base import QueueBase
from tfteach.ops.queues.queue_ops import (
    FIFOQueueV2,
    PaddingFIFOQueueV2,
    PriorityQueueV2,
    RandomShuffleQueueV2,
)
from tfteach.ops.random.random_ops import get_seed


def _shared(name: str | None) -> str:
    """The queue's shared name; in an eager program its handle owns the queue."""
    return ANONYMOUS if get_default_graph().is_eager else name or ""


@export("FIFOQueue", "queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue that returns elements in the order in which they came.

    Args:
      capacity: the largest number of elements; negative for no limit.
      dtypes: the type of each component, or one type.
      shapes: the full shape of each component, or None.  Without shapes elements may
        differ in size, and only `dequeue` returns them.
      names: a name for each component, or None.
      shared_name: a name by which several sessions' ops, or several queues of a graph,
        refer to one queue.
      name: the op's name.

    Raises:
      ValueError: a shape is partly unknown.

    Example:
      >>> queue = tf.FIFOQueue(100, [tf.int32, tf.string], shapes=[[2], []])
      >>> session = tf.Session()
      >>> session.run(queue.enqueue_many(([[1, 2], [3, 4]], ["a", "b"])))
      >>> session.run(queue.dequeue_many(2)[0])
      array([[1, 2],
             [3, 4]], dtype=int32)

    Source: FIFOQueueV2 in core/ops/data_flow_ops.cc.
    """

    def __init__(
        self,
        capacity: IntLike,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        types = as_type_list(dtypes)
        sizes = as_shape_list(shapes, types)
        labels = as_name_list(names, types)
        op = FIFOQueueV2(
            tuple(types),
            as_shapes_attribute(sizes),
            int(capacity),
            shared_name=_shared(shared_name),
        )
        super().__init__(types, sizes, labels, op(name=name))


@export("PaddingFIFOQueue", "queue.PaddingFIFOQueue", "io.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose elements may differ in size: batches are padded with zeros.

    Args:
      capacity: the largest number of elements; negative for no limit.
      dtypes: the type of each component, or one type.
      shapes: the shape of each component, of known rank; None for sizes that vary.
      names: a name for each component, or None.
      shared_name: a name by which several ops refer to one queue.
      name: the op's name.

    Raises:
      ValueError: there are not as many shapes as types, or a rank is unknown.

    Example:
      >>> queue = tf.PaddingFIFOQueue(9, tf.int32, shapes=[[None]])
      >>> session = tf.Session()
      >>> session.run(queue.enqueue([[1]]))
      >>> session.run(queue.enqueue([[2, 3]]))
      >>> session.run(queue.dequeue_many(2))
      array([[1, 0],
             [2, 3]], dtype=int32)

    Source: PaddingFIFOQueueV2 in core/ops/data_flow_ops.cc.
    """

    def __init__(
        self,
        capacity: IntLike,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike],
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = as_type_list(dtypes)
        sizes = as_shape_list(shapes, types, unknown_dim_allowed=True)
        labels = as_name_list(names, types)
        if len(types) != len(sizes):
            raise ValueError(
                "Shapes must be provided for all components, but received "
                f"{len(types)} dtypes and {len(sizes)} shapes."
            )
        op = PaddingFIFOQueueV2(
            tuple(types),
            as_shapes_attribute(sizes),
            int(capacity),
            shared_name=_shared(shared_name),
        )
        super().__init__(types, sizes, labels, op(name=name))


@export("RandomShuffleQueue", "queue.RandomShuffleQueue", "io.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that returns its elements in random order.

    Args:
      capacity: the largest number of elements; negative for no limit.
      min_after_dequeue: the number of elements that remain to choose from, until the
        queue is closed.
      dtypes: the type of each component, or one type.
      shapes: the full shape of each component, or None.
      names: a name for each component, or None.
      seed: of the random order, or None.
      shared_name: a name by which several ops refer to one queue.
      name: the op's name.

    Example:
      >>> queue = tf.RandomShuffleQueue(9, 0, tf.int32, shapes=[[]], seed=1)
      >>> session = tf.Session()
      >>> session.run(queue.enqueue_many([[1, 2, 3]]))
      >>> len(session.run(queue.dequeue_many(3)))
      3

    Source: RandomShuffleQueueV2 in core/ops/data_flow_ops.cc.
    """

    def __init__(
        self,
        capacity: IntLike,
        min_after_dequeue: IntLike,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: str | Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = as_type_list(dtypes)
        sizes = as_shape_list(shapes, types)
        labels = as_name_list(names, types)
        first, second = get_seed(seed)
        if first is None or second is None:
            first = second = 0
        elif seed is None and shared_name is not None:
            # The number of the last op must not decide: other programs share the queue.
            digest = hashlib.md5(
                f"{first}{shared_name}".encode(), usedforsecurity=False
            )
            second = int(digest.hexdigest()[:8], 16) & 0x7FFFFFFF
        op = RandomShuffleQueueV2(
            tuple(types),
            as_shapes_attribute(sizes),
            int(capacity),
            int(min_after_dequeue),
            first,
            second,
            shared_name=_shared(shared_name),
        )
        super().__init__(types, sizes, labels, op(name=name))


@export("PriorityQueue", "queue.PriorityQueue", "io.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue whose elements start with an int64; the smallest leaves first.

    Args:
      capacity: the largest number of elements; negative for no limit.
      types: the type of each further component, or one type.
      shapes: the full shape of each further component.
      names: a name for each component, that of the priority first, or None.
      shared_name: a name by which several ops refer to one queue.
      name: the op's name.

    Example:
      >>> queue = tf.PriorityQueue(9, tf.string, shapes=[[]])
      >>> session = tf.Session()
      >>> session.run(queue.enqueue_many(([3, 1, 2], ["c", "a", "b"])))
      >>> session.run(queue.dequeue()[1])
      b'a'

    Source: PriorityQueueV2 in core/ops/data_flow_ops.cc.
    """

    def __init__(
        self,
        capacity: IntLike,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        kinds = as_type_list(types)
        sizes = as_shape_list(shapes, kinds)
        if shapes is None:
            raise TypeError(
                "Expected list for 'shapes' argument to 'priority_queue_v2' Op, not "
                "None."
            )
        op = PriorityQueueV2(
            tuple(kinds),
            as_shapes_attribute(sizes),
            int(capacity),
            shared_name=_shared(shared_name),
        )
        handle = op(name=name)
        every = [int64, *kinds]
        labels = as_name_list(names, every)
        all_sizes = [TensorShape([]), *sizes] if sizes else sizes
        super().__init__(every, all_sizes, labels, handle)
