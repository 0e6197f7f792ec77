"""Lists and dicts that only grow, whose elements are saved.

A restored checkpoint finds elements by number or key.

Source: python/training/tracking/data_structures.py (names and messages).
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from typing import Any, Self

from tfteach.framework.export import export
from tfteach.framework.trackable import Trackable
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function import PolymorphicFunction
from tfteach.variables.base import Variable


@export("contrib.checkpoint.NoDependency")
class NoDependency:
    """A value for an attribute that is not saved: the attribute becomes `value`.

    Args:
      value: the value.

    Example:
      >>> checkpoint = tf.train.Checkpoint()
      >>> checkpoint.other = tf.contrib.checkpoint.NoDependency(tf.Variable(1.0))

    Source: python/training/tracking/data_structures.py.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


def wrapped(value: Any) -> Any:
    """A list or dict as one whose elements are saved; `NoDependency` as its value."""
    from tfteach.lib.files.structure_wrappers import DictWrapper, ListWrapper

    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    if type(value) in (dict, OrderedDict):
        return DictWrapper(value)
    return ListWrapper(value) if type(value) is list else value


def assigned(owner: Trackable, name: str, value: Any) -> Any:
    """What an attribute becomes that is set; it may be a dependency of its owner."""
    found = wrapped(value)
    if isinstance(found, Trackable) and not isinstance(value, NoDependency):
        owner._track_trackable(found, name, overwrite=True)
    return found


