"""What lists and dicts become as attributes: they may change, but then are not saved.

A restored checkpoint finds elements by number or key, so nothing may have moved.

Source: python/training/tracking/data_structures.py (names and messages).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any, NoReturn, Self

from tfteach.framework.trackable import (
    Trackable,
    TrackableReference,
)
from tfteach.lib.files.data_structures import (
    List,
    NoDependency,
    TrackableDataStructure,
    UntrackableError,
    wrapped,
)

_IGNORED = (
    "\n\nIf you don't need this {} checkpointed, wrap it in a "
    "tf.contrib.checkpoint.NoDependency object; it will be automatically un-wrapped "
    "and subsequently ignored."
)


class ListWrapper(List, list[Any]):  # type: ignore[misc]
    """What a list becomes as an attribute: it may change, but then it is not saved.

    Args:
      wrapped_list: the list, which remains the one that holds the elements.
    """

    def __init__(self, wrapped_list: list[Any]) -> None:
        self._non_append_mutation = False
        self._external_modification = False
        super().__init__(wrapped_list)
        self._last_wrapped_list_snapshot: list[Any] | None = list(self._storage)

    def _make_storage(self, *args: Any, **kwargs: Any) -> list[Any]:
        storage: list[Any] = args[0]
        return storage

    def _track_value(self, value: Any, name: Any) -> Any:
        """Elements without state are allowed, too."""
        try:
            return super()._track_value(value, name)
        except UntrackableError:
            return wrapped(value)

    def __copy__(self) -> Self:
        return self._marked(super().__copy__())

    def __deepcopy__(self, memo: Any) -> Self:
        return self._marked(super().__deepcopy__(memo))

    def _marked(self, copied: Self) -> Self:
        copied._non_append_mutation = self._non_append_mutation
        copied._external_modification = self._external_modification
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._storage,)

    @property
    def _is_changed(self) -> bool:
        return self._non_append_mutation or self._external_modification

    def _check_external_modification(self) -> None:
        """Note whether the list was changed by another name than this."""
        same = self._storage == self._last_wrapped_list_snapshot
        if not same and not self._is_changed:
            self._external_modification = True
            self._last_wrapped_list_snapshot = None

    def _update_snapshot(self) -> None:
        if not self._is_changed:
            self._last_wrapped_list_snapshot = list(self._storage)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        self._check_external_modification()
        start = (
            f"Unable to save the object {self} (a list wrapper constructed to track "
            "trackable TensorFlow objects). "
        )
        if self._non_append_mutation:
            raise ValueError(
                f"{start}A list element was replaced (__setitem__, __setslice__), "
                "deleted (__delitem__, __delslice__), or moved (sort). In order to "
                "support restoration on object creation, tracking is exclusively for "
                f"append-only data structures.{_IGNORED.format('list')}"
            )
        if self._external_modification:
            raise ValueError(
                f"{start}The wrapped list was modified outside the wrapper (its final "
                f"value was {self._storage}, its value when a checkpoint dependency "
                f"was added was {self._last_wrapped_list_snapshot}), which breaks "
                f"restoration on object creation.{_IGNORED.format('list')}"
            )
        return super()._checkpoint_dependencies

    def append(self, value: Any) -> None:
        """Add an element."""
        self._check_external_modification()
        super().append(value)
        self._update_snapshot()

    def __delitem__(self, key: Any) -> None:
        self._non_append_mutation = True
        del self._storage[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_external_modification()
        before = list(self._storage)
        self._storage[key] = value
        places = range(max(len(before), len(self._storage)))
        for i in places if isinstance(key, slice) else [places[key]]:
            if i < len(before) and isinstance(before[i], Trackable):
                self._non_append_mutation = True
            if i < len(self._storage):
                now = self._storage[i]
                if i >= len(before) or now is not before[i]:
                    self._storage[i] = self._track_value(now, self._name_element(i))
        self._update_snapshot()

    # By `__delitem__` and `__setitem__`.
    pop = MutableSequence.pop  # type: ignore[assignment]
    remove = MutableSequence.remove
    reverse = MutableSequence.reverse
    clear = MutableSequence.clear

    def insert(self, index: int, obj: Any) -> None:  # type: ignore[override]
        """Insert an element; the list is not saved any more."""
        self._non_append_mutation = True
        self._storage.insert(index, obj)

    def sort(self, **kwargs: Any) -> None:
        """Sort the elements; the list is not saved any more."""
        self._non_append_mutation = True
        self._storage.sort(**kwargs)

    def __imul__(self, y: int) -> Self:  # type: ignore[override]
        if y <= 0:
            self._non_append_mutation = True
            self._storage *= y
            return self
        return super().__imul__(y)

    def __eq__(self, other: object) -> bool:
        return bool(self._storage == _list_in(other))

    def __ne__(self, other: object) -> bool:
        return bool(self._storage != _list_in(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self._storage < _list_in(other))

    def __le__(self, other: Any) -> bool:
        return bool(self._storage <= _list_in(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self._storage > _list_in(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self._storage >= _list_in(other))

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        raise TypeError("unhashable type: 'ListWrapper'")

    def __repr__(self) -> str:
        return f"ListWrapper({self._storage!r})"


def _list_in(value: Any) -> Any:
    return getattr(value, "_storage", value)


class DictWrapper(TrackableDataStructure, MutableMapping[Any, Any]):
    """What a dict becomes as an attribute: a view of it, `isinstance(..., dict)`.

    Args:
      wrapped_dict: the dict, or pairs of it.
    """

    __wrapped__: dict[Any, Any]
    _self_last_wrapped_dict_snapshot: dict[Any, Any] | None

    def __init__(self, wrapped_dict: Any = None) -> None:
        is_mapping = isinstance(wrapped_dict, Mapping)
        given = wrapped_dict if is_mapping else dict(wrapped_dict or {})
        super().__init__()
        self.__wrapped__ = given
        self._self_non_string_key = False
        self._self_external_modification = False
        self._self_last_wrapped_dict_snapshot = None
        for key, value in given.items():
            given[key] = self._track_value(value, key)
        self._update_snapshot()

    @property
    def __class__(self) -> Any:
        """That of the dict, for `isinstance`."""
        return type(self.__wrapped__)

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        raise TypeError(f"a wrapped dict cannot become a {kind}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_self_") or name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)  # such as those of an OrderedDict

    @property
    def _values(self) -> Iterable[Any]:
        return [self.__wrapped__[key] for key in sorted(self.__wrapped__)]

    def copy(self) -> DictWrapper:
        """A dict of the same entries."""
        return self._marked(DictWrapper(copy.copy(self.__wrapped__)))

    def __copy__(self) -> DictWrapper:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> DictWrapper:
        return self._marked(DictWrapper(copy.deepcopy(self.__wrapped__, memo)))

    def _marked(self, copied: DictWrapper) -> DictWrapper:
        copied._self_external_modification = self._self_external_modification
        copied._self_non_string_key = self._self_non_string_key
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return DictWrapper, (self.__wrapped__,)

    @property
    def _dirty(self) -> bool:
        return self._self_external_modification or self._self_non_string_key

    def _check_external_modification(self) -> None:
        """Note whether the dict was changed by another name than this."""
        same = self.__wrapped__ == self._self_last_wrapped_dict_snapshot
        if not same and not self._dirty:
            self._self_external_modification = True
            self._self_last_wrapped_dict_snapshot = None

    def _update_snapshot(self) -> None:
        if not self._dirty:
            self._self_last_wrapped_dict_snapshot = dict(self.__wrapped__)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        self._check_external_modification()
        start = (
            f"Unable to save the object {self} (a dictionary wrapper constructed "
            "automatically on attribute assignment). The wrapped dictionary "
        )
        if self._self_non_string_key:
            raise ValueError(
                f"{start}contains a non-string key which maps to a trackable object or "
                f"mutable data structure.{_IGNORED.format('dictionary')}"
            )
        if self._self_external_modification:
            raise ValueError(
                f"{start}was modified outside the wrapper (its final value was {self}, "
                "its value when a checkpoint dependency was added was "
                f"{self._self_last_wrapped_dict_snapshot}), which breaks restoration "
                f"on object creation.{_IGNORED.format('dictionary')}"
            )
        return super()._checkpoint_dependencies

    def _track_value(self, value: Any, name: Any) -> Any:
        """Values without state are allowed, too, and under other keys than strings."""
        if isinstance(name, str):
            try:
                return super()._track_value(value, name)
            except UntrackableError:
                return wrapped(value)
        found = wrapped(value)
        if isinstance(found, Trackable) and not isinstance(value, NoDependency):
            self._self_non_string_key = True
        return found

    def __getitem__(self, key: Any) -> Any:
        return self.__wrapped__[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_external_modification()
        self.__wrapped__[key] = self._track_value(value, key)
        self._update_snapshot()

    def __delitem__(self, key: Any) -> None:
        self._check_external_modification()
        del self.__wrapped__[key]
        self._update_snapshot()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__wrapped__)

    def __len__(self) -> int:
        return len(self.__wrapped__)

    def __eq__(self, other: object) -> bool:
        return bool(self.__wrapped__ == getattr(other, "__wrapped__", other))

    def __hash__(self) -> NoReturn:
        raise TypeError("unhashable type: 'DictWrapper'")

    def __repr__(self) -> str:
        return f"DictWrapper({self.__wrapped__!r})"

    def __str__(self) -> str:
        return str(self.__wrapped__)
