"""Lists, their methods and indexing as calls of operators, and `assert`.

`l.append(x)` becomes `l = ag__.list_append(l, x)`: a tensor list is not modified.

Source: python/autograph/converters/{lists,slices,asserts}.py.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from tfteach.lib.autograph.directives import set_element_type
from tfteach.lib.autograph.syntax.blocks import in_blocks
from tfteach.lib.autograph.syntax.context import Context
from tfteach.lib.autograph.syntax.symbols import symbol_of
from tfteach.lib.autograph.syntax.template import (
    expression,
    placed,
    statements,
    with_context,
)


class ElementType(NamedTuple):
    """What `set_element_type` says of a list."""

    dtype: ast.expr
    shape: ast.expr


def with_asserts(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements whose `assert`s are calls of `ag__.assert_stmt`."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Assert):
            made = statements(
                "ag__.assert_stmt(test, lambda: message)",
                test=node.test,
                message=node.msg or ast.Constant("Assertion error"),
            )
            found += placed(made, node)
        else:
            in_blocks(node, with_asserts)
            found.append(node)
    return found


class Lists(ast.NodeTransformer):
    """Rewrites the lists and the indexing in a function.

    Args:
      context: of the function, or of that around it.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._types: dict[str, ElementType] = {}
        self._pops: list[ast.stmt] = []  # they precede the statement at hand

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements."""
        found: list[ast.stmt] = []
        for node in body:
            if self._is_directive(node):
                continue
            outer, self._pops = self._pops, []
            made = self._statement(node)
            found += placed([*self._pops, *made], node)
            self._pops = outer
        return found

    def _is_directive(self, node: ast.stmt) -> bool:
        """Whether a statement calls `set_element_type`, which is noted."""
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            return False
        call = node.value
        if not self._context.names_function(call.func, set_element_type):
            return False
        given = dict(zip(("entity", "dtype", "shape"), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        symbol = symbol_of(given["entity"])
        if symbol is None:
            raise ValueError("set_element_type: the entity must be a variable")
        nothing = ast.Constant(None)
        new = ElementType(given.get("dtype", nothing), given.get("shape", nothing))
        old = self._types.setdefault(symbol.text, new)
        if [ast.dump(n) for n in old] != [ast.dump(n) for n in new]:
            raise ValueError(
                f"{symbol.text} has ambiguous annotations for set_element_type: "
                f"{', '.join(map(ast.unparse, old))}; "
                f"{', '.join(map(ast.unparse, new))}"
            )
        return True

    def _type_of(self, node: ast.expr) -> ElementType:
        symbol = symbol_of(node)
        nothing = ElementType(ast.Constant(None), ast.Constant(None))
        return nothing if symbol is None else self._types.get(symbol.text, nothing)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Expr(ast.Call(ast.Attribute(target, "append"), [item], [])):
                return statements(
                    "target = ag__.list_append(target, item)",
                    target=target,
                    item=self.visit(item),
                )
            case ast.Assign([ast.Subscript(target, index)], value) if _is_item(index):
                return statements(
                    "target = ag__.set_item(target, index, value)",
                    target=target,
                    index=self.visit(index),
                    value=self.visit(value),
                )
        in_blocks(node, self.block)
        for name, field in ast.iter_fields(node):
            if isinstance(field, ast.expr):
                setattr(node, name, self.visit(field))
            elif isinstance(field, list):
                items = [self.visit(i) if isinstance(i, ast.expr) else i for i in field]
                setattr(node, name, items)
        return [node]

    def visit_List(self, node: ast.List) -> Any:
        """A list literal."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(expression("ag__.new_list(items)", items=node), node)

    def visit_Call(self, node: ast.Call) -> Any:
        """`l.pop()` and `stack(l)`."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Attribute(target, "pop"), [] | [_], []):
                return ast.copy_location(self._popped(target, node.args), node)
            case ast.Call(ast.Attribute(_, "stack"), [target], keywords):
                if keywords and keywords[0].arg != "strict":
                    return node
                made = expression(
                    "ag__.list_stack(target, opts=ag__.ListStackOpts("
                    "element_dtype=dtype, original_call=original))",
                    target=target,
                    dtype=self._type_of(target).dtype,
                    original=node.func,
                )
                return ast.copy_location(made, node)
        return node

    def _popped(self, target: ast.expr, index: list[ast.expr]) -> ast.expr:
        symbol = symbol_of(target)
        root = symbol.text if symbol and symbol.text.isidentifier() else "list_"
        name = self._context.namer.new(root)
        kind = self._type_of(target)
        self._pops += statements(
            "target, popped = ag__.list_pop(target, index, opts=ag__.ListPopOpts("
            "element_dtype=dtype, element_shape=shape))",
            target=target,
            popped=name,
            index=index[0] if index else ast.Constant(None),
            dtype=kind.dtype,
            shape=kind.shape,
        )
        return ast.Name(name, ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """`x[i]`."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not _is_item(node.slice):
            return node
        made = expression(
            "ag__.get_item(target, index, opts=ag__.GetItemOpts(element_dtype=dtype))",
            target=with_context(node.value, ast.Load()),
            index=node.slice,
            dtype=self._type_of(node.value).dtype,
        )
        return ast.copy_location(made, node)


def _is_item(index: ast.expr) -> bool:
    """Whether an index selects one item, and is no slice."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return not any(isinstance(part, ast.Slice) for part in parts)
