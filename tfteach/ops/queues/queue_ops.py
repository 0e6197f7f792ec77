"""Queues, and the ops that enqueue, dequeue and close.

Each op exists for a resource handle, which today's queues have, and for a reference,
which graphs of TensorFlow before 1.0 have.
Source: core/ops/data_flow_ops.cc, core/kernels/queue_ops.cc, queue_op.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType, c_name, int64
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.resource_names import resource_name
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.queues.component_lists import (
    check_components,
    shared_differs,
)
from tfteach.ops.queues.queue_attempts import Queue
from tfteach.ops.queues.queue_stores import (
    FIFOStore,
    PaddingStore,
    PriorityStore,
    ShuffleStore,
)


class OnHost(StatefulOp, abstract=True):
    """Queues stay on the CPU and have no gradients."""

    on_gpu: ClassVar[bool] = False

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


# ---- queues


class QueueHandle(OnHost, abstract=True):
    """A queue, shared by name."""

    minimum: ClassVar[dict[str, int]] = {"component_types": 1}
    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True
    store: ClassVar[type[Queue]]

    def infer_shape(self) -> Shape:
        return (2,) if self.outputs[0].is_ref else ()

    def components(self) -> tuple[tuple[DType, ...], tuple[Shape, ...]]:
        """The types and the shapes of an element's components."""
        own: Any = self
        return own.component_types, own.shapes

    def make(self, name: str) -> Queue:
        """A new queue.

        Raises:
          InvalidArgumentError: the attributes contradict each other.
        """
        own: Any = self
        return self.store(name, *self.components(), own.capacity)

    def compute(self, ctx: KernelContext) -> Any:
        own: Any = self
        key = own.shared_name or f"node {ctx.op.name}"

        def make() -> Queue:
            return self.make(resource_name(own.shared_name, ctx.op.name))

        try:
            queue: Queue = ctx.resource("queue", key, make, own.container)
            self.check_shared(queue)
        except OpError as error:
            raise error.at(ctx.op) from None
        return queue

    def check_shared(self, queue: Queue) -> None:
        """Raise InvalidArgumentError if another op made the queue differently."""
        if type(queue) is not self.store:
            raise invalid_argument(
                f"Expected {queue.kind_of_batches}, found {self.op_type}"
            )
        own: Any = self
        if own.capacity >= 0 and own.capacity != queue.capacity:
            raise _differs(queue, "capacity", queue.capacity, own.capacity)
        check_components(
            f"queue '{queue.name}'", (queue.dtypes, queue.shapes), self.components()
        )


def _differs(queue: Queue, what: str, found: Any, wanted: Any) -> OpError:
    return shared_differs(f"queue '{queue.name}'", what, found, wanted, "was")


class _PlainHandle(QueueHandle, abstract=True):
    component_types: tuple[DType, ...]
    shapes: tuple[Shape, ...] = ()
    capacity: int = -1
    container: str = ""
    shared_name: str = ""


class FIFOQueueV2(_PlainHandle):
    """A queue in order.  Source: data_flow_ops.cc, FIFOQueueV2."""

    signature = "-> handle: resource"
    store: ClassVar[type[Queue]] = FIFOStore


class FIFOQueue(_PlainHandle):
    """A queue in order.  Source: data_flow_ops.cc, FIFOQueue."""

    signature = "-> handle: ref string"
    store: ClassVar[type[Queue]] = FIFOStore


class PaddingFIFOQueueV2(_PlainHandle):
    """A queue that pads its batches.  Source: data_flow_ops.cc, PaddingFIFOQueueV2."""

    signature = "-> handle: resource"
    store: ClassVar[type[Queue]] = PaddingStore


class PaddingFIFOQueue(_PlainHandle):
    """A queue that pads its batches.  Source: data_flow_ops.cc, PaddingFIFOQueue."""

    signature = "-> handle: ref string"
    store: ClassVar[type[Queue]] = PaddingStore


class _PriorityHandle(QueueHandle, abstract=True):
    minimum: ClassVar[dict[str, int]] = {}
    store: ClassVar[type[Queue]] = PriorityStore

    def components(self) -> tuple[tuple[DType, ...], tuple[Shape, ...]]:
        types, sizes = super().components()
        return (int64, *types), ((), *sizes)


class PriorityQueueV2(_PriorityHandle):
    """A queue by priority.  Source: data_flow_ops.cc, PriorityQueueV2."""

    signature = "-> handle: resource"
    component_types: tuple[DType, ...] = ()
    shapes: tuple[Shape, ...]  # type: ignore[misc]  # the order is TensorFlow's
    capacity: int = -1
    container: str = ""
    shared_name: str = ""


class PriorityQueue(_PriorityHandle):
    """A queue by priority.  Source: data_flow_ops.cc, PriorityQueue."""

    signature = "-> handle: ref string"
    component_types: tuple[DType, ...] = ()
    shapes: tuple[Shape, ...]  # type: ignore[misc]  # the order is TensorFlow's
    capacity: int = -1
    container: str = ""
    shared_name: str = ""


