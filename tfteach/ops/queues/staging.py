"""Staging areas: buffers that one op of a step fills and another one reads.

Source: core/ops/data_flow_ops.cc, core/kernels/stage_op.cc, python/ops/data_flow_ops.py
(semantics, names of nodes, messages).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import ResourceExhaustedError
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import MultiOutputOp, NoOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.type_aliases import (
    DTypeLike,
    KernelContext,
    ShapeLike,
    TensorLike,
)
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.queues.component_lists import as_type_list
from tfteach.ops.queues.queue_attempts import Element
from tfteach.ops.queues.queue_ops import OnHost

STAGE_CANCELLED = "Stage operation was cancelled"
UNSTAGE_CANCELLED = "Unstage operation was cancelled"


class StagingStore:
    """The elements of a staging area, in order.

    Attributes:
      capacity: the largest number of elements; 0 for no limit.
      limit_bytes: the largest size of all together; 0 for no limit.
    """

    def __init__(self, capacity: int, limit_bytes: int) -> None:
        self.capacity, self.limit_bytes = capacity, limit_bytes
        self.elements: deque[Element] = deque()
        self.size_bytes = 0
        self.changed = threading.Condition(threading.Lock())

    def _has_room(self, size_bytes: int) -> bool:
        if self.capacity > 0 and len(self.elements) >= self.capacity:
            return False
        return self.limit_bytes <= 0 or self.size_bytes + size_bytes <= self.limit_bytes

    def put(self, ctx: KernelContext, element: Element) -> None:
        """Add an element, or wait until there is room."""
        size_bytes = sum(value.nbytes for value in element)
        if 0 < self.limit_bytes < size_bytes:
            raise ResourceExhaustedError(
                None,
                None,
                f"Attempted to insert tensors with combined size of '{size_bytes}' "
                "bytes into Staging Area with a memory limit of "
                f"'{self.limit_bytes}'.",
            )
        with self.changed:
            ctx.wait_until(
                self.changed, lambda: self._has_room(size_bytes), STAGE_CANCELLED
            )
            self.elements.append(element)
            self.size_bytes += size_bytes
            self.changed.notify_all()

    def get(self, ctx: KernelContext) -> Element:
        """Remove and return the first element, or wait for one."""
        with self.changed:
            ctx.wait_until(self.changed, lambda: bool(self.elements), UNSTAGE_CANCELLED)
            element = self.elements.popleft()
            self.size_bytes -= sum(value.nbytes for value in element)
            self.changed.notify_all()
            return element

    def peek(self, ctx: KernelContext, index: int) -> Element:
        """An element, which remains; or wait until there is one at that place."""
        with self.changed:
            ctx.wait_until(
                self.changed, lambda: index < len(self.elements), UNSTAGE_CANCELLED
            )
            return self.elements[index]

    def clear(self) -> None:
        with self.changed:
            self.elements.clear()
            self.size_bytes = 0
            self.changed.notify_all()


# ---- ops


class _StagingOp(OnHost, abstract=True):
    minimum: ClassVar[dict[str, int]] = {"capacity": 0, "memory_limit": 0}

    def area(self, ctx: KernelContext) -> StagingStore:
        own: Any = self
        return ctx.resource(
            "staging area",
            own.shared_name or f"node {ctx.op.name}",
            lambda: StagingStore(own.capacity, own.memory_limit),
            own.container,
        )


class Stage(_StagingOp, NoOutputOp):
    """Add an element.  Source: data_flow_ops.cc, Stage."""

    signature = "values: *dtypes ->"
    capacity: int = 0
    memory_limit: int = 0
    container: str = ""
    shared_name: str = ""

    minimum: ClassVar[dict[str, int]] = {"capacity": 0, "memory_limit": 0, "dtypes": 1}
    may_wait: ClassVar[bool] = True

    def infer_shape(self, values: list[Shape]) -> Any:
        return []

    def compute(self, ctx: KernelContext, *values: Any) -> None:
        self.area(ctx).put(ctx, values)


class Unstage(_StagingOp, MultiOutputOp):
    """Remove an element.  Source: data_flow_ops.cc, Unstage."""

    signature = "-> values: *dtypes"
    capacity: int = 0
    memory_limit: int = 0
    dtypes: tuple[DType, ...]  # type: ignore[misc]  # the order is TensorFlow's
    container: str = ""
    shared_name: str = ""

    minimum: ClassVar[dict[str, int]] = {"capacity": 0, "memory_limit": 0, "dtypes": 1}
    aliases: ClassVar[bool] = True
    may_wait: ClassVar[bool] = True

    def infer_shape(self) -> Any:
        return [None] * len(self.dtypes)

    def compute(self, ctx: KernelContext) -> Any:
        return self.area(ctx).get(ctx)


class StagePeek(_StagingOp, MultiOutputOp):
    """An element, which remains.  Source: data_flow_ops.cc, StagePeek."""

    signature = "index: int32 -> values: *dtypes"
    capacity: int = 0
    memory_limit: int = 0
    dtypes: tuple[DType, ...]  # type: ignore[misc]
    container: str = ""
    shared_name: str = ""

    minimum: ClassVar[dict[str, int]] = {"capacity": 0, "memory_limit": 0, "dtypes": 1}
    aliases: ClassVar[bool] = True
    may_wait: ClassVar[bool] = True

    def infer_shape(self, index: Shape) -> Any:
        return [None] * len(self.dtypes)

    def compute(self, ctx: KernelContext, index: Any) -> Any:
        return self.area(ctx).peek(ctx, int(index))


class StageSize(_StagingOp):
    """The number of elements.  Source: data_flow_ops.cc, StageSize."""

    signature = "-> size: int32"
    capacity: int = 0
    memory_limit: int = 0
    dtypes: tuple[DType, ...]  # type: ignore[misc]
    container: str = ""
    shared_name: str = ""

    def infer_shape(self) -> Shape:
        return ()

    def compute(self, ctx: KernelContext) -> Any:
        return np.int32(len(self.area(ctx).elements))


class StageClear(_StagingOp, NoOutputOp):
    """Remove all elements.  Source: data_flow_ops.cc, StageClear."""

    signature = "->"
    capacity: int = 0
    memory_limit: int = 0
    dtypes: tuple[DType, ...]  # type: ignore[misc]
    container: str = ""
    shared_name: str = ""

    def infer_shape(self) -> Any:
        return []

    def compute(self, ctx: KernelContext) -> None:
        self.area(ctx).clear()


# ---- the class of programs


class BaseStagingArea:
    """What staging areas of both kinds have in common."""

    def __init__(
        self,
        dtypes: Sequence[DTypeLike],
        shapes: Sequence[ShapeLike | None] | None,
        names: Sequence[str] | None,
        shared_name: str | None,
        capacity: int,
        memory_limit: int,
    ) -> None:
        graph = get_default_graph()
        kind = type(self).__name__
        self._name = graph.unique_name(kind) if shared_name is None else shared_name
        self._dtypes = as_type_list(list(dtypes))
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        sizes = [None] * len(self._dtypes) if shapes is None else shapes
        self._shapes = [TensorShape(size) for size in sizes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity, self._memory_limit = capacity, memory_limit
        with name_scope(f"{self._name}_root"):
            self._coloc_op = no_op()

    @property
    def name(self) -> str:
        """The name of the buffer."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The type of each component."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each component."""
        return self._shapes

    @property
    def names(self) -> Sequence[str] | None:
        """The name of each component, or None."""
        return self._names

    @property
    def capacity(self) -> int:
        """The largest number of elements; 0 for no limit."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """The largest number of bytes; 0 for no limit."""
        return self._memory_limit

    def _attributes(self) -> dict[str, Any]:
        return {
            "capacity": self._capacity,
            "memory_limit": self._memory_limit,
            "shared_name": self._name,
        }

    def _checked(
        self, values: Any, indices: Sequence[int] | None
    ) -> tuple[list[Tensor], list[int]]:
        """The tensors to put, and which components they are.

        Args:
          values: tensors by position or by name.
          indices: the components that positions mean.

        Raises:
          ValueError: they do not fit the components.
        """
        if isinstance(values, Mapping):
            if not self._names:
                raise ValueError(
                    "Staging areas must have names to enqueue a dictionary"
                )
            unknown = set(values) - set(self._names)
            if unknown:
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. "
                    f"Dictionary: ({sorted(values)}), Queue: ({sorted(self._names)})"
                )
            places = [i for i, name in enumerate(self._names) if name in values]
            found = [values[self._names[i]] for i in places]
        else:
            if self._names:
                raise ValueError(
                    "You must enqueue a dictionary in a staging area with names"
                )
            found = list(values) if isinstance(values, list | tuple) else [values]
            if indices is None:
                raise ValueError(
                    "Indices must be supplied when inserting a list of tensors"
                )
            places = list(indices)
            if len(places) != len(found):
                raise ValueError(
                    f"Number of indices '{len(places)}' doesn't match number of "
                    f"values '{len(found)}'"
                )
        for i, value in zip(places, found, strict=True):
            if value.dtype != self._dtypes[i]:
                raise ValueError(
                    f"Datatypes do not match. '{value.dtype}' != '{self._dtypes[i]}'"
                )
            value.get_shape().assert_is_compatible_with(self._shapes[i])
        return found, places

    def _here(self, tensors: list[Tensor]) -> list[Tensor]:
        """Copies of the tensors on the device of the caller's scope."""
        if no_op().device != self._coloc_op.device:
            return [identity(tensor) for tensor in tensors]
        return tensors


