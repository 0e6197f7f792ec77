"""`MapStagingArea`: a staging area by key as an object of a program.

Source: python/ops/data_flow_ops.py (API, names of nodes, messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with, name_scope
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.ops.queues.map_staging_ops import (
    MapClear,
    MapIncompleteSize,
    MapPeek,
    MapSize,
    MapStage,
    MapUnstage,
    MapUnstageNoKey,
    OrderedMapClear,
    OrderedMapIncompleteSize,
    OrderedMapPeek,
    OrderedMapSize,
    OrderedMapStage,
    OrderedMapUnstage,
    OrderedMapUnstageNoKey,
)
from tfteach.ops.queues.staging import BaseStagingArea

# Components by position or by name.
Indices: TypeAlias = "Sequence[int | str]"
_OPS: dict[str, tuple[Any, Any]] = {
    "put": (MapStage, OrderedMapStage),
    "get": (MapUnstage, OrderedMapUnstage),
    "get_nokey": (MapUnstageNoKey, OrderedMapUnstageNoKey),
    "peek": (MapPeek, OrderedMapPeek),
    "size": (MapSize, OrderedMapSize),
    "incomplete_size": (MapIncompleteSize, OrderedMapIncompleteSize),
    "clear": (MapClear, OrderedMapClear),
}


class MapStagingArea(BaseStagingArea):
    """A buffer between steps whose elements have keys.

    Components of an element may be put by several ops; it can be taken once all are
    there, also in parts.

    Args:
      dtypes: the type of each component.
      shapes: the shape of each component, or None.
      names: a name for each component; elements then are dicts.  Or None.
      shared_name: a name by which several ops refer to one buffer.
      ordered: whether `get` without a key takes the element with the smallest key; if
        not, any.
      capacity: the largest number of elements; 0 for no limit.
      memory_limit: the largest number of bytes; 0 for no limit.

    Raises:
      ValueError: there are not as many shapes or names as types.

    Example:
      >>> from tensorflow.python.ops import data_flow_ops
      >>> area = data_flow_ops.MapStagingArea([tf.float32], shapes=[[]])
      >>> key = tf.constant(7, tf.int64)
      >>> session = tf.Session()
      >>> session.run(area.put(key, [tf.constant(3.0)], indices=[0]))
      >>> session.run(area.get(key))
      (7, [3.0])

    Source: python/ops/data_flow_ops.py, MapStagingArea.
    """

    def __init__(
        self,
        dtypes: Sequence[DTypeLike],
        shapes: Sequence[ShapeLike | None] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ordered = ordered

    def _op(self, what: str, **attributes: Any) -> Any:
        kind = _OPS[what][self._ordered]
        given = {"dtypes": tuple(self._dtypes), **self._attributes(), **attributes}
        return kind(**given)

    def _places(self, indices: Indices | None) -> list[int]:
        """The positions of components."""
        if indices is None:
            return list(range(len(self._dtypes)))
        if not isinstance(indices, list | tuple):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if all(isinstance(index, str) for index in indices):
            if self._names is None:
                raise ValueError(
                    f"String indices provided '{indices}', but this Staging Area was "
                    "not created with names."
                )
            return [list(self._names).index(str(index)) for index in indices]
        if all(isinstance(index, int) for index in indices):
            return [int(index) for index in indices]
        raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")

    def put(
        self,
        key: TensorLike,
        vals: Mapping[str, Tensor] | Sequence[Tensor],
        indices: Sequence[int] | None = None,
        name: str | None = None,
    ) -> Operation:
        """An op that adds components of an element; it waits while the buffer is full.

        Args:
          key: an int64 scalar.
          vals: tensors by the names of the components, or a list.
          indices: the positions of the components in the list, ascending.
          name: the op's name.

        Raises:
          ValueError: they are not the components.
          tf.errors.InvalidArgumentError: in a run, a component is already there.
          tf.errors.ResourceExhaustedError: in a run, the components alone exceed the
            memory limit.
        """
        listed = list(vals.values()) if isinstance(vals, Mapping) else vals
        given = list(listed) if isinstance(listed, list | tuple) else [listed]
        with name_scope(name, f"{self._name}_put", given) as scope:
            tensors, places = self._checked(vals, indices)
            with colocate_with(self._coloc_op):
                op: Operation = self._op("put")(key, places, tensors, name=scope)
                return op

    def get(
        self,
        key: TensorLike | None = None,
        indices: Indices | None = None,
        name: str | None = None,
    ) -> tuple[TensorLike, dict[str, Tensor] | list[Tensor]]:
        """An element's key, and Tensors: its components, which the op removes.

        It waits until the element is complete.

        Args:
          key: an int64 scalar; None for any element.
          indices: positions or names of the components to take; None for all.
          name: the op's name.

        Raises:
          tf.errors.InvalidArgumentError: in a run, a component was taken before.
        """
        if key is not None:
            return key, self._taken("get", "get", key, indices, name)
        places = self._places(indices)
        name = f"{self._name}_get_nokey" if name is None else name
        with colocate_with(self._coloc_op):
            op = self._op("get_nokey", dtypes=tuple(self._dtypes[i] for i in places))
            found_key, *tensors = op(places, name=name)
        return self._here([found_key])[0], self._returned(tensors, places)

    def peek(
        self, key: TensorLike, indices: Indices | None = None, name: str | None = None
    ) -> dict[str, Tensor] | list[Tensor]:
        """Tensors: the components of an element, which remain in the buffer.

        Args:
          key: an int64 scalar; the op waits until its element is complete.
          indices: positions or names of components; None for all.
          name: the op's name.
        """
        return self._taken("peek", "pop", key, indices, name)

    def _taken(
        self,
        what: str,
        suffix: str,
        key: TensorLike,
        indices: Indices | None,
        name: str | None,
    ) -> dict[str, Tensor] | list[Tensor]:
        places = self._places(indices)
        name = f"{self._name}_{suffix}" if name is None else name
        with colocate_with(self._coloc_op):
            op = self._op(what, dtypes=tuple(self._dtypes[i] for i in places))
            found = op(key, places, name=name)
        tensors = [found] if isinstance(found, Tensor) else list(found)
        return self._returned(tensors, places)

    def _returned(
        self, tensors: list[Tensor], places: list[int]
    ) -> dict[str, Tensor] | list[Tensor]:
        for tensor, place in zip(tensors, places, strict=True):
            tensor.set_shape(self._shapes[place])
        tensors = self._here(tensors)
        if self._names:
            names = [self._names[place] for place in places]
            return dict(zip(names, tensors, strict=True))
        return tensors

    def size(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of complete elements."""
        return self._counted("size", name)

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """An int32 scalar: the number of incomplete elements."""
        return self._counted("incomplete_size", name)

    def _counted(self, what: str, name: str | None) -> Tensor:
        name = f"{self._name}_{what}" if name is None else name
        count: Tensor = self._op(what)(name=name)
        return count

    def clear(self, name: str | None = None) -> Operation:
        """An op that removes all elements."""
        name = f"{self._name}_clear" if name is None else name
        op: Operation = self._op("clear")(name=name)
        return op
