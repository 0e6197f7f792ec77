"""Code from templates, in which names stand for other code.

Its nodes have no positions until `placed` gives them those of the user's statement.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from typing import Any

# What a name of a template stands for: another name, an expression, or several.
Replacement = str | ast.expr | Sequence[ast.expr]


def statements(template: str, **replacements: Replacement) -> list[ast.stmt]:
    """The statements of a template.

    Args:
      template: Python code.
      **replacements: names in it -> what stands there instead. A sequence is put into
        the arguments or the tuple that the name is an item of.
    """
    tree = _parsed(textwrap.dedent(template))
    changed: ast.Module = _Replace(replacements).visit(tree)
    return changed.body


def expression(template: str, **replacements: Replacement) -> ast.expr:
    """The expression of a template; see `statements`."""
    (statement,) = statements(template, **replacements)
    assert isinstance(statement, ast.Expr)
    return statement.value


def names(symbols: Sequence[str]) -> list[ast.expr]:
    """The expressions that read some symbols."""
    return [expression(text) for text in symbols]


def function(
    name: str,
    parameters: Sequence[str],
    body: list[ast.stmt],
    keeps_values: Sequence[str] = (),
) -> ast.FunctionDef:
    """The definition of a function.

    Args:
      name: its name.
      parameters: its parameters.
      body: its statements.
      keeps_values: further parameters, whose defaults are the values of the variables
        of the same names where the function is defined.
    """
    (made,) = _parsed(f"def {name}(): pass").body
    assert isinstance(made, ast.FunctionDef)
    made.args.args = [ast.arg(p) for p in (*parameters, *keeps_values)]
    made.args.defaults = names(keeps_values)
    made.body = body or made.body
    return made


def placed(nodes: list[ast.stmt], origin: ast.stmt) -> list[ast.stmt]:
    """New statements, which get the position of the one that they stand for.

    Of a compound statement that is its first line: errors name the last one of a call.
    """
    for node in nodes:
        if hasattr(node, "lineno"):
            continue
        ast.copy_location(node, origin)  # for what is in it, too
        header = getattr(origin, "test", None) or getattr(origin, "iter", None)
        if header is not None and hasattr(header, "lineno"):
            node.end_lineno = header.end_lineno
            node.end_col_offset = header.end_col_offset
        if hasattr(origin, "body"):
            node.end_lineno = origin.lineno
    return nodes


def with_context(node: ast.expr, context: ast.expr_context) -> ast.expr:
    """A copy of an expression, to be assigned to or to be read."""
    match node:
        case ast.Name(name):
            new: ast.expr = ast.Name(name, context)
        case ast.Attribute(value, name):
            new = ast.Attribute(value, name, context)
        case ast.Subscript(value, index):
            new = ast.Subscript(value, index, context)
        case ast.Tuple(items):
            new = ast.Tuple([with_context(i, context) for i in items], context)
        case ast.List(items):
            new = ast.List([with_context(i, context) for i in items], context)
        case ast.Starred(value):
            new = ast.Starred(with_context(value, context), context)
        case _:
            return node
    return ast.copy_location(new, node) if hasattr(node, "lineno") else new


def _parsed(source: str) -> ast.Module:
    """The tree of some code, without positions."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for attribute in node._attributes:
            if hasattr(node, attribute):
                delattr(node, attribute)
    return tree


class _Replace(ast.NodeTransformer):
    def __init__(self, replacements: dict[str, Replacement]) -> None:
        self._replacements = replacements

    def visit_Name(self, node: ast.Name) -> Any:
        found = self._replacements.get(node.id)
        if found is None:
            return node
        if isinstance(found, str):
            return ast.Name(found, node.ctx)
        if isinstance(found, ast.expr):
            return with_context(found, node.ctx)
        return [with_context(item, node.ctx) for item in found]
