"""`tf.get_variable` and `tf.variable_scope`: variables by name, made once and shared.

Each graph has one store of variables by full name, and per thread the scope that is
open: a name prefix with defaults for `get_variable`'s arguments.
Source: python/ops/variable_scope.py (API, naming rules and messages).
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export, export_value
from tfteach.framework.graph import Graph, GraphKeys, get_default_graph
from tfteach.framework.scope import graph_of, name_scope
from tfteach.variable_store import VariableStore
from tfteach.variables.base import (
    Kinds,
    VariableAggregation,
    VariableSynchronization,
    check_modes,
)


class _ReuseMode(Enum):
    AUTO_REUSE = 1


# `reuse=tf.AUTO_REUSE`: make the variable at first, then share it.
AUTO_REUSE = _ReuseMode.AUTO_REUSE
export_value(__name__, AUTO_REUSE="AUTO_REUSE")

# What a scope hands down to `get_variable` and to the scopes inside it.
_DEFAULTS = (
    "initializer regularizer caching_device partitioner custom_getter dtype "
    "use_resource constraint"
).split()


@export("no_regularizer")
def no_regularizer(_: Any) -> None:
    """A regularizer that adds no loss: it sets aside the scope's."""
    return None


@export("VariableScope")
class VariableScope:
    """A name prefix and defaults for `get_variable`; what `variable_scope` yields.

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
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self._name, self._reuse, self._name_scope = name, reuse, name_scope
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._dtype = custom_getter, dtype
        self._use_resource, self._constraint = use_resource, constraint

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
        """From now on, get existing variables only."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self._initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        self._custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        self._use_resource = use_resource

    def get_collection(self, name: str) -> list[Any]:
        """The members of a collection whose names begin with this scope's."""
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

    def _inside(self, name: str, reuse: Any, name_scope: str, given: Any) -> Any:
        """A scope with this one's defaults where `given` has None."""
        values = {key: getattr(self, "_" + key) for key in _DEFAULTS}
        own_getter = given.get("custom_getter")
        values.update((k, v) for k, v in given.items() if v is not None)
        if own_getter is not None:
            values["custom_getter"] = _chained(own_getter, self._custom_getter)
        # A constraint is not handed down, in TF either.
        values["constraint"] = given.get("constraint")
        return VariableScope(reuse, name, name_scope=name_scope, **values)

    def get_variable(self, var_store: VariableStore, name: str, **kwargs: Any) -> Any:
        """`tf.get_variable` in this scope, from the given store."""
        for key in "regularizer caching_device partitioner custom_getter".split():
            if kwargs.get(key) is None:
                kwargs[key] = getattr(self, "_" + key)
        for key in ("reuse", "use_resource"):
            if kwargs.get(key) is None:
                kwargs[key] = getattr(self, "_" + key)
        full_name = f"{self._name}/{name}" if self._name else name
        # Variables are named by variable scopes alone.
        with name_scope(None):
            _check_initializer(kwargs.get("initializer"), kwargs.get("dtype"))
            for key in ("initializer", "constraint", "dtype"):
                if kwargs.get(key) is None:
                    kwargs[key] = getattr(self, "_" + key)
            return _get(var_store, full_name, kwargs)


def _check_initializer(initializer: Any, dtype: Any) -> None:
    if dtype is None or initializer is None or callable(initializer):
        return
    found = convert(initializer).dtype.base_dtype
    if found != dtype:
        raise ValueError(
            f"Initializer type '{found}' and explicit dtype '{dtype}' don't match."
        )


