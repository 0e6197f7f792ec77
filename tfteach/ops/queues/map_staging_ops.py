"""Staging areas by key: buffers whose elements may be put and taken in parts.

Source: core/ops/data_flow_ops.cc, core/kernels/map_stage_op.cc (semantics, messages).
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import ResourceExhaustedError, invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    KernelContext,
)
from tfteach.ops.queues.queue_ops import OnHost
from tfteach.ops.queues.staging import (
    STAGE_CANCELLED,
    UNSTAGE_CANCELLED,
)


class MapStagingStore:
    """The elements of a staging area, by key.

    Attributes:
      capacity: the largest number of elements; 0 for no limit.
      limit_bytes: the largest size of all together; 0 for no limit.
      is_ordered: whether an element without a key is that with the smallest.
      complete: key -> the components, None for those that were taken.
      incomplete: key -> the components so far, None for those to come.
    """

    def __init__(self, capacity: int, limit_bytes: int, is_ordered: bool) -> None:
        self.capacity, self.limit_bytes = capacity, limit_bytes
        self.is_ordered = is_ordered
        self.complete: dict[int, list[Any]] = {}
        self.incomplete: dict[int, list[Any]] = {}
        self.changed = threading.Condition(threading.Lock())

    def _has_room(self, size_bytes: int) -> bool:
        if 0 < self.capacity <= len(self.complete):
            return False
        if self.limit_bytes <= 0:
            return True
        held = (*self.complete.values(), *self.incomplete.values())
        arrays = [value for row in held for value in row if value is not None]
        used = sum(int(value.nbytes) for value in arrays)
        return used + size_bytes <= self.limit_bytes

    def put(
        self, ctx: KernelContext, key: int, indices: list[int], values: Any, count: int
    ) -> None:
        """Add components of an element, or wait until there is room.

        Args:
          ctx: the op's.
          key: the element's.
          indices: which components these are.
          values: arrays.
          count: the number of components.
        """
        if any(a >= b for a, b in pairwise(indices)):
            raise invalid_argument("Indices are not strictly ordered")
        _check_bounds(key, indices, count)
        size_bytes = sum(value.nbytes for value in values)
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
            row = [None] * count
            if len(indices) < count:
                row = self.incomplete.setdefault(key, row)
            for index, value in zip(indices, values, strict=True):
                if row[index] is not None:
                    raise invalid_argument(
                        f"The tensor for index '{index}' for key '{key}' was already "
                        f"initialized '{count}'."
                    )
                row[index] = value
            if all(value is not None for value in row):
                self.incomplete.pop(key, None)
                self.complete.setdefault(key, row)  # TensorFlow drops a second one
                self.changed.notify_all()

    def get(
        self, ctx: KernelContext, key: int | None, indices: list[int], removes: bool
    ) -> tuple[int, list[Any]]:
        """Components of an element, or wait for it.

        Args:
          ctx: the op's.
          key: the element's; None for any.
          indices: which components.
          removes: whether they are taken out.

        Returns:
          The key, and the arrays.
        """

        def is_there() -> bool:
            return bool(self.complete) if key is None else key in self.complete

        with self.changed:
            ctx.wait_until(self.changed, is_there, UNSTAGE_CANCELLED)
            if key is not None:
                found = key
            else:
                found = (
                    min(self.complete) if self.is_ordered else next(iter(self.complete))
                )
            row = self.complete[found]
            _check_bounds(found, indices, len(row))
            for index in indices:
                if row[index] is None:
                    raise invalid_argument(
                        f"Tensor at index '{index}' for key '{found}' has already been "
                        "removed."
                    )
            values = [row[index] for index in indices]
            if removes:
                for index in indices:
                    row[index] = None
                if all(value is None for value in row):
                    del self.complete[found]
                self.changed.notify_all()
            return found, values

    def clear(self) -> None:
        """Remove all elements, also incomplete ones."""
        with self.changed:
            self.complete.clear()
            self.incomplete.clear()
            self.changed.notify_all()


def _oldest(rows: dict[int, list[Any]]) -> int:
    key: int = next(iter(rows))
    return key


def _check_bounds(key: int, indices: list[int], count: int) -> None:
    for index in indices:
        if index >= count:
            raise invalid_argument(
                f"Index '{index}' for key '{key}' was out of bounds '{count}'."
            )


# ---- ops, each for any order and for that of the keys


class _MapOp(OnHost, abstract=True):
    minimum: ClassVar[dict[str, int]] = {"capacity": 0, "memory_limit": 0}
    is_ordered: ClassVar[bool] = False

    def area(self, ctx: KernelContext) -> MapStagingStore:
        own: Any = self
        return ctx.resource(
            "staging map",
            own.shared_name or f"node {ctx.op.name}",
            lambda: MapStagingStore(own.capacity, own.memory_limit, self.is_ordered),
            own.container,
        )


class _Stage(_MapOp, NoOutputOp, abstract=True):
    signature = "key: int64, indices: int32, values: *fake_dtypes ->"
    capacity: int = 0
    memory_limit: int = 0
    dtypes: tuple[DType, ...]  # type: ignore[misc]  # the order is TensorFlow's
    container: str = ""
    shared_name: str = ""

    minimum: ClassVar[dict[str, int]] = {
        "capacity": 0, "memory_limit": 0, "fake_dtypes": 1,
    }  # fmt: skip
    may_wait: ClassVar[bool] = True

    def infer_shape(self, key: Shape, indices: Shape, values: list[Shape]) -> Any:
        return []

    def compute(self, ctx: KernelContext, key: Any, indices: Any, *values: Any) -> None:
        places = np.ravel(indices).tolist()
        count = len(self.dtypes)
        self.area(ctx).put(ctx, _number(key), places, values, count)


class MapStage(_Stage):  # type: ignore[misc]
    """Add components of an element.  Source: data_flow_ops.cc, MapStage."""


class OrderedMapStage(_Stage):  # type: ignore[misc]
    """Add components of an element.  Source: data_flow_ops.cc, OrderedMapStage."""

    is_ordered: ClassVar[bool] = True


def _number(key: Any) -> int:
    return int(np.ravel(key)[0])


class _Taking(_MapOp, MultiOutputOp, abstract=True):
    capacity: int = 0
    memory_limit: int = 0
    dtypes: tuple[DType, ...]  # type: ignore[misc]  # the order is TensorFlow's
    container: str = ""
    shared_name: str = ""

    minimum: ClassVar[dict[str, int]] = {"capacity": 0, "memory_limit": 0, "dtypes": 1}
    aliases: ClassVar[bool] = True
    may_wait: ClassVar[bool] = True


class _Unstage(_Taking, abstract=True):  # type: ignore[misc]
    signature = "key: int64, indices: int32 -> values: *dtypes"
    removes: ClassVar[bool] = True

    def infer_shape(self, key: Shape, indices: Shape) -> Any:
        return [None] * len(self.dtypes)

    def compute(self, ctx: KernelContext, key: Any, indices: Any) -> Any:
        places = np.ravel(indices).tolist()
        return self.area(ctx).get(ctx, _number(key), places, self.removes)[1]


class MapUnstage(_Unstage):  # type: ignore[misc]
    """Take components of an element.  Source: data_flow_ops.cc, MapUnstage."""


class OrderedMapUnstage(_Unstage):  # type: ignore[misc]
    """Take components of an element.  Source: data_flow_ops.cc, OrderedMapUnstage."""

    is_ordered: ClassVar[bool] = True


class MapPeek(_Unstage):  # type: ignore[misc]
    """Components of an element, which remain.  Source: data_flow_ops.cc, MapPeek."""

    removes: ClassVar[bool] = False


class OrderedMapPeek(_Unstage):  # type: ignore[misc]
    """Components of an element, which remain.

    Source: data_flow_ops.cc, OrderedMapPeek.
    """

    removes: ClassVar[bool] = False
    is_ordered: ClassVar[bool] = True


class _UnstageNoKey(_Taking, abstract=True):  # type: ignore[misc]
    signature = "indices: int32 -> key: int64, values: *dtypes"

    def infer_shape(self, indices: Shape) -> Any:
        return [None] * (1 + len(self.dtypes))

    def compute(self, ctx: KernelContext, indices: Any) -> Any:
        places = np.ravel(indices).tolist()
        key, values = self.area(ctx).get(ctx, None, places, True)
        return np.int64(key), *values


class MapUnstageNoKey(_UnstageNoKey):  # type: ignore[misc]
    """Take components of any element.

    Which one TensorFlow takes depends on a hash table; here it is the oldest.
    Source: data_flow_ops.cc, MapUnstageNoKey.
    """


class OrderedMapUnstageNoKey(_UnstageNoKey):  # type: ignore[misc]
    """Take components of the element with the smallest key.

    Source: data_flow_ops.cc, OrderedMapUnstageNoKey.
    """

    is_ordered: ClassVar[bool] = True


class _Counting(_MapOp, abstract=True):
    signature = "-> size: int32"
    capacity: int = 0
    memory_limit: int = 0
    dtypes: tuple[DType, ...]  # type: ignore[misc]
    container: str = ""
    shared_name: str = ""

    counts_incomplete: ClassVar[bool] = False

    def infer_shape(self) -> Shape:
        return ()

    def compute(self, ctx: KernelContext) -> Any:
        area = self.area(ctx)
        return np.int32(
            len(area.incomplete if self.counts_incomplete else area.complete)
        )


class MapSize(_Counting):  # type: ignore[misc]
    """The number of elements.  Source: data_flow_ops.cc, MapSize."""


class OrderedMapSize(_Counting):  # type: ignore[misc]
    """The number of elements.  Source: data_flow_ops.cc, OrderedMapSize."""

    is_ordered: ClassVar[bool] = True


class MapIncompleteSize(_Counting):  # type: ignore[misc]
    """The number of incomplete elements.  Source: data_flow_ops.cc."""

    counts_incomplete: ClassVar[bool] = True


class OrderedMapIncompleteSize(_Counting):  # type: ignore[misc]
    """The number of incomplete elements.  Source: data_flow_ops.cc."""

    counts_incomplete: ClassVar[bool] = True
    is_ordered: ClassVar[bool] = True


class _Clear(_MapOp, NoOutputOp, abstract=True):
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


class MapClear(_Clear):  # type: ignore[misc]
    """Remove all elements.  Source: data_flow_ops.cc, MapClear."""


class OrderedMapClear(_Clear):  # type: ignore[misc]
    """Remove all elements.  Source: data_flow_ops.cc, OrderedMapClear."""

    is_ordered: ClassVar[bool] = True
