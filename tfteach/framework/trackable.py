"""Objects whose state is saved: each names the objects that it depends on.

`tf.train.Checkpoint` finds variables by the way from one object to the next, such as
`model/dense/kernel`, instead of by their names.

Source: python/training/tracking/base.py (names and messages).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export

_T = TypeVar("_T")
# What the checkpoint calls the value of a variable.
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
# The attribute with the dependencies by name, and that with restored checkpoints that
# have more of the object than there is so far.
_DEPENDENCIES = "_self_dependencies"
AWAITED = "_self_awaited_restorations"
_TRACKING = "_self_setattr_tracking"
INTERNAL_ATTRIBUTES = _DEPENDENCIES, AWAITED, _TRACKING


class TrackableReference(NamedTuple):
    """A dependency: its name within the object that has it, and the object."""

    name: str
    ref: Any


class AwaitedRestoration(Protocol):
    """A restored checkpoint that has more of an object than there is so far.

    Attributes:
      number: orders restorations; the value of an object is that of the newest.
    """

    number: int

    def matched(self) -> Any:
        """Look for new parts of the program that the checkpoint has."""

    def initial_value(self, parent: Any, name: str) -> Any:
        """The value of a variable that is about to be made, if it has that; or None."""


@export("contrib.checkpoint.CheckpointableBase")
class Trackable:
    """Base of objects with state: dependencies are declared one by one."""

    # The number of the newest restored checkpoint that the object has its value of.
    _update_uid = -1

    def _maybe_initialize_trackable(self) -> None:
        """No effect: dependencies are recorded with the first of them."""

    @property
    def _dependencies(self) -> dict[str, Any]:
        found: dict[str, Any] = self.__dict__.setdefault(_DEPENDENCIES, {})
        return found

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """The objects that this one depends on, in the order of their declaration."""
        return [TrackableReference(*item) for item in self._dependencies.items()]

    def _lookup_dependency(self, name: str) -> Any:
        """The object of that name that this one depends on, or None."""
        return self._dependencies.get(name)

    def _track_trackable(self, trackable: _T, name: str, overwrite: bool = False) -> _T:
        """Declare a dependency; restore it, if a checkpoint with it was restored.

        Args:
          trackable: the object.
          name: its name within this object.
          overwrite: whether another object may have had the name.

        Returns:
          `trackable`.

        Raises:
          TypeError: it has no state.
          ValueError: the name is taken.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(
                f"Trackable._track_trackable() passed type {type(trackable)}, not a "
                "Trackable."
            )
        known = self._lookup_dependency(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a "
                "Trackable with this name is already declared as a dependency. Names "
                "must be unique (or overwrite=True)."
            )
        self._dependencies[name] = trackable
        if known is None:
            match_awaited(self)
        return trackable

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restore a new dependency that the object does not declare by that method."""
        match_awaited(self)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """What is saved of the object itself: names -> functions of a key.

        Each function returns a SaveableObject; a variable may stand instead of one.
        """
        return {}

    # What a SavedModel calls the kind of object, and what it knows of it.
    _object_identifier = "_generic_user_object"
    _tracking_metadata = ""

    def _list_functions_for_serialization(self, serialization_cache: Any) -> Any:
        """The functions that a SavedModel has with the object, by name."""
        return {}

    def _list_extra_dependencies_for_serialization(
        self, serialization_cache: Any
    ) -> dict[str, Any]:
        """Further objects that a SavedModel has with it, by name."""
        return {}

    def _no_dependency(self, value: _T) -> _T:
        """A value that an attribute may have without becoming a dependency."""
        return value

    def _preload_simple_restoration(self, name: str, shape: Any = None) -> Any:
        """The value of a variable that a restored checkpoint has, a Tensor; else None.

        In a graph it is None: values are restored when a session runs that.

        Args:
          name: its name within this object.
          shape: its shape, if it is known.
        """
        for restoration in reversed(awaited(self)):
            found = restoration.initial_value(self, name)
            if found is not None:
                return found
        return None

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        getter: Any = None,
        overwrite: bool = False,
        **kwargs_for_getter: Any,
    ) -> Any:
        """Make a variable that this object depends on.

        Args:
          name: its name within this object.
          shape, dtype, initializer, **kwargs_for_getter: for `getter`.  If a restored
            checkpoint has a value, that is its initializer.
          getter: makes the variable.
          overwrite: whether another object may have had the name.
        """
        restored = self._preload_simple_restoration(name, shape)
        if restored is not None:
            initializer, shape = restored, None
        made = getter(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            **kwargs_for_getter,
        )
        if overwrite and not isinstance(made, Trackable):
            return made  # such as a partitioned variable
        return self._track_trackable(made, name, overwrite)


class CapturableResource(Trackable):
    """Base of objects with a resource that functions capture, such as tables.

    In a SavedModel a function creates the resource, and another one initializes it.

    Args:
      device: where the resource must be created; "" for anywhere.
    """

    _resource_device = ""
    _resource_handle: Any = None

    def __init__(self, device: str = "") -> None:
        self._resource_device = device

    @property
    def resource_handle(self) -> Any:
        """The handle of the resource, which is created with the first access."""
        if self._resource_handle is None:
            with get_default_graph().device(self._resource_device or None):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _create_resource(self) -> Any:
        """A new handle of an equal resource."""
        raise NotImplementedError(f"{type(self).__name__}._create_resource")

    def _initialize(self) -> Any:
        """Fill the resource; for some there is nothing to do."""
        return None


def awaited(item: Any) -> list[AwaitedRestoration]:
    """The checkpoints restored to an object that have more of it, the oldest first."""
    found: list[AwaitedRestoration] = item.__dict__.setdefault(AWAITED, [])
    return found


def match_awaited(item: Any) -> None:
    """Look for new parts of an object in the checkpoints that were restored to it."""
    for restoration in tuple(item.__dict__.get(AWAITED, ())):
        restoration.matched()


def is_tracking(item: Any) -> bool:
    """Whether attributes that are set become dependencies."""
    found: bool = item.__dict__.get(_TRACKING, True)
    return found


@contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """A block where attributes of `obj` that are set do not become dependencies."""
    before = is_tracking(obj)
    obj.__dict__[_TRACKING] = False
    try:
        yield
    finally:
        obj.__dict__[_TRACKING] = before


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: attributes set in the method do not become dependencies."""

    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return called
