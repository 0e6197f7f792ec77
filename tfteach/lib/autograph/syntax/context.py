"""What the passes over one function share."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.lib.autograph.options import ConversionOptions, Feature
from tfteach.lib.autograph.syntax.activity import Function
from tfteach.lib.autograph.syntax.symbols import Namer, names_in


class Context:
    """A function that is being converted, with those in it.

    Args:
      node: its code.
      options: how it is converted.
      is_scoped: whether its body is in a `FunctionScope`, also if no feature needs it.
      namespace: the values of its global and free variables.

    Attributes:
      is_scoped: whether its body is in a `FunctionScope`.
      namer: makes names that it does not use.
      scopes: the names of the `FunctionScope`s.
    """

    def __init__(
        self,
        node: Function,
        options: ConversionOptions,
        is_scoped: bool,
        namespace: Mapping[str, Any],
    ) -> None:
        self._options = options
        has_scopes = Feature.NAME_SCOPES, Feature.AUTO_CONTROL_DEPS
        self.is_scoped = is_scoped or any(map(self.uses, has_scopes))
        self._namespace = namespace
        self._names = names_in(node)
        self._own = _assigned_in(node)
        self.namer = Namer(self._names | {"ag__"})
        self.scopes: list[str] = []

    def new_scope(self, function: str) -> str | None:
        """The name of the `FunctionScope` of a function; None if it has none."""
        if not self.is_scoped:
            return None
        self.scopes.append(self.namer.new(f"{function}_scope"))
        return self.scopes[-1]

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is on."""
        return self._options.uses(feature)

    def builtin(self, node: ast.expr) -> Any:
        """The built-in function that an expression names, or None."""
        if not isinstance(node, ast.Name) or node.id in self._own:
            return None
        if node.id in self._namespace:
            return None
        return getattr(builtins, node.id, None)

    def names_function(self, node: ast.expr, function: Callable[..., Any]) -> bool:
        """Whether an expression such as `module.name` is known to be a function."""
        return self._value(node) is function

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(name) if name not in self._own:
                return self._namespace.get(name)
            case ast.Attribute(value, name):
                return getattr(self._value(value), name, None)
            case _:
                return None


def _assigned_in(node: Function) -> set[str]:
    """The names that a function or those in it assign, or have as parameters."""
    found = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name):
                found.add(name)
            case (
                ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name)
            ):
                found.add(name)
            case ast.alias(name, asname):
                found.add(asname or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
    return found
