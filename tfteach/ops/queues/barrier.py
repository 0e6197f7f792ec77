"""Barriers: elements that are complete once each of their components was inserted.

Source: core/ops/data_flow_ops.cc, core/kernels/barrier_ops.cc,
python/ops/data_flow_ops.py (semantics, names of nodes, messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.dtypes import DType, as_dtype, c_name, int64, string
from tfteach.framework.errors import (
    CancelledError,
    OpError,
    OutOfRangeError,
    invalid_argument,
)
from tfteach.framework.op import MultiOutputOp, NoOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.resource_names import ReferencedResource, resource_name
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.type_aliases import (
    DTypeLike,
    KernelContext,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.queues.component_lists import (
    as_shape_list,
    as_type_list,
    check_components,
)
from tfteach.ops.queues.queue_attempts import Element
from tfteach.ops.queues.queue_ops import OnHost, refuse_timeout
from tfteach.ops.queues.queue_stores import PriorityStore


class BarrierStore(ReferencedResource):
    """The incomplete elements by key, and a queue of the complete ones.

    Attributes:
      ready: complete elements, by the insertion of their first component.
      incomplete: key -> the number of that insertion, and the components so far.
    """

    shape: tuple[int, ...] = ()

    def __init__(
        self, name: str, types: Sequence[DType], sizes: Sequence[Shape]
    ) -> None:
        self.name, self.types = name, types
        self.sizes = tuple(sizes) or ((),) * len(types)  # as TensorFlow reports them
        known = sizes or [None] * len(types)
        kinds = (int64, string, *types)
        self.ready = PriorityStore(name, kinds, ((), (), *known), -1)
        self.incomplete: dict[bytes, tuple[int, list[Any]]] = {}
        self.insertions = np.iinfo(np.int64).min
        self.is_closed = self.is_cancelled = False

    def clear(self) -> None:
        self.incomplete.clear()
        self.ready.clear()

    def insert(
        self, ctx: KernelContext, component: int, keys: Sequence[bytes], values: Any
    ) -> None:
        """Set a component of the elements with these keys."""
        count = len(self.types)
        if not 0 <= component < count:
            raise invalid_argument(
                f"The component ID is out of range {component} > num_components (= "
                f"{count})"
            )
        if values.dtype != self.types[component].numpy_dtype:
            left = "string_ref, string"
            raise invalid_argument(
                f"Signature mismatch, have: {left}, {c_name(as_dtype(values.dtype))}"
                f"-> expected: {left}, {c_name(self.types[component])}->"
            )
        if len(keys) and len(values) and not values[:1].size:
            raise invalid_argument(
                f"Tensors with no elements are not supported {self.name}: received "
                f"shape {shapes.text(values.shape)}"
            )
        if len(values) != len(keys):
            raise invalid_argument(
                f"Barrier {self.name} needs a value for each key: there are "
                f"{len(keys)} keys and {len(values)} values"
            )
        with self.ready.lock:
            done = self._insert(component, keys, values)
        for element in done:
            self.ready.enqueue(ctx, element)
        self._close_if_complete(ctx)

    def _insert(
        self, component: int, keys: Sequence[bytes], values: Any
    ) -> list[Element]:
        new = [key for key in keys if key not in self.incomplete]
        if self.is_closed and (self.is_cancelled or (new and not self.incomplete)):
            raise CancelledError(
                None,
                None,
                f"Barrier {self.name} is closed.  Pending enqueues cancelled: "
                f"{int(self.is_cancelled)}.  Number of new insertions: {len(new)}.  "
                f"Number of incomplete keys: {len(self.incomplete)}.",
            )
        done: list[Element] = []
        for i, key in enumerate(keys):
            found = self.incomplete.get(key)
            if found is None:
                if self.is_closed:
                    raise CancelledError(
                        None,
                        None,
                        f"Barrier {self.name} is closed, but attempted to insert a "
                        f"brand new key: {key.decode('utf-8', 'replace')}.  Pending "
                        f"enqueues cancelled: {int(self.is_cancelled)}.  Insertion "
                        f"index: {i}.  Number of incomplete keys: "
                        f"{len(self.incomplete)}.",
                    )
                found = self.insertions, [None] * len(self.types)
                self.incomplete[key] = found
            number, parts = found
            if parts[component] is not None:
                raise invalid_argument(
                    f"Key {key.decode('utf-8', 'replace')} already has a value for "
                    f"component {component} in barrier {self.name}"
                )
            parts[component] = np.array(values[i], values.dtype)  # bytes as objects
            if all(part is not None for part in parts):
                del self.incomplete[key]
                text = np.array(key, object)
                done.append((np.int64(number), text, *parts))
        self.insertions += bool(new)
        return done

    def take(self, ctx: KernelContext, count: int, smaller: bool) -> Element:
        """Remove complete elements, or wait for them."""
        with self.ready.lock:
            ready, total = self.ready.size, self.ready.size + len(self.incomplete)
            is_closed = self.is_closed
        if is_closed:
            if smaller:
                count = min(count, ready)
            if total < count or not total:
                raise OutOfRangeError(
                    None,
                    None,
                    f"Barrier '{self.name}' is closed and has insufficient elements "
                    f"(requested {count}, total size {total})",
                )
        return self.ready.dequeue_many(ctx, count, smaller)

    def close(self, ctx: KernelContext, cancels: bool) -> None:
        """Accept no new keys; with `cancels` no more components, either."""
        with self.ready.lock:
            if self.is_closed and not cancels:
                raise CancelledError(
                    None, None, f"Barrier '{self.name}' is already closed."
                )
            self.is_closed = True
            if cancels:
                self.is_cancelled = True
                self.incomplete.clear()
        self._close_if_complete(ctx)

    def _close_if_complete(self, ctx: KernelContext) -> None:
        if self.is_closed and not self.incomplete:
            self.ready.close(ctx, cancels_enqueues=True)


class Barrier(OnHost):
    """A barrier, shared by name.  Source: data_flow_ops.cc, Barrier."""

    signature = "-> handle: ref string"
    component_types: tuple[DType, ...]
    shapes: tuple[Shape, ...] = ()
    capacity: int = -1
    container: str = ""
    shared_name: str = ""

    minimum: ClassVar[dict[str, int]] = {"component_types": 1}
    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return (2,)

    def compute(self, ctx: KernelContext) -> Any:
        key = self.shared_name or f"node {ctx.op.name}"

        def make() -> BarrierStore:
            name = resource_name(self.shared_name, ctx.op.name)
            return BarrierStore(name, self.component_types, self.shapes)

        found: BarrierStore = ctx.resource("barrier", key, make, self.container)
        own = self.component_types, self.shapes or ((),) * len(self.component_types)
        try:
            check_components(f"barrier '{found.name}'", (found.types, found.sizes), own)
        except OpError as error:
            raise error.at(ctx.op) from None
        return found


class BarrierInsertMany(OnHost, NoOutputOp):
    """Set a component of some elements.  Source: data_flow_ops.cc."""

    signature = "handle: ref string, keys: string, values: T ->"
    component_index: int

    def infer_shape(self, handle: Shape, keys: Shape, values: Shape) -> Any:
        if keys is not None and values:
            first, second = shapes.with_rank(keys, 1)[0], values[0]
            if first is not None and second is not None and first != second:
                raise ValueError(
                    f"Dimension 0 in both shapes must be equal, but are {first} and "
                    f"{second}. Shapes are {shapes.text(keys)} and "
                    f"{shapes.text((second,))}."
                )
        return []

    def compute(
        self, ctx: KernelContext, handle: BarrierStore, keys: Any, values: Any
    ) -> None:
        handle.insert(ctx, self.component_index, keys.ravel().tolist(), values)


class BarrierTakeMany(OnHost, MultiOutputOp):
    """Remove complete elements.  Source: data_flow_ops.cc, BarrierTakeMany."""

    signature = (
        "handle: ref string, num_elements: int32 -> indices: int64, keys: string, "
        "values: *component_types"
    )
    component_types: tuple[DType, ...]
    allow_small_batch: bool = False
    wait_for_incomplete: bool = False
    timeout_ms: int = -1

    minimum: ClassVar[dict[str, int]] = {"component_types": 1}
    may_wait: ClassVar[bool] = True

    def infer_shape(self, handle: Shape, num_elements: Shape) -> Any:
        return [None] * (2 + len(self.component_types))

    def compute(self, ctx: KernelContext, handle: BarrierStore, count: Any) -> Any:
        refuse_timeout(self.timeout_ms)
        return handle.take(ctx, int(count), self.allow_small_batch)


class BarrierClose(OnHost, NoOutputOp):
    """Close a barrier.  Source: data_flow_ops.cc, BarrierClose."""

    signature = "handle: ref string ->"
    cancel_pending_enqueues: bool = False

    def infer_shape(self, handle: Shape) -> Any:
        return []

    def compute(self, ctx: KernelContext, handle: BarrierStore) -> None:
        handle.close(ctx, self.cancel_pending_enqueues)


class BarrierReadySize(OnHost):
    """The number of complete elements.  Source: data_flow_ops.cc."""

    signature = "handle: ref string -> size: int32"

    def infer_shape(self, handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: BarrierStore) -> Any:
        return np.int32(handle.ready.size)


class BarrierIncompleteSize(OnHost):
    """The number of incomplete elements.  Source: data_flow_ops.cc."""

    signature = "handle: ref string -> size: int32"

    def infer_shape(self, handle: Shape) -> Shape:
        return ()

    def compute(self, ctx: KernelContext, handle: BarrierStore) -> Any:
        return np.int32(len(handle.incomplete))


class Taken(NamedTuple):
    """What `Barriers.take_many` returns."""

    indices: Tensor
    keys: Tensor
    values: list[Tensor]


class Barriers:
    """A barrier as an object of a program: TensorFlow's `data_flow_ops.Barrier`.

    Args:
      types: the type of each component, or one type.
      shapes: the full shape of each component, or None.
      shared_name: a name by which several ops refer to one barrier.
      name: the op's name.

    Source: python/ops/data_flow_ops.py, Barrier.
    """

    def __init__(
        self,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        shared_name: str | None = None,
        name: str = "barrier",
    ) -> None:
        self._types = as_type_list(types)
        self._shapes = [TensorShape(None)] * len(self._types)
        if shapes is not None:
            self._shapes = as_shape_list(shapes, self._types)
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(
                        "Empty tensors are not supported, but received shape "
                        f"'{tuple(shape.as_list())}' at index {i}"
                    )
        known = (
            () if shapes is None else tuple(tuple(s.as_list()) for s in self._shapes)
        )
        op = Barrier(tuple(self._types), known, shared_name=shared_name or "")
        self._barrier_ref = op(name=name)
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Tensor:
        """The handle."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the barrier's op."""
        return self._barrier_ref.op.name

    def insert_many(
        self,
        component_index: int,
        keys: TensorLike,
        values: TensorLike,
        name: str | None = None,
    ) -> Operation:
        """An op that sets a component of the elements with these keys."""
        name = f"{self._name}_BarrierInsertMany" if name is None else name
        op = BarrierInsertMany(component_index)
        return op(self._barrier_ref, keys, values, name=name)

    def take_many(
        self,
        num_elements: TensorLike,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> Taken:
        """Complete elements, which the op removes; it waits until there are as many.

        Args:
          num_elements: how many, an int32 scalar.
          allow_small_batch: whether a closed barrier may return fewer.
          timeout: not supported by TensorFlow's op, either: runs refuse it.
          name: the op's name.

        Returns:
          The insertions of the elements' first components, their keys, and a list of
          their components.
        """
        name = f"{self._name}_BarrierTakeMany" if name is None else name
        op = BarrierTakeMany(
            tuple(self._types),
            allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout,
        )
        found = op(self._barrier_ref, num_elements, name=name)
        size = None
        if not allow_small_batch:
            size = constant_value(found[0].op.inputs[1])
        rows = TensorShape([size])
        found[0].set_shape(rows)
        found[1].set_shape(rows)
        for tensor, shape in zip(found[2:], self._shapes, strict=True):
            tensor.set_shape(rows.concatenate(shape))
        return Taken(found[0], found[1], found[2:])

    def close(
        self, cancel_pending_enqueues: bool = False, name: str | None = None
    ) -> Operation:
        """An op that closes the barrier to new keys, or to all."""
        name = f"{self._name}_BarrierClose" if name is None else name
        return BarrierClose(cancel_pending_enqueues)(self._barrier_ref, name=name)

    def ready_size(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of complete elements."""
        name = f"{self._name}_BarrierReadySize" if name is None else name
        return BarrierReadySize()(self._barrier_ref, name=name)

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of incomplete elements."""
        name = f"{self._name}_BarrierIncompleteSize" if name is None else name
        return BarrierIncompleteSize()(self._barrier_ref, name=name)
