"""`and`, `or`, `not`, comparisons and conditional expressions as calls of operators.

Source: python/autograph/converters/{logical,conditional}_expressions.py.
"""

from __future__ import annotations

import ast
from typing import Any

from tfteach.lib.autograph.options import Feature
from tfteach.lib.autograph.syntax.context import Context
from tfteach.lib.autograph.syntax.template import expression

_EQUALITY = {ast.Eq: "ag__.eq", ast.NotEq: "ag__.not_eq"}


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of a function.

    Args:
      context: of the function, or of that around it.
    """

    def __init__(self, context: Context) -> None:
        self._compares = context.uses(Feature.EQUALITY_OPERATORS)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`a and b and c`, whose operands are evaluated as far as needed."""
        self.generic_visit(node)
        if any(map(_assigns, node.values)):
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        *others, right = node.values
        for left in reversed(others):
            right = _lazy(operator, left, right)
        return ast.copy_location(right, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """`not a`."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        made = expression("ag__.not_(operand)", operand=node.operand)
        return ast.copy_location(made, node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """`a if test else b`."""
        self.generic_visit(node)
        if _assigns(node.body) or _assigns(node.orelse):
            return node
        made = expression(
            "ag__.if_stmt(test, lambda: body, lambda: orelse)",
            test=node.test,
            body=node.body,
            orelse=node.orelse,
        )
        return ast.copy_location(made, node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`a == b`, and `a == b == c` as `a == b and b == c`."""
        self.generic_visit(node)
        operands = [node.left, *node.comparators]
        if not self._compares or any(map(_assigns, operands)):
            return node
        found: ast.expr | None = None
        for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
            name = _EQUALITY.get(type(op))
            if name is None:
                pair: ast.expr = ast.Compare(left, [op], [right])
            else:
                pair = expression(f"{name}(left, right)", left=left, right=right)
            found = pair if found is None else _lazy("and_", found, pair)
        assert found is not None
        return ast.copy_location(found, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node  # converted already

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node


def _lazy(operator: str, left: ast.expr, right: ast.expr) -> ast.expr:
    return expression(
        f"ag__.{operator}(lambda: left, lambda: right)", left=left, right=right
    )


def _assigns(node: ast.expr) -> bool:
    """Whether an expression assigns by `:=`, which a lambda would keep to itself."""
    return any(isinstance(inner, ast.NamedExpr | ast.Await) for inner in ast.walk(node))
