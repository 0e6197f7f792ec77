"""Calls as calls of `ag__.converted_call`.

Source: python/autograph/converters/call_trees.py.
"""

from __future__ import annotations

import ast
from typing import Any

from tfteach.lib.autograph.options import Feature
from tfteach.lib.autograph.syntax.activity import Function, parameters
from tfteach.lib.autograph.syntax.context import Context
from tfteach.lib.autograph.syntax.symbols import symbol_of
from tfteach.lib.autograph.syntax.template import expression
from tfteach.lib.autograph.verbosity import warn

# The built-in functions that do something else with Tensors.
OVERLOADED = abs, enumerate, float, int, len, range, zip
DEBUGGERS = "pdb.set_trace", "ipdb.set_trace", "breakpoint"


class _Warned:
    """Whether the program was told what a debugger sees."""

    is_done = False


class Calls(ast.NodeTransformer):
    """Rewrites the calls in a function.

    Args:
      context: of the function, or of that around it.
      node: the function.
    """

    def __init__(self, context: Context, node: Function) -> None:
        self._context = context
        self._first = next(iter(parameters(node)), None)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call that may be of a function of the program."""
        function = node.func
        if self._context.builtin(function) is super and not node.args and self._first:
            # Without arguments it asks for those of the function that calls it.
            return ast.copy_location(
                expression(f"super(__class__, {self._first})"), node
            )
        self.generic_visit(node)
        if not self._is_converted(function):
            return node
        convert = ast.copy_location(expression("ag__.converted_call"), function)
        call = ast.Call(convert, [function, *node.args], node.keywords)
        return ast.copy_location(call, node)

    def _is_converted(self, function: ast.expr) -> bool:
        symbol = symbol_of(function)
        text = "" if symbol is None else symbol.text
        if text in DEBUGGERS:
            if not _Warned.is_done:
                _Warned.is_done = True
                warn(
                    "Detected `pdb.set_trace()` in converted code. The code generated "
                    "by AutoGraph is not optimized for step-by-step debugging. See "
                    "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/"
                    "python/autograph/g3doc/reference/debugging.md."
                )
            return False
        if text.partition(".")[0] in {"ag__", *self._context.scopes}:
            return False
        builtin = self._context.builtin(function)
        if builtin is print:
            return self._context.uses(Feature.BUILTIN_FUNCTIONS)
        return builtin is None or builtin in OVERLOADED

    def visit_With(self, node: ast.With) -> ast.With:
        """Context managers are created as they are."""
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A function in the function, which is converted; but not its defaults."""
        node.args = self.visit(node.args)
        return node

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node
