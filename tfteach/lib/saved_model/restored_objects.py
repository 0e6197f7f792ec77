"""The kinds of objects that a loaded SavedModel consists of.

Source: python/saved_model/{load,revived_types,signature_serialization}.py (names).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tfteach.framework.trackable import CapturableResource, Trackable
from tfteach.lib.files.data_structures import functions_among
from tfteach.lib.files.structure_wrappers import DictWrapper, ListWrapper
from tfteach.lib.files.trackable import AutoTrackable

# Sets a child: (parent, name, child).
Setter = Callable[[Any, str, Any], Any]


class RestoredResource(AutoTrackable, CapturableResource):
    """A resource such as a table, which functions of the SavedModel create and fill.

    Args:
      device: where it must be created; "" for anywhere.
    """

    def __init__(self, device: str = "") -> None:
        CapturableResource.__init__(self, device)

    def _list_functions_for_serialization(self, serialization_cache: Any) -> Any:
        names = "_create_resource", "_initialize", "_destroy_resource"
        return functions_among((n, self.__dict__.get(n)) for n in names)


class SignatureMap(Mapping[str, Any], Trackable):
    """The signatures of a SavedModel: functions by name, which nobody can change."""

    def __init__(self) -> None:
        self._signatures: dict[str, Any] = {}

    def _add_signature(self, name: str, concrete_function: Any) -> None:
        self._signatures[name] = concrete_function

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    # Equality and hash of the object, not of its contents.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _list_functions_for_serialization(self, serialization_cache: Any) -> Any:
        return functions_among(self.items())


SignatureMap.__name__ = "_SignatureMap"  # as Python's own errors name it


class _Revived(NamedTuple):
    """How objects of a class are made anew.

    Attributes:
      kind: the class.
      make: makes one without children.
      setter: adds a child.
    """

    kind: type
    make: Callable[[], Any]
    setter: Setter


def _set_list_item(items: Any, index: str, value: Any) -> None:
    position = int(index)
    items.extend([None] * (1 + position - len(items)))
    items[position] = value


# By what a SavedModel calls the class.
_REVIVED = {
    "trackable_dict_wrapper": _Revived(
        DictWrapper, lambda: DictWrapper({}), operator.setitem
    ),
    "trackable_list_wrapper": _Revived(
        ListWrapper, lambda: ListWrapper([]), _set_list_item
    ),
    "signature_map": _Revived(SignatureMap, SignatureMap, SignatureMap._add_signature),
}


def identifier_of(item: Any) -> str | None:
    """What a SavedModel calls the class of an object, if it has objects of that class.

    The others become objects with attributes and nothing more.
    """
    for name, revived in _REVIVED.items():
        if issubclass(type(item), revived.kind):
            return name
    return None


def revived(identifier: str) -> tuple[Any, Setter]:
    """An object without children, and how it gets them.

    Args:
      identifier: see `identifier_of`.
    """
    found = _REVIVED.get(identifier)
    if found is not None:
        return found.make(), found.setter

    # A class for each object: those with a function `__call__` can be called.
    class _UserObject(AutoTrackable):
        pass

    return _UserObject(), setattr


def call_attribute(instance: Any, *args: Any, **kwargs: Any) -> Any:
    """The method `__call__` of objects that have an attribute of that name."""
    return instance.__call__(*args, **kwargs)