def _chained(own: Callable[..., Any], outer: Callable[..., Any] | None) -> Any:
    """A custom getter within another: the inner one is asked first."""
    if outer is None:
        return own

    def chained(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return own(functools.partial(outer, getter), *args, **kwargs)

    return chained


def _get(store: VariableStore, name: str, kwargs: dict[str, Any]) -> Any:
    """Call the custom getter, if there is one, or the store itself."""
    getter = kwargs.pop("custom_getter")
    if getter is not None and not callable(getter):
        raise ValueError(f"Passed a custom_getter which is not callable: {getter}")
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


class _Open(threading.local):
    """The open scope of a graph, in each thread, and how often names were opened."""

    def __init__(self) -> None:
        self.scope = VariableScope(False)
        self.counts: dict[str, int] = {}

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def note(self, name: str) -> None:
        self.counts[name] = self.count(name) + 1

    def forget_inside(self, name: str) -> None:
        for key in self.counts:
            if key.startswith(name + "/"):
                self.counts[key] = 0


def _open_of(graph: Graph) -> _Open:
    found = graph.get_collection_ref(("__varscope",))
    if not found:
        found.append(_Open())
    return found[0]


def _store_of(graph: Graph) -> VariableStore:
    found = graph.get_collection_ref(("__variable_store",))
    if not found:
        found.append(VariableStore())
    return found[0]


@export("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The open variable scope."""
    return _open_of(get_default_graph()).scope


@export("get_variable")
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """The variable of that name in the open variable scope: an existing one, or new.

    Args:
      name: its name within the scope.
      shape: its shape, unless `initializer` is a value.
      dtype: its element type (default: the scope's, float32).
      initializer: an initializer such as `tf.zeros_initializer()`, or a value; the
        scope's if None, else Glorot's uniform (zeros for integers).
      regularizer: a function from the variable to a loss, which goes to
        `tf.GraphKeys.REGULARIZATION_LOSSES`.
      trainable, collections, caching_device, validate_shape, use_resource, constraint,
      synchronization, aggregation: as in `tf.Variable`.
      partitioner: a function from shape and dtype to the number of parts per axis.
      custom_getter: `f(getter, name, *args, **kwargs)` that decides what is returned.

    Returns:
      A Variable, or a PartitionedVariable if there is a partitioner.

    Raises:
      ValueError: it exists and the scope does not reuse, or the other way round; or it
        has another shape or type.

    Example:
      >>> with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
      ...     w = tf.get_variable("w", [784, 10])
      >>> w.name
      'layer/w:0'
    """
    kwargs = {k: v for k, v in locals().items() if k != "name"}
    store = _store_of(get_default_graph())
    return get_variable_scope().get_variable(store, name, **kwargs)


@export("get_local_variable")
def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """`get_variable` for `tf.GraphKeys.LOCAL_VARIABLES`; never trainable, as in TF."""
    kwargs = {k: v for k, v in locals().items() if k != "name"}
    own = [GraphKeys.LOCAL_VARIABLES]
    kwargs["collections"] = [*collections, *own] if collections else own
    kwargs["trainable"] = False
    return get_variable(name, **kwargs)


@export("variable_scope")
class variable_scope:
    """Open a variable scope and the name scope of the same name.

    Args:
      name_or_scope: a name, or a VariableScope to enter again.
      default_name: if `name_or_scope` is None: a name that is made unique.
      values: tensors whose graph is used.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype,
      use_resource, constraint: defaults for `tf.get_variable` in the block.
      reuse: True: variables must exist; tf.AUTO_REUSE: make or share them; None or
        False: as the scope around.
      auxiliary_name_scope: False: stay in the name scope that is open.

    Raises:
      ValueError: `reuse` is something else, or True without `name_or_scope`.

    Example:
      >>> with tf.variable_scope("a"):
      ...     with tf.variable_scope("b", reuse=tf.AUTO_REUSE) as scope:
      ...         scope.name
      'a/b'
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        arguments = locals()
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        self._reuse = None if reuse is False else reuse
        if not any(self._reuse is mode for mode in (None, True, AUTO_REUSE)):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._target, self._default_name = name_or_scope, default_name
        self._given = {key: arguments[key] for key in _DEFAULTS}
        self._opens_names = auxiliary_name_scope
        self._graph = graph_of([] if values is None else values)
        self._unique_name: str | None = None
        self._stacks: list[ExitStack] = []

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            stack.enter_context(self._graph.as_default())
            scope = stack.enter_context(self._entered())
            self._stacks.append(stack.pop_all())
        return scope

    def __exit__(self, *error: Any) -> None:
        self._stacks.pop().__exit__(*error)

    @contextmanager
    def _entered(self) -> Iterator[VariableScope]:
        target = self._target
        if target is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            with self._name_scope(self._default_name) as names:
                if self._unique_name is None:
                    self._unique_name = self._unique(str(self._default_name))
                with self._inside(self._unique_name, names) as scope:
                    yield scope
            return
        if not isinstance(target, str | VariableScope):
            raise TypeError(
                "VariableScope: name_or_scope must be a string or VariableScope."
            )
        is_name = isinstance(target, str)
        own = target if is_name else target.name.split("/")[-1]
        with ExitStack() as stack:
            names = None
            if own or not self._opens_names:
                names = stack.enter_context(self._name_scope(own))
            yield stack.enter_context(
                self._inside(target, names) if is_name else self._again(target)
            )

    def _name_scope(self, name: str | None) -> Any:
        if self._opens_names:
            return name_scope(name)
        current = self._graph.get_name_scope()
        return name_scope(current + "/" if current else current)

    def _unique(self, prefix: str) -> str:
        opened = _open_of(self._graph)
        name = f"{opened.scope.name}/{prefix}" if opened.scope.name else prefix
        if opened.count(name) == 0:
            return prefix
        number = 1
        while opened.count(f"{name}_{number}") > 0:
            number += 1
        return f"{prefix}_{number}"

    @contextmanager
    def _inside(self, own: str, names: str | None) -> Iterator[VariableScope]:
        """A scope below the open one."""
        opened = _open_of(self._graph)
        outer = opened.scope
        name = f"{outer.name}/{own}" if outer.name else own
        reuse = self._reuse or outer.reuse
        scope = outer._inside(name, reuse, own if names is None else names, self._given)
        opened.note(name)
        try:
            with _as_open(opened, scope):
                yield scope
        finally:
            opened.forget_inside(name)

    @contextmanager
    def _again(self, target: VariableScope) -> Iterator[VariableScope]:
        """A scope that was open before, wherever we are now."""
        opened = _open_of(self._graph)
        scope = target._inside(
            target.name, self._reuse or target.reuse, target.original_name_scope,
            self._given,
        )  # fmt: skip
        opened.note(target.name)
        before = dict(opened.counts)
        try:
            with _as_open(opened, scope):
                yield scope
        finally:
            opened.counts = before


@contextmanager
def _as_open(opened: _Open, scope: VariableScope) -> Iterator[None]:
    outer, opened.scope = opened.scope, scope
    try:
        yield
    finally:
        if opened.scope is not scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        opened.scope = outer


@export("variable_op_scope")
@contextmanager
def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> Iterator[VariableScope]:
    """Old form of `tf.variable_scope`, with `values` first."""
    with variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device,
        partitioner, custom_getter, reuse, dtype, use_resource, constraint,
    ) as scope:  # fmt: skip
        yield scope


Kinds.use_resource_of_scope = staticmethod(lambda: get_variable_scope().use_resource)
