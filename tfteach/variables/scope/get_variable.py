"""`tf.get_variable` and `tf.variable_scope`: variables created once and shared by name.

Each graph has one store of variables by full name, and per thread the open scope: a
name prefix with defaults for the arguments of `get_variable`.
Source: python/ops/variable_scope.py (API, naming rules and messages).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, contextmanager
from typing import Any

from tfteach.control.functional import around_functions
from tfteach.framework.call_origin import user_frame
from tfteach.framework.export import export, export_value
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_collections import VARIABLE_SCOPES, VARIABLE_STORE
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.opened_scopes import recorded_scope
from tfteach.framework.scope import graph_of, name_scope
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
)
from tfteach.variables.creation import Kinds
from tfteach.variables.scope.reuse import AUTO_REUSE
from tfteach.variables.scope.store import VariableStore
from tfteach.variables.scope.variable_scope import DEFAULTS, VariableScope


class _Open(threading.local):
    """The open scope of a graph per thread, and a count of opened names."""

    def __init__(self) -> None:
        self.scope = VariableScope(False)
        self.counts: dict[str, int] = {}
        self.names: set[str] = set()  # of all scopes that were ever opened
        self._inside: dict[str, set[str]] = {}  # the names one level below a name

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def note(self, name: str) -> None:
        self.counts[name] = self.count(name) + 1
        self.names.add(name)
        while "/" in name:
            outer = name.rpartition("/")[0]
            inside = self._inside.setdefault(outer, set())
            if name in inside:
                break
            inside.add(name)
            name = outer

    def forget_inside(self, name: str) -> None:
        names = [*self._inside.get(name, ())]
        for inner in names:
            self.counts.pop(inner, None)
            names += self._inside.get(inner, ())


def _open_of(graph: Graph) -> _Open:
    found = graph.collection_list(VARIABLE_SCOPES)
    if not found:
        with graph.lock:
            if not found:
                found.append(_Open())
    result: _Open = found[0]
    return result


def opened_scopes() -> Set[str]:
    """The names of the default graph's variable scopes, also later ones."""
    return _open_of(get_default_graph()).names


def store_of(graph: Graph) -> VariableStore:
    found = graph.collection_list(VARIABLE_STORE)
    if not found:
        with graph.lock:
            if not found:
                found.append(VariableStore())
    result: VariableStore = found[0]
    return result


def forget_scopes_inside(name: str) -> None:
    """Let names of variable scopes below `name` be given again."""
    _open_of(get_default_graph()).forget_inside(name)


@export("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The open variable scope."""
    return _open_of(get_default_graph()).scope


@around_functions
@contextmanager
def _caching_variables() -> Iterator[None]:
    """Variables created inside are copied once to each device that reads them."""
    scope = get_variable_scope()
    if get_default_graph().is_eager or scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)


@export("get_variable")
def get_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
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
    """The variable of that name in the open variable scope, existing or new.

    Args:
      name: its name within the scope.
      shape: its shape, unless `initializer` is a value.
      dtype: its element type (default: the scope's, float32).
      initializer: an initializer such as `tf.zeros_initializer()`, or a value; if None,
        the scope's, otherwise Glorot's uniform (zeros for integers).
      regularizer: a function from the variable to a loss, which is added to
        `tf.GraphKeys.REGULARIZATION_LOSSES`.
      trainable, collections, caching_device, validate_shape, use_resource, constraint,
      synchronization, aggregation: as in `tf.Variable`.
      partitioner: a function from shape and dtype to the number of partitions per axis.
      custom_getter: `f(getter, name, *args, **kwargs)`, which determines the result.

    Returns:
      A Variable, or a PartitionedVariable if there is a partitioner.

    Raises:
      ValueError: it exists and the scope does not reuse, or vice versa; or its shape or
        type differs.

    Example:
      >>> with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
      ...     w = tf.get_variable("w", [784, 10])
      >>> w.name
      'layer/w:0'
    """
    kwargs = {k: v for k, v in locals().items() if k != "name"}
    store = store_of(get_default_graph())
    return get_variable_scope().get_variable(store, name, **kwargs)


@export("get_local_variable")
def get_local_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = False,
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
    """`get_variable` for `tf.GraphKeys.LOCAL_VARIABLES`; never trainable, as in TF."""
    kwargs = {k: v for k, v in locals().items() if k != "name"}
    own = [GraphKeys.LOCAL_VARIABLES]
    kwargs["collections"] = [*collections, *own] if collections else own
    kwargs["trainable"] = False
    return get_variable(name, **kwargs)


class variable_scope:
    """Open a variable scope and the name scope of the same name.

    Args:
      name_or_scope: a name, or a VariableScope to reopen.
      default_name: if `name_or_scope` is None: a name to be made unique.
      values: tensors whose graph is used.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype,
      use_resource, constraint: defaults for `tf.get_variable` in the block.
      reuse: True: variables must exist; tf.AUTO_REUSE: create or share them; None or
        False: inherit from the enclosing scope.
      auxiliary_name_scope: False: stay in the open name scope.

    Raises:
      ValueError: `reuse` is invalid, or True without `name_or_scope`.

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
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Partitioner | None = None,
        custom_getter: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
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
        self._given = {key: arguments[key] for key in DEFAULTS}
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
        own = target if isinstance(target, str) else target.name.split("/")[-1]
        with ExitStack() as stack:
            names = None
            if own or not self._opens_names:
                names = stack.enter_context(self._name_scope(own))
            yield stack.enter_context(
                self._inside(target, names)
                if isinstance(target, str)
                else self._again(target)
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
        scope = outer.inside(name, reuse, own if names is None else names, self._given)
        opened.note(name)
        try:
            with _as_open(opened, scope):
                yield scope
        finally:
            opened.forget_inside(name)

    @contextmanager
    def _again(self, target: VariableScope) -> Iterator[VariableScope]:
        """An earlier scope reopened, regardless of the open one."""
        opened = _open_of(self._graph)
        scope = target.inside(
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


class RecordedVariableScope(variable_scope):
    """`tf.variable_scope`: scopes of this package's own code are not recorded."""

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            scope = super().__enter__()
            stack.push(super().__exit__)
            stack.enter_context(
                recorded_scope(self._graph, self._asked(), scope.name, user_frame())
            )
            self._stacks.append(stack.pop_all())
        return scope

    def _asked(self) -> str:
        """The name of the name scope that was asked for; "" if none was."""
        if not self._opens_names:
            return ""
        target = self._default_name if self._target is None else self._target
        if isinstance(target, VariableScope):
            return target.name.rpartition("/")[2]
        return str(target)


# What a program sees.
RecordedVariableScope.__name__ = RecordedVariableScope.__qualname__ = "variable_scope"
RecordedVariableScope.__doc__ = variable_scope.__doc__
export_value(__name__, RecordedVariableScope="variable_scope")


@export("variable_op_scope")
@contextmanager
def variable_op_scope(
    values: Any,
    name_or_scope: VariableScope | str,
    default_name: str | None = None,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    caching_device: DeviceLike | None = None,
    partitioner: Partitioner | None = None,
    custom_getter: Callable[..., Any] | None = None,
    reuse: bool | None = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Constraint | None = None,
) -> Iterator[VariableScope]:
    """Older form of `tf.variable_scope`, with `values` first."""
    with RecordedVariableScope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device,
        partitioner, custom_getter, reuse, dtype, use_resource, constraint,
    ) as scope:  # fmt: skip
        yield scope


Kinds.use_resource_of_scope = staticmethod(lambda: get_variable_scope().use_resource)
