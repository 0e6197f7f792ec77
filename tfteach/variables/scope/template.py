"""`tf.make_template`: a function whose calls share their variables.

Source: python/ops/template.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tfteach.framework.call_origin import user_line
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import get_collection
from tfteach.framework.trackable import Trackable
from tfteach.variables.scope.capture_dependencies import capture_dependencies
from tfteach.variables.scope.eager_store import EagerVariableStore
from tfteach.variables.scope.get_variable import (
    forget_scopes_inside,
    store_of,
    variable_scope,
)
from tfteach.variables.scope.variable_scope import VariableScope


@export("make_template", "contrib.eager.make_template")
def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Template:
    """`func_` as a function whose calls share the variables of `tf.get_variable`.

    The first call creates them, in a variable scope; later calls reuse them, each in a
    separate name scope.

    Args:
      name_: the scope's name, made unique.
      func_: builds ops, and gets its variables from `tf.get_variable`.
      create_scope_now_: open the scope immediately instead of in the first call.
      unique_name_: the scope's exact name; it must not contain these variables yet.
      custom_getter_: the scope's custom getter; see `tf.variable_scope`.
      **kwargs: arguments of all calls.

    Returns:
      A `Template`, to be called with the other arguments of `func_`.

    Raises:
      ValueError: `name_` is None, or `unique_name_` is given in an eager program; (in
        later calls) `func_` creates another trainable variable, or requests one that
        does not exist.

    Example:
      >>> def scaled(x, by):
      ...     return x * tf.get_variable("w", []) * by
      >>> double = tf.make_template("scale", scaled, by=2.0)
      >>> a, b = double(tf.constant(1.0)), double(tf.constant(3.0))  # one scale/w

    Source: python/ops/template.py.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    if get_default_graph().is_eager:
        if unique_name_ is not None:
            raise ValueError(
                "unique_name_ cannot be used when eager exeuction is enabled."
            )
        return EagerTemplate(
            name_, func_, create_scope_now_, custom_getter=custom_getter_
        )
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


def _others(items: list[Any], known: list[Any]) -> list[Any]:
    """The items that are not among the known ones."""
    ids = {id(item) for item in known}
    return [item for item in items if id(item) not in ids]


class Template(Trackable):
    """Result of `tf.make_template`.

    Args:
      name: the scope's name, made unique.
      func: the function.
      create_scope_now: open the scope immediately.
      unique_name: the scope's exact name.
      custom_getter: the scope's custom getter.
    """

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._name, self._func = name, func
        self._unique_name, self._custom_getter = unique_name, custom_getter
        self._source = user_line()
        self._is_new = True
        self._variables_created = False
        self._scope: VariableScope | None = None
        if create_scope_now:
            own = unique_name or variable_scope(None, name)._unique(name)
            with variable_scope(
                own, custom_getter=custom_getter, auxiliary_name_scope=False
            ) as scope:
                self._scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is not None:
            opening = variable_scope(self._scope, reuse=not self._is_new)
        else:
            opening = variable_scope(
                self._unique_name, self._name, custom_getter=self._custom_getter
            )
        self._is_new = False
        with opening as scope:
            self._scope = self._scope or scope
            return self._call(args, kwargs)

    def _known(self) -> tuple[list[Any], list[Any]]:
        """The variables that exist now: the trainable ones, and all."""
        graph = get_default_graph()
        return (
            list(graph.collection_list(GraphKeys.TRAINABLE_VARIABLES)),
            list(graph.collection_list(GraphKeys.GLOBAL_VARIABLES)),
        )

    def _noting_variables(self) -> AbstractContextManager[None]:
        """A block whose variables are saved with the template, in the first call."""
        return nullcontext() if self._variables_created else capture_dependencies(self)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function's result; rejects variables created after the first call."""
        before = self._known()
        try:
            with self._noting_variables():
                result = self._func(*args, **kwargs)
            trainable, variables = map(_others, self._known(), before)
            if self._variables_created and trainable:
                raise ValueError(
                    "Trainable variable created when calling a template after the "
                    "first time, perhaps you used tf.Variable when you meant "
                    f"tf.get_variable: {trainable}"
                )
        except Exception as error:
            line = self._source
            if line is not None:
                error.add_note(f"The template was made at {line.file}:{line.line}.")
            raise
        if self._variables_created and variables:
            get_logger().info(
                "New variables created when calling a template after the first time, "
                "perhaps you used tf.Variable when you meant tf.get_variable: %s",
                variables,
            )
        self._variables_created = True
        return result

    @property
    def name(self) -> str:
        """The requested name."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of its variables; None before the first call."""
        return self._scope

    @property
    def var_scope(self) -> VariableScope | None:
        """Older name of `variable_scope`."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """The scope's name with a trailing slash; None before the first call."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name[-1] == "/" else name + "/"

    def _collection(self, key: str) -> list[Any]:
        name = self.variable_scope_name
        return [] if name is None else get_collection(key, name)

    @property
    def variables(self) -> list[Any]:
        """Its global and local variables."""
        return self.global_variables + self.local_variables

    @property
    def weights(self) -> list[Any]:
        """Its global and local variables."""
        return self.variables

    @property
    def trainable_variables(self) -> list[Any]:
        """Its trainable variables."""
        return self._collection(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def trainable_weights(self) -> list[Any]:
        """Its trainable variables."""
        return self.trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Its global variables that are not trainable."""
        trainable = self.trainable_variables
        return [v for v in self.global_variables if not any(v is t for t in trainable)]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Its global variables that are not trainable."""
        return self.non_trainable_variables

    @property
    def global_variables(self) -> list[Any]:
        """Its global variables."""
        return self._collection(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Its local variables."""
        return self._collection(GraphKeys.LOCAL_VARIABLES)


class EagerTemplate(Template):
    """Result of `tf.make_template` in an eager program: it keeps its variables.

    Args:
      name, func, create_scope_now, custom_getter: as for `Template`.
    """

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        custom_getter: Any = None,
    ) -> None:
        if not get_default_graph().is_eager:
            raise RuntimeError(
                f"{type(self)} objects can only be used when eager execution is "
                "enabled, use tf.Template for graph construction"
            )
        super().__init__(name, func, create_scope_now, None, custom_getter)
        outer = store_of(get_default_graph())
        stores = outer._store_eager_variables
        self._store = EagerVariableStore(outer if stores else None)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        assert self._scope is not None
        try:
            with self._store.as_default():
                return super()._call(args, kwargs)
        finally:
            forget_scopes_inside(self._scope.name)

    def _own(self, variables: list[Any]) -> list[Any]:
        """Those in the template's scope; its store may also hold others."""
        prefix = self.variable_scope_name
        return (
            []
            if prefix is None
            else [v for v in variables if v.name.startswith(prefix)]
        )

    def _known(self) -> tuple[list[Any], list[Any]]:
        store = self._store
        return self._own(store.trainable_variables()), self._own(store.variables())

    @property
    def trainable_variables(self) -> list[Any]:
        """Its trainable variables."""
        return self._own(self._store.trainable_variables())

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Its other variables."""
        return self._own(self._store.non_trainable_variables())

    @property
    def global_variables(self) -> list[Any]:
        """Its variables."""
        return self._own(self._store.variables())

    @property
    def local_variables(self) -> list[Any]:
        """None: they are among the others."""
        return []
