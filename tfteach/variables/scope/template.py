"""`tf.make_template`: a function whose calls share their variables.

Source: python/ops/template.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfteach.framework.call_origin import user_line
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import get_collection
from tfteach.variables.scope.get_variable import variable_scope
from tfteach.variables.scope.variable_scope import VariableScope


@export("make_template")
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
      ValueError: `name_` is None; (in later calls) `func_` creates another trainable
        variable, or requests one that does not exist.

    Example:
      >>> def scaled(x, by):
      ...     return x * tf.get_variable("w", []) * by
      >>> double = tf.make_template("scale", scaled, by=2.0)
      >>> a, b = double(tf.constant(1.0)), double(tf.constant(3.0))  # one scale/w

    Source: python/ops/template.py.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class Template:
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
        self._has_variables = False
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

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function's result; rejects variables created after the first call."""
        graph = get_default_graph()
        trainable = graph.collection_list(GraphKeys.TRAINABLE_VARIABLES)
        variables = graph.collection_list(GraphKeys.GLOBAL_VARIABLES)
        before = len(trainable), len(variables)
        try:
            result = self._func(*args, **kwargs)
            if self._has_variables and len(trainable) != before[0]:
                raise ValueError(
                    "Trainable variable created when calling a template after the "
                    "first time, perhaps you used tf.Variable when you meant "
                    f"tf.get_variable: {trainable[before[0] :]}"
                )
        except Exception as error:
            line = self._source
            if line is not None:
                error.add_note(f"The template was made at {line.file}:{line.line}.")
            raise
        if self._has_variables and len(variables) != before[1]:
            get_logger().info(
                "New variables created when calling a template after the first time, "
                "perhaps you used tf.Variable when you meant tf.get_variable: %s",
                variables[before[1] :],
            )
        self._has_variables = True
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
