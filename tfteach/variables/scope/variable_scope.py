"""`VariableScope`: a name prefix, and defaults for the arguments of `get_variable`.

Source: python/ops/variable_scope.py, VariableScope (API and messages).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import (
    CollectionNames,
    Constraint,
    DeviceLike,
    DTypeLike,
    Initializer,
    Partitioner,
    Regularizer,
    ShapeLike,
)
from tfteach.variables.base import (
    VariableAggregation,
    VariableSynchronization,
    check_modes,
)
from tfteach.variables.creation import makes_eager_variables
from tfteach.variables.scope.requests import Asked
from tfteach.variables.scope.reuse import AUTO_REUSE
from tfteach.variables.scope.store import VariableStore

# Properties inherited by `get_variable` and inner scopes.
DEFAULTS = (
    "initializer regularizer caching_device partitioner custom_getter dtype "
    "use_resource constraint"
).split()


@export("no_regularizer")
def no_regularizer(_: Any) -> None:
    """A regularizer without a loss, which overrides the scope's."""
    return None


@export("VariableScope")
class VariableScope:
    """A name prefix and defaults for `get_variable`; the result of `variable_scope`.

    Attributes:
      name: the prefix of the variables' names.
      original_name_scope: the name scope that was opened with it, "scope/".
      reuse: True, tf.AUTO_REUSE, or False.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype,
      use_resource, constraint: defaults for `tf.get_variable`; each has a setter
        `set_initializer(...)` and so on.
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Partitioner | None = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: DTypeLike = float32,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
    ) -> None:
        self._name, self._reuse, self._name_scope = name, reuse, name_scope
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._dtype = custom_getter, dtype
        self._use_resource, self._constraint = use_resource, constraint
        if get_default_graph().is_eager:
            if caching_device is not None:
                raise NotImplementedError(
                    "Caching devices is not yet supported when eager execution is "
                    "enabled."
                )
            self._reuse, self._use_resource = AUTO_REUSE, True

    @property
    def name(self) -> str:
        return self._name

    @property
    def original_name_scope(self) -> str:
        return self._name_scope

    @property
    def reuse(self) -> Any:
        return self._reuse

    @property
    def initializer(self) -> Any:
        return self._initializer

    @property
    def regularizer(self) -> Any:
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        return self._custom_getter

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        return self._use_resource

    @property
    def constraint(self) -> Any:
        return self._constraint

    def reuse_variables(self) -> None:
        """Only return existing variables from now on."""
        self._reuse = True

    def set_initializer(self, initializer: Initializer | None) -> None:
        self._initializer = initializer

    def set_regularizer(self, regularizer: Regularizer | None) -> None:
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: DeviceLike | None) -> None:
        if get_default_graph().is_eager:
            raise NotImplementedError(
                "Caching devices are not yet supported when eager execution is enabled."
            )
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Partitioner | None) -> None:
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any]) -> None:
        self._custom_getter = custom_getter

    def set_dtype(self, dtype: DTypeLike) -> None:
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        if get_default_graph().is_eager and not use_resource:
            raise ValueError(
                "When eager execution is enabled, use_resource cannot be set to false."
            )
        self._use_resource = use_resource

    def get_collection(self, name: str) -> list[Any]:
        """The members of a collection whose names start with this scope's."""
        scope = self._name + "/" if self._name else ""
        return get_default_graph().get_collection(name, scope)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def inside(self, name: str, reuse: bool, name_scope: str, given: Any) -> Any:
        """A scope with this one's defaults where `given` has None."""
        values = {key: getattr(self, "_" + key) for key in DEFAULTS}
        own_getter = given.get("custom_getter")
        values.update((k, v) for k, v in given.items() if v is not None)
        if own_getter is not None:
            values["custom_getter"] = _chained(own_getter, self._custom_getter)
        # As in TF, a constraint is not inherited.
        values["constraint"] = given.get("constraint")
        made = VariableScope(reuse, name, name_scope=name_scope, **values)
        if given.get("use_resource") is not None:
            made.set_use_resource(given["use_resource"])
        return made

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        reuse: bool | None = None,
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Partitioner | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Constraint | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """`tf.get_variable` in this scope, from the given store."""
        kwargs = dict(locals())
        for key in ("self", "var_store", "name"):
            del kwargs[key]
        for key in "regularizer caching_device partitioner custom_getter".split():
            if kwargs.get(key) is None:
                kwargs[key] = getattr(self, "_" + key)
        if get_default_graph().is_eager:
            kwargs["reuse"], kwargs["use_resource"] = False, True
        for key in ("reuse", "use_resource"):
            if kwargs.get(key) is None:
                kwargs[key] = getattr(self, "_" + key)
        full_name = f"{self._name}/{name}" if self._name else name
        open_scopes = get_default_graph()._of_thread.scopes
        asking = var_store.asking
        outer = asking.asked
        asking.asked = Asked(
            open_scopes.name, self._name or "", open_scopes.users, kwargs["reuse"]
        )
        try:
            # Variables are named only by variable scopes.
            with name_scope(None):
                _check_initializer(kwargs.get("initializer"), kwargs.get("dtype"))
                for key in ("initializer", "constraint", "dtype"):
                    if kwargs.get(key) is None:
                        kwargs[key] = getattr(self, "_" + key)
                return _get(var_store, full_name, kwargs)
        finally:
            asking.asked = outer


def _check_initializer(
    initializer: Initializer | None, dtype: DTypeLike | None
) -> None:
    if dtype is None or initializer is None or callable(initializer):
        return
    found = convert(initializer).dtype.base_dtype
    if found != dtype:
        raise ValueError(
            f"Initializer type '{found}' and explicit dtype '{dtype}' don't match."
        )


def _chained(own: Callable[..., Any], outer: Callable[..., Any] | None) -> Any:
    """A custom getter nested in another: the inner one is called first."""
    if outer is None:
        return own

    def chained(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return own(functools.partial(outer, getter), *args, **kwargs)

    return chained


def _get(store: VariableStore, name: str, kwargs: dict[str, Any]) -> Any:
    """Call the custom getter if there is one, otherwise the store."""
    getter = kwargs.pop("custom_getter")
    if getter is not None and not callable(getter):
        raise ValueError(f"Passed a custom_getter which is not callable: {getter}")
    if makes_eager_variables():
        kwargs["use_resource"] = True
    kwargs["reuse"] = store.reuse_mode(kwargs["reuse"])
    kwargs["dtype"] = getattr(kwargs["dtype"], "base_dtype", kwargs["dtype"])
    modes = check_modes(
        kwargs["synchronization"], kwargs["aggregation"], kwargs["trainable"], name
    )
    kwargs["synchronization"], kwargs["aggregation"], kwargs["trainable"] = modes
    if getter is None:
        return store.get(name, **kwargs)
    if not _accepts(getter, "constraint"):
        kwargs.pop("constraint")
    return getter(getter=store.get, name=name, **kwargs)


def _accepts(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(
        p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()
    )
