"""`FunctionScope`: the context of a converted function.

Source: python/autograph/core/function_wrappers.py (API).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self

from tfteach.framework import nest
from tfteach.framework.autograph_status import ControlStatusCtx, Status
from tfteach.framework.scope import name_scope
from tfteach.lib.autograph.control_dependencies import OrderedEffects
from tfteach.lib.autograph.operators.tensors import is_tensor
from tfteach.lib.autograph.options import ConversionOptions, Feature


class FunctionScope:
    """A context manager around the body of a converted function.

    Within it AutoGraph is on, if the program has asked for the conversion; ops are in
    a name scope and have their effects in order, as the features say.

    Args:
      function_name: the function's.
      scope_name: the name of this object in the function.
      options: of the conversion.
    """

    def __init__(
        self, function_name: str, scope_name: str, options: ConversionOptions
    ) -> None:
        self.name = scope_name
        self.options = options
        self._function_name = function_name
        self._stack = ExitStack()
        self._effects: OrderedEffects | None = None

    def __enter__(self) -> Self:
        if self.options.user_requested:
            status = ControlStatusCtx(Status.ENABLED, self.options)
            self._stack.enter_context(status)
        if self.options.uses(Feature.NAME_SCOPES):
            name = self._function_name
            # A name scope cannot begin with an underscore.
            name = f"fn{name}" if name.startswith("_") else name
            self._stack.enter_context(name_scope(name))
        if self.options.uses(Feature.AUTO_CONTROL_DEPS):
            self._effects = self._stack.enter_context(OrderedEffects())
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def mark_return_value(self, value: Any) -> Any:
        """The value, whose Tensors wait for all effects of the function."""
        effects = self._effects
        if effects is None or value is None:
            return value
        return nest.map_structure(
            lambda v: effects.mark_as_return(v) if is_tensor(v) else v, value
        )


def with_function_scope(
    thunk: Callable[[FunctionScope], Any], scope_name: str, options: ConversionOptions
) -> Any:
    """The result of a lambda function in its scope."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)
