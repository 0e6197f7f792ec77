"""`tf.FIFOQueue` and its siblings: queues as objects of a program.

Source: python/ops/data_flow_ops.py (API, names of nodes, messages).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType, as_dtype, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import (
    DTypeLike,
    IntLike,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.array.gather import gather
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.queues.queue_ops import (
    FIFOQueueV2,
    PaddingFIFOQueueV2,
    PriorityQueueV2,
    QueueClose,
    QueueCloseV2,
    QueueDequeue,
    QueueDequeueMany,
    QueueDequeueManyV2,
    QueueDequeueUpTo,
    QueueDequeueUpToV2,
    QueueDequeueV2,
    QueueEnqueue,
    QueueEnqueueMany,
    QueueEnqueueManyV2,
    QueueEnqueueV2,
    QueueIsClosed,
    QueueIsClosedV2,
    QueueSize,
    QueueSizeV2,
    RandomShuffleQueueV2,
)
from tfteach.ops.random.random_ops import get_seed

# What an enqueue op takes: a tensor for each component, by position or by name.
Values: TypeAlias = "Mapping[str, TensorLike] | Sequence[TensorLike] | TensorLike"

# What they come back as: one tensor alone, several as a list, or by name.
Dequeued: TypeAlias = "Tensor | list[Tensor] | dict[str, Tensor]"


def as_type_list(dtypes: DTypeLike | Sequence[DTypeLike]) -> list[DType]:
    """The types of the components, of which one may be given bare."""
    if isinstance(dtypes, list | tuple):
        return [as_dtype(dtype) for dtype in dtypes]
    return [as_dtype(dtypes)]


def as_shape_list(
    sizes: Any,
    dtypes: Sequence[DType],
    unknown_dim_allowed: bool = False,
    unknown_rank_allowed: bool = False,
) -> list[TensorShape]:
    """The shapes of the components, of which one may be given bare.

    Raises:
      ValueError: a shape is partly unknown where that is not allowed, or there are not
        as many shapes as types.
    """
    if sizes is None:
        return []
    if unknown_dim_allowed and (
        not isinstance(sizes, list | tuple)
        or not sizes
        or any(size is None or isinstance(size, int) for size in sizes)
    ):
        raise ValueError(
            "When providing partial shapes, a list of shapes must be provided."
        )
    if isinstance(sizes, TensorShape):
        sizes = [sizes]
    if not isinstance(sizes, list | tuple):
        raise TypeError(
            "shapes must be a TensorShape or a list or tuple of TensorShapes."
        )
    if all(size is None or isinstance(size, int) for size in sizes):
        sizes = [sizes]  # one shape
    found = [TensorShape(size) for size in sizes]
    if not unknown_dim_allowed and any(not size.is_fully_defined() for size in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    if not unknown_rank_allowed and any(size.dims is None for size in found):
        raise ValueError(f"All shapes must have a defined rank: {found}")
    return found


def as_name_list(
    names: str | Sequence[str] | None, dtypes: Sequence[DType]
) -> list[str] | None:
    """The names of the components, of which one may be given bare."""
    if names is None:
        return None
    found = list(names) if isinstance(names, list | tuple) else [names]
    if len(found) != len(dtypes):
        raise ValueError(
            "List of names must have the same length as the list of dtypes"
        )
    return found  # type: ignore[return-value]


@export("QueueBase", "queue.QueueBase", "io.QueueBase")
class QueueBase:
    """A queue: a buffer of elements between runs of a session.

    An element is a tuple of tensors, its components.  An op that finds the queue full
    or empty waits until another run of the same session, in another thread, has changed
    that.

    Args:
      dtypes: the type of each component.
      shapes: the shape of each component; None or [] if unknown.
      names: a name for each component; elements then are dicts.  Or None.
      queue_ref: the queue's handle.

    Raises:
      ValueError: there are not as many shapes or names as types.

    Source: QueueBase in python/ops/data_flow_ops.py.
    """

    def __init__(
        self,
        dtypes: Sequence[DType],
        shapes: Sequence[TensorShape] | None,
        names: Sequence[str] | None,
        queue_ref: Tensor,
    ) -> None:
        self._dtypes = dtypes
        if shapes is not None and len(shapes):
            if len(shapes) != len(dtypes):
                raise ValueError("Queue shapes must have the same length as dtypes")
            self._shapes = [TensorShape(s) for s in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in dtypes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: TensorLike, queues: list[QueueBase]) -> QueueBase:
        """The queue of a list that a tensor selects in each run.

        Args:
          index: an integer scalar.
          queues: queues with equal component types and names.

        Raises:
          TypeError: `queues` is no list of such queues.

        Example:
          >>> a, b = tf.FIFOQueue(9, tf.int32), tf.FIFOQueue(9, tf.int32)
          >>> chosen = tf.QueueBase.from_list(tf.placeholder(tf.int32), [a, b])
        """
        if (
            not queues
            or not isinstance(queues, list)
            or not all(isinstance(queue, QueueBase) for queue in queues)
        ):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(queue.dtypes != first.dtypes for queue in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(queue.names != first.names for queue in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        columns = zip(*(queue.shapes for queue in queues), strict=True)
        common = [functools.reduce(_common_shape, column) for column in columns]
        handles = stack([queue.queue_ref for queue in queues])
        chosen = gather(handles, index)
        return QueueBase(first.dtypes, common, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's op."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> Sequence[DType]:
        """The type of each component."""
        return self._dtypes

    @property
    def shapes(self) -> Sequence[TensorShape]:
        """The shape of each component."""
        return self._shapes

    @property
    def names(self) -> Sequence[str] | None:
        """The name of each component, or None."""
        return self._names

    def _check_enqueue_dtypes(self, vals: Values) -> list[Tensor]:
        """The values as tensors of the components' types."""
        if isinstance(vals, Mapping):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals.keys(), key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  "
                    f"Dictionary: ({sorted(vals.keys())}), Queue: "
                    f"({sorted(self._names)})"
                )
            vals = [vals[name] for name in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            if not isinstance(vals, list | tuple):
                vals = [vals]
        # As in TensorFlow, what is too much or missing is not noticed here.
        pairs = zip(vals, self._dtypes, strict=False)
        return [
            convert(value, dtype, f"component_{i}")
            for i, (value, dtype) in enumerate(pairs)
        ]

    def _scope_vals(self, vals: Values) -> list[Any]:
        """The values, which determine the graph."""
        if isinstance(vals, list | tuple):
            return list(vals)
        return list(vals.values()) if isinstance(vals, Mapping) else [vals]

    def enqueue(self, vals: Values, name: str | None = None) -> Operation:
        """An op that adds one element; it waits while the queue is full.

        Args:
          vals: a tensor for each component: a list or tuple, a dict by the names of the
            components, or one tensor.
          name: the op's name.

        Raises:
          ValueError: a shape is not the component's; or the keys are not the names.
          tf.errors.CancelledError: in a run, the queue is closed, or the session was
            closed while the op waited.

        Example:
          >>> queue = tf.FIFOQueue(3, tf.float32)
          >>> session = tf.Session()
          >>> session.run(queue.enqueue(2.5))
          >>> session.run(queue.dequeue())
          2.5

        Source: QueueEnqueueV2 in core/ops/data_flow_ops.cc.
        """
        with name_scope(name, f"{self._name}_enqueue", self._scope_vals(vals)) as scope:
            tensors = self._check_enqueue_dtypes(vals)
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                tensor.get_shape().assert_is_compatible_with(shape)
            kind: Any = QueueEnqueueV2 if self._is_resource else QueueEnqueue
            return kind()(self._queue_ref, tensors, name=scope)  # type: ignore[no-any-return]

    def enqueue_many(self, vals: Values, name: str | None = None) -> Operation:
        """An op that adds an element for each row of the tensors.

        It waits whenever the queue is full.

        Args:
          vals: as for `enqueue`, with a further first axis, of one size.
          name: the op's name.

        Raises:
          ValueError: a shape is not the component's; or the sizes differ.
          tf.errors.CancelledError: in a run, the queue is closed, or the session was
            closed while the op waited.

        Source: QueueEnqueueManyV2 in core/ops/data_flow_ops.cc.
        """
        with name_scope(
            name, f"{self._name}_EnqueueMany", self._scope_vals(vals)
        ) as scope:
            tensors = self._check_enqueue_dtypes(vals)
            size = Dimension(tensors[0].get_shape().with_rank_at_least(1)[0])
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                found = tensor.get_shape().with_rank_at_least(1)
                size = size.merge_with(found[0])
                found[1:].assert_is_compatible_with(shape)
            kind: Any = QueueEnqueueManyV2 if self._is_resource else QueueEnqueueMany
            return kind()(self._queue_ref, tensors, name=scope)  # type: ignore[no-any-return]

    @property
    def _is_resource(self) -> bool:
        return self._queue_ref.dtype.name == "resource"

    def _dequeue_return_value(self, tensors: list[Tensor]) -> Dequeued:
        """One tensor alone, a dict if the components have names, else the list."""
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Dequeued:
        """Tensors: the components of an element, which the op removes.

        It waits while the queue is empty.

        Returns:
          A tensor; a list of them for several components, a dict if these have names.

        Raises:
          tf.errors.OutOfRangeError: in a run, the queue is empty and closed.
          tf.errors.CancelledError: in a run, the session was closed while it waited.

        Source: QueueDequeueV2 in core/ops/data_flow_ops.cc.
        """
        name = f"{self._name}_Dequeue" if name is None else name
        kind: Any = QueueDequeueV2 if self._is_resource else QueueDequeue
        tensors = _listed(kind(tuple(self._dtypes))(self._queue_ref, name=name))
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(shape)
        return self._dequeue_return_value(tensors)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Dequeued:
        """Tensors: `n` elements, one in each row.

        The op waits until there have been as many.  The queue must know its shapes.

        Args:
          n: an int32 scalar.
          name: the op's name.

        Returns:
          As `dequeue`, with a further first axis of size `n`.

        Raises:
          tf.errors.OutOfRangeError: in a run, the queue is closed and has fewer.
          tf.errors.CancelledError: in a run, the session was closed while it waited.
          tf.errors.InvalidArgumentError: in a run, the shapes are not known.

        Source: QueueDequeueManyV2 in core/ops/data_flow_ops.cc.
        """
        name = f"{self._name}_DequeueMany" if name is None else name
        kind: Any = QueueDequeueManyV2 if self._is_resource else QueueDequeueMany
        tensors = _listed(kind(tuple(self._dtypes))(self._queue_ref, n, name=name))
        size = constant_value(tensors[0].op.inputs[1])
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(TensorShape([size]).concatenate(shape))
        return self._dequeue_return_value(tensors)

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Dequeued:
        """Tensors: `n` elements, or as many as a closed queue still has.

        Args and errors: as for `dequeue_many`; OutOfRangeError only if there are none.

        Returns:
          As `dequeue`, with a further first axis of unknown size.

        Source: QueueDequeueUpToV2 in core/ops/data_flow_ops.cc.
        """
        name = f"{self._name}_DequeueUpTo" if name is None else name
        kind: Any = QueueDequeueUpToV2 if self._is_resource else QueueDequeueUpTo
        tensors = _listed(kind(tuple(self._dtypes))(self._queue_ref, n, name=name))
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(TensorShape([None]).concatenate(shape))
        return self._dequeue_return_value(tensors)

    def close(
        self, cancel_pending_enqueues: bool = False, name: str | None = None
    ) -> Operation:
        """An op that closes the queue: it takes no more elements.

        Those it has can still be dequeued.

        Args:
          cancel_pending_enqueues: whether enqueue ops that wait end with
            CancelledError; otherwise the op waits for them.
          name: the op's name.

        Source: QueueCloseV2 in core/ops/data_flow_ops.cc.
        """
        name = f"{self._name}_Close" if name is None else name
        kind: Any = QueueCloseV2 if self._is_resource else QueueClose
        return kind(cancel_pending_enqueues)(self._queue_ref, name=name)  # type: ignore[no-any-return]

    def is_closed(self, name: str | None = None) -> Tensor:
        """A bool scalar: whether the queue is closed.

        Source: QueueIsClosedV2 in core/ops/data_flow_ops.cc.
        """
        name = f"{self._name}_Is_Closed" if name is None else name
        kind: Any = QueueIsClosedV2 if self._is_resource else QueueIsClosed
        return kind()(self._queue_ref, name=name)  # type: ignore[no-any-return]

    def size(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of elements.

        Source: QueueSizeV2 in core/ops/data_flow_ops.cc.
        """
        name = f"{self._name}_Size" if name is None else name
        kind: Any = QueueSizeV2 if self._is_resource else QueueSize
        return kind()(self._queue_ref, name=name)  # type: ignore[no-any-return]


def _listed(found: Any) -> list[Tensor]:
    return [found] if isinstance(found, Tensor) else list(found)


def _common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape that fits both; unknown where they differ."""
    if a.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return a.most_specific_compatible_shape(b)


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
            _attribute(sizes),
            int(capacity),
            shared_name=shared_name or "",
        )
        super().__init__(types, sizes, labels, op(name=name))


def _attribute(sizes: Sequence[TensorShape]) -> tuple[Any, ...]:
    return tuple(None if s.dims is None else tuple(s.as_list()) for s in sizes)


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
            _attribute(sizes),
            int(capacity),
            shared_name=shared_name or "",
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
            _attribute(sizes),
            int(capacity),
            int(min_after_dequeue),
            first,
            second,
            shared_name=shared_name or "",
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
            _attribute(sizes),
            int(capacity),
            shared_name=shared_name or "",
        )
        handle = op(name=name)
        every = [int64, *kinds]
        labels = as_name_list(names, every)
        all_sizes = [TensorShape([]), *sizes] if sizes else sizes
        super().__init__(every, all_sizes, labels, handle)