@export("contrib.staging.StagingArea")
class StagingArea(BaseStagingArea):
    """A buffer between steps: one op puts elements, another one takes them.

    Args:
      dtypes: the type of each component.
      shapes: the shape of each component, or None.
      names: a name for each component; elements then are dicts.  Or None.
      shared_name: a name by which several ops refer to one buffer.
      capacity: the largest number of elements; 0 for no limit.
      memory_limit: the largest number of bytes; 0 for no limit.

    Raises:
      ValueError: there are not as many shapes or names as types.

    Example:
      >>> area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[]])
      >>> session = tf.Session()
      >>> session.run(area.put([tf.constant(3.0)]))
      >>> session.run(area.get())
      [3.0]

    Source: python/ops/data_flow_ops.py, StagingArea.
    """

    def __init__(
        self,
        dtypes: Sequence[DTypeLike],
        shapes: Sequence[ShapeLike | None] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)

    def put(
        self, values: Mapping[str, Tensor] | Sequence[Tensor] | Tensor,
        name: str | None = None,
    ) -> Operation:  # fmt: skip
        """An op that adds an element; it waits while the buffer is full.

        Args:
          values: a tensor for each component, or a dict by their names.
          name: the op's name.

        Raises:
          ValueError: they are not the components.
          tf.errors.ResourceExhaustedError: in a run, the element alone exceeds the
            memory limit.
        """
        given = list(values.values()) if isinstance(values, Mapping) else values
        listed = list(given) if isinstance(given, list | tuple) else [given]
        with name_scope(name, f"{self._name}_put", listed) as scope:
            if not isinstance(values, Mapping) and not self._names:
                self._check_count(listed)
            tensors, _ = self._checked(values, range(len(listed)))
            self._check_count(tensors)
            with colocate_with(self._coloc_op):
                return Stage(**self._attributes())(tensors, name=scope)

    def _check_count(self, values: Sequence[Any]) -> None:
        if len(values) != len(self._dtypes):
            raise ValueError(
                f"Unexpected number of inputs '{len(values)}' vs '{len(self._dtypes)}'"
            )

    def get(self, name: str | None = None) -> dict[str, Tensor] | list[Tensor]:
        """Tensors: the components of the first element, which the op removes.

        It waits while the buffer is empty.
        """
        name = f"{self._name}_get" if name is None else name
        op = Unstage(dtypes=tuple(self._dtypes), **self._attributes())
        with colocate_with(self._coloc_op):
            found = op(name=name)
        return self._returned(found)

    def peek(
        self, index: TensorLike, name: str | None = None
    ) -> dict[str, Tensor] | list[Tensor]:
        """Tensors: the components of an element, which remains in the buffer.

        Args:
          index: the element's place, an int32 scalar; the op waits until there is one.
          name: the op's name.
        """
        name = f"{self._name}_peek" if name is None else name
        op = StagePeek(dtypes=tuple(self._dtypes), **self._attributes())
        with colocate_with(self._coloc_op):
            found = op(index, name=name)
        return self._returned(found)

    def _returned(self, found: Any) -> dict[str, Tensor] | list[Tensor]:
        tensors = [found] if isinstance(found, Tensor) else list(found)
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(shape)
        tensors = self._here(tensors)
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors

    def size(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of elements."""
        name = f"{self._name}_size" if name is None else name
        return StageSize(dtypes=tuple(self._dtypes), **self._attributes())(name=name)

    def clear(self, name: str | None = None) -> Operation:
        """An op that removes all elements."""
        name = f"{self._name}_clear" if name is None else name
        return StageClear(dtypes=tuple(self._dtypes), **self._attributes())(name=name)