def functions_among(items: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """The traced functions among values by name, which a SavedModel has, too."""
    kinds = PolymorphicFunction | ConcreteFunction
    return {str(name): value for name, value in items if isinstance(value, kinds)}


class UntrackableError(ValueError):
    """An element of a data structure has no state."""

    def __init__(self, value: Any) -> None:
        super().__init__(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a "
            f"List object. Got {value}, which does not inherit from Trackable."
        )


class TrackableDataStructure(Trackable):
    """Base of data structures of objects with state.

    Attributes:
      trainable: whether the variables in it are trained.
      layers: the layers in it.
      weights, trainable_weights, non_trainable_weights: the variables of the layers,
        and those in it; also as variables, trainable_variables, ...
      updates, losses: those of the layers.
    """

    def __init__(self) -> None:
        self.__dict__.update(_self_trainable=True, _self_extra_variables=[])

    @property
    def _values(self) -> Iterable[Any]:
        raise NotImplementedError

    def _list_functions_for_serialization(self, serialization_cache: Any) -> Any:
        """The traced functions among the elements."""
        elements: Any = self
        is_mapping = isinstance(self, AnyMapping)
        return functions_among(elements.items() if is_mapping else enumerate(elements))

    def _track_value(self, value: Any, name: Any) -> Any:
        value = assigned(self, name, value)
        if isinstance(value, Variable):
            self.__dict__["_self_extra_variables"].append(value)
        if not isinstance(value, Trackable):
            raise UntrackableError(value)
        return value

    @property
    def trainable(self) -> bool:
        """Whether the variables in it are trained."""
        found: bool = self.__dict__["_self_trainable"]
        return found

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_self_trainable"] = value

    @property
    def _layers(self) -> list[Any]:
        return [item for item in self._values if _has_weights(item)]

    @property
    def layers(self) -> list[Any]:
        """The layers in it, and in the structures in it."""
        found: dict[int, Any] = {}
        pending = self._layers[::-1]
        while pending:
            item = pending.pop()
            if isinstance(item, TrackableDataStructure):
                pending += item.layers[::-1]
            else:
                found.setdefault(id(item), item)
        return list(found.values())

    @property
    def _variables(self) -> list[Any]:
        found: list[Any] = self.__dict__["_self_extra_variables"]
        return found

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that are trained."""
        if not self.trainable:
            return []
        nested = [v for layer in self._layers for v in layer.trainable_weights]
        return nested + [v for v in self._variables if v.trainable]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trained."""
        nested = [v for layer in self._layers for v in layer.non_trainable_weights]
        others = nested + [v for v in self._variables if not v.trainable]
        if self.trainable:
            return others
        trained = [v for layer in self._layers for v in layer.trainable_weights]
        return trained + [v for v in self._variables if v.trainable] + others

    @property
    def weights(self) -> list[Any]:
        """All variables, those that are trained first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables that are not trained."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """All variables, those that are trained first."""
        return self.weights

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers."""
        return [u for layer in self.layers for u in getattr(layer, "updates", ())]

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers."""
        return [x for layer in self.layers for x in getattr(layer, "losses", ())]

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _has_weights(item: Any) -> bool:
    kind = type(item)
    return hasattr(kind, "trainable_weights") and hasattr(kind, "non_trainable_weights")


@export("contrib.checkpoint.List")
class List(TrackableDataStructure, Sequence[Any]):
    """A list that only grows, whose elements are saved: layers, variables, lists ...

    Args:
      *args, **kwargs: as for `list`.

    Raises:
      ValueError: an element has no state.

    Example:
      >>> checkpoint = tf.train.Checkpoint(
      ...     parts=tf.contrib.checkpoint.List([tf.layers.Dense(1)]))
      >>> checkpoint.parts.append(tf.layers.Dense(2))

    Source: python/training/tracking/data_structures.py.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage = self._make_storage(*args, **kwargs)
        for i, element in enumerate(self._storage):
            self._storage[i] = self._track_value(element, self._name_element(i))

    def _make_storage(self, *args: Any, **kwargs: Any) -> list[Any]:
        return list(*args, **kwargs)

    def _name_element(self, index: int) -> str:
        return str(index)

    @property
    def _values(self) -> Iterable[Any]:
        return self

    def copy(self) -> Self:
        """A list of the same elements."""
        return type(self)(copy.copy(self._storage))

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)(copy.deepcopy(self._storage, memo))

    def append(self, value: Any) -> None:
        """Add an element."""
        self._storage.append(
            self._track_value(value, self._name_element(len(self._storage)))
        )

    def extend(self, values: Iterable[Any]) -> None:
        """Add elements."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> Self:
        self.extend(values)
        return self

    def __add__(self, other: Any) -> Self:
        return type(self)(self._storage + getattr(other, "_storage", other))

    def __radd__(self, other: Any) -> Self:
        return type(self)(other) + self

    def __imul__(self, y: int) -> Self:
        if y <= 0:
            raise ValueError(
                f"List only supports append, multiplying in place by {y} removes "
                "elements."
            )
        self.extend(list(self._storage) * (y - 1))
        return self

    def __mul__(self, n: int) -> Self:
        return type(self)(self._storage * n)

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return f"List({self._storage!r})"


@export("contrib.checkpoint.Mapping")
class Mapping(TrackableDataStructure, AnyMapping[str, Any]):
    """A dict from strings that only grows, whose values are saved.

    Args:
      *args, **kwargs: as for `dict`.

    Raises:
      ValueError: a value has no state.
      TypeError: a key is no string.

    Example:
      >>> parts = tf.contrib.checkpoint.Mapping(first=tf.layers.Dense(1))
      >>> parts["second"] = tf.layers.Dense(2)
      >>> checkpoint = tf.train.Checkpoint(parts=parts)

    Source: python/training/tracking/data_structures.py.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage: dict[str, Any] = {}
        self.update(*args, **kwargs)

    @property
    def _values(self) -> Iterable[Any]:
        return [self._storage[key] for key in sorted(self._storage)]

    def __copy__(self) -> Self:
        return type(self)(self._storage)

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)(copy.deepcopy(self._storage, memo))

    def _name_element(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        return key

    def __setitem__(self, key: str, value: Any) -> None:
        value = self._track_value(value, self._name_element(key))
        current = self._storage.setdefault(key, value)
        if current is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite the "
                f"key '{key}' with value {value}, but it already contains {current}"
            )

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add the entries of a dict."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._storage[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"