class _ShuffleHandle(QueueHandle, abstract=True):
    component_types: tuple[DType, ...]
    shapes: tuple[Shape, ...] = ()
    capacity: int = -1
    min_after_dequeue: int = 0
    seed: int = 0
    seed2: int = 0
    container: str = ""
    shared_name: str = ""

    store: ClassVar[type[Queue]] = ShuffleStore

    def make(self, name: str) -> Queue:
        least = self.min_after_dequeue
        if least < 0:
            raise invalid_argument(f"min_after_dequeue {least} must be >= 0")
        if 0 <= self.capacity <= least:
            raise invalid_argument(
                f"min_after_dequeue {least} must be < capacity {self.capacity}"
            )
        types, sizes = self.components()
        seeds = self.seed, self.seed2
        return ShuffleStore(name, types, sizes, self.capacity, least, seeds)

    def check_shared(self, queue: Queue) -> None:
        super().check_shared(queue)
        assert isinstance(queue, ShuffleStore)
        least = queue.min_after_dequeue
        if self.min_after_dequeue != least:
            wanted = f"{self.min_after_dequeue}."
            raise _differs(queue, "min_after_dequeue", least, wanted)
        seeds = self.seed, self.seed2
        if seeds not in ((0, 0), queue.seeds):
            raise invalid_argument(
                f"Shared queue '{queue.name}' has random seeds {queue.seeds} but "
                f"requested seeds are {seeds}."
            )


class RandomShuffleQueueV2(_ShuffleHandle):
    """A queue in random order.  Source: data_flow_ops.cc, RandomShuffleQueueV2."""

    signature = "-> handle: resource"


class RandomShuffleQueue(_ShuffleHandle):
    """A queue in random order.  Source: data_flow_ops.cc, RandomShuffleQueue."""

    signature = "-> handle: ref string"


class FakeQueue(OnHost):
    """A reference to a queue that has a resource handle.

    Source: data_flow_ops.cc, FakeQueue.
    """

    signature = "resource: resource -> handle: ref string"
    aliases: ClassVar[bool] = True

    def infer_shape(self, resource: Shape) -> Shape:
        return None

    def compute(self, ctx: KernelContext, resource: Queue) -> Any:
        return resource


# ---- enqueuing


def refuse_timeout(timeout_ms: int) -> None:
    """Raise TensorFlow's error for an op that is to wait for a limited time."""
    if timeout_ms != -1:
        raise invalid_argument("Timeout not supported yet.")


class Enqueue(OnHost, NoOutputOp, abstract=True):
    timeout_ms: int = -1

    minimum: ClassVar[dict[str, int]] = {"Tcomponents": 1}
    may_wait: ClassVar[bool] = True

    def infer_shape(self, handle: Shape, components: list[Shape]) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, handle: Queue, *components: Any) -> None:
        refuse_timeout(self.timeout_ms)
        _check_components(handle, components, ctx.op)
        handle.enqueue(ctx, components)


class EnqueueMany(Enqueue, abstract=True):
    def compute(self, ctx: KernelContext, handle: Queue, *components: Any) -> None:
        refuse_timeout(self.timeout_ms)
        _check_components(handle, components, ctx.op)
        handle.enqueue_many(ctx, components)


def _check_components(queue: Queue, components: tuple[Any, ...], op: Operation) -> None:
    """Refuse other types than the queue's."""
    if len(components) == len(queue.dtypes) and all(
        tensor.dtype.base_dtype is dtype
        for tensor, dtype in zip(op.inputs[1:], queue.dtypes, strict=True)
    ):
        return
    handle = "string_ref" if op.inputs[0].dtype.is_ref else "resource"
    found = [c_name(tensor.dtype) for tensor in op.inputs[1:]]
    wanted = [c_name(dtype) for dtype in queue.dtypes]
    raise invalid_argument(
        f"Signature mismatch, have: {', '.join((handle, *found))}-> expected: "
        f"{', '.join((handle, *wanted))}->"
    )


class QueueEnqueueV2(Enqueue):
    """Add an element.  Source: data_flow_ops.cc, QueueEnqueueV2."""

    signature = "handle: resource, components: *Tcomponents ->"


class QueueEnqueue(Enqueue):
    """Add an element.  Source: data_flow_ops.cc, QueueEnqueue."""

    signature = "handle: ref string, components: *Tcomponents ->"


class QueueEnqueueManyV2(EnqueueMany):
    """Add the rows of tensors.  Source: data_flow_ops.cc, QueueEnqueueManyV2."""

    signature = "handle: resource, components: *Tcomponents ->"


class QueueEnqueueMany(EnqueueMany):
    """Add the rows of tensors.  Source: data_flow_ops.cc, QueueEnqueueMany."""

    signature = "handle: ref string, components: *Tcomponents ->"


# ---- dequeuing


