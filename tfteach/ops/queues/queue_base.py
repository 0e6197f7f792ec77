"""`tf.QueueBase`: what all queues of a program can do.

Source: python/ops/data_flow_ops.py (API, names of nodes, messages).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.gather import gather
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.queues.queue_ops import (
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
)

# What an enqueue op takes: a tensor for each component, by position or by name.
Values: TypeAlias = "Mapping[str, TensorLike] | Sequence[TensorLike] | TensorLike"

# What they come back as: one tensor alone, several as a list, or by name.
Dequeued: TypeAlias = "Tensor | list[Tensor] | dict[str, Tensor]"


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
        self._name = self.name.split("/")[-1]

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
        """The name of the queue's op; "Empty" in an eager program."""
        handle = self._queue_ref
        return "Empty" if isinstance(handle, EagerTensor) else handle.op.name

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
        if isinstance(tensors[0], EagerTensor):
            return self._dequeue_return_value(tensors)
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