class Dequeue(OnHost, MultiOutputOp, abstract=True):
    component_types: tuple[DType, ...]
    timeout_ms: int = -1

    minimum: ClassVar[dict[str, int]] = {"component_types": 1}
    may_wait: ClassVar[bool] = True
    aliases: ClassVar[bool] = True

    def infer_shape(self, handle: Shape) -> list[Shape]:
        return [None] * len(self.component_types)

    def compute(self, ctx: KernelContext, handle: Queue) -> Any:
        refuse_timeout(self.timeout_ms)
        _check_outputs(handle, self.component_types, ctx.op)
        return handle.dequeue(ctx)


class DequeueMany(Dequeue, abstract=True):
    by_value: ClassVar[tuple[str, ...]] = ("n",)
    allows_fewer: ClassVar[bool] = False

    def infer_shape(self, handle: Shape, n: Any) -> list[Shape]:  # type: ignore[override]
        if n is not None and np.size(n) == 1 and int(np.ravel(n)[0]) < 0:
            raise ValueError(f"Input 'n' must be >= 0, but is {int(np.ravel(n)[0])}")
        return [None] * len(self.component_types)

    def compute(self, ctx: KernelContext, handle: Queue, n: Any) -> Any:  # type: ignore[override]
        refuse_timeout(self.timeout_ms)
        _check_outputs(handle, self.component_types, ctx.op)
        count = int(n) if np.ndim(n) == 0 else int(np.ravel(n)[0])
        if count < 0:
            name = "DequeueUpToOp" if self.allows_fewer else "DequeueManyOp"
            raise invalid_argument(f"{name} requested {count} < 0 elements")
        return handle.dequeue_many(ctx, count, self.allows_fewer)


def _check_outputs(queue: Queue, types: tuple[DType, ...], op: Operation) -> None:
    if types == queue.dtypes:
        return
    inputs = ["string_ref" if op.inputs[0].dtype.is_ref else "resource"]
    inputs += ["int32"] * (len(op.inputs) - 1)
    found, wanted = (", ".join(map(c_name, some)) for some in (types, queue.dtypes))
    left = ", ".join(inputs)
    raise invalid_argument(
        f"Signature mismatch, have: {left}->{found} expected: {left}->{wanted}"
    )


class QueueDequeueV2(Dequeue):
    """Remove an element.  Source: data_flow_ops.cc, QueueDequeueV2."""

    signature = "handle: resource -> components: *component_types"


class QueueDequeue(Dequeue):
    """Remove an element.  Source: data_flow_ops.cc, QueueDequeue."""

    signature = "handle: ref string -> components: *component_types"


class QueueDequeueManyV2(DequeueMany):
    """Remove `n` elements.  Source: data_flow_ops.cc, QueueDequeueManyV2."""

    signature = "handle: resource, n: int32 -> components: *component_types"


class QueueDequeueMany(DequeueMany):
    """Remove `n` elements.  Source: data_flow_ops.cc, QueueDequeueMany."""

    signature = "handle: ref string, n: int32 -> components: *component_types"


class QueueDequeueUpToV2(DequeueMany):
    """Remove up to `n` elements.  Source: data_flow_ops.cc, QueueDequeueUpToV2."""

    signature = "handle: resource, n: int32 -> components: *component_types"
    allows_fewer: ClassVar[bool] = True


class QueueDequeueUpTo(DequeueMany):
    """Remove up to `n` elements.  Source: data_flow_ops.cc, QueueDequeueUpTo."""

    signature = "handle: ref string, n: int32 -> components: *component_types"
    allows_fewer: ClassVar[bool] = True


# ---- closing


class Close(OnHost, NoOutputOp, abstract=True):
    cancel_pending_enqueues: bool = False

    may_wait: ClassVar[bool] = True

    def infer_shape(self, handle: Shape) -> list[Shape]:
        return []

    def compute(self, ctx: KernelContext, handle: Queue) -> None:
        handle.close(ctx, self.cancel_pending_enqueues)


class QueueCloseV2(Close):
    """Close a queue.  Source: data_flow_ops.cc, QueueCloseV2."""

    signature = "handle: resource ->"


class QueueClose(Close):
    """Close a queue.  Source: data_flow_ops.cc, QueueClose."""

    signature = "handle: ref string ->"


# ---- looking


class _Size(OnHost, abstract=True):
    def infer_shape(self, handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: Queue) -> Any:
        with handle.lock:
            return np.int32(handle.size)


class QueueSizeV2(_Size):
    """The number of elements.  Source: data_flow_ops.cc, QueueSizeV2."""

    signature = "handle: resource -> size: int32"


class QueueSize(_Size):
    """The number of elements.  Source: data_flow_ops.cc, QueueSize."""

    signature = "handle: ref string -> size: int32"


class _IsClosed(OnHost, abstract=True):
    def infer_shape(self, handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: Queue) -> Any:
        return np.bool_(handle.is_closed)


class QueueIsClosedV2(_IsClosed):
    """Whether a queue is closed.  Source: data_flow_ops.cc, QueueIsClosedV2."""

    signature = "handle: resource -> is_closed: bool"


class QueueIsClosed(_IsClosed):
    """Whether a queue is closed.  Source: data_flow_ops.cc, QueueIsClosed."""

    signature = "handle: ref string -> is_closed: bool"
