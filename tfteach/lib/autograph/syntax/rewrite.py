"""The passes that convert a function, in their order."""

from __future__ import annotations

import ast

from tfteach.lib.autograph.options import Feature
from tfteach.lib.autograph.syntax.activity import Activity
from tfteach.lib.autograph.syntax.blocks import Block, in_blocks
from tfteach.lib.autograph.syntax.calls import Calls
from tfteach.lib.autograph.syntax.context import Context
from tfteach.lib.autograph.syntax.control_flow import ControlFlow
from tfteach.lib.autograph.syntax.expressions import Expressions
from tfteach.lib.autograph.syntax.jumps import Jumps
from tfteach.lib.autograph.syntax.lists import Lists, with_asserts
from tfteach.lib.autograph.syntax.returns import Returns, needs_rewriting
from tfteach.lib.autograph.syntax.template import expression, placed, statements


def rewrite_function(node: ast.FunctionDef, context: Context) -> None:
    """Convert a function, and those in it.

    Args:
      node: the function, which is changed.
      context: of the function, or of that around it.
    """
    has_docstring = ast.get_docstring(node, clean=False) is not None
    start, body = node.body[:has_docstring], node.body[has_docstring:]
    body, declarations = _declarations_first(body)
    _rewrite_inner(body, context)
    scope = context.new_scope(node.name)
    if scope is not None and context.uses(Feature.AUTO_CONTROL_DEPS):
        body = _with_marked_results(body, scope)
    if context.uses(Feature.ASSERT_STATEMENTS):
        body = with_asserts(body)
    jumps = Jumps(context.namer)
    body = jumps.block(body)
    flags = frozenset[str]()
    if needs_rewriting(body):
        returns = Returns(context.namer, jumps.tests)
        body = returns.function_body(body)
        flags = frozenset([returns.do_return])
    if context.uses(Feature.LISTS):
        body = Lists(context).block(body)
    for change in (Calls(context, node), Expressions(context)):
        body = [change.visit(statement) for statement in body]
    node.body = body
    declared = frozenset(Activity(declarations).declared)
    flow = ControlFlow(node, context.namer, declared, flags, jumps.tests)
    body = flow.block(body)
    node.body = (
        start + declarations + (body if scope is None else _in(scope, node, body))
    )


def rewrite_lambda(node: ast.Lambda, context: Context) -> None:
    """Convert a lambda function, which is changed."""
    body = Calls(context, node).visit(node.body)
    body = Expressions(context).visit(body)
    scope = context.new_scope("lambda")
    if scope is not None:
        body = expression(
            f"ag__.with_function_scope(lambda {scope}: body, {scope!r}, ag__.options)",
            body=body,
        )
        ast.copy_location(body, node.body)
    node.body = body


def _declarations_first(body: Block) -> tuple[Block, Block]:
    """A function's other statements, and its `global` and `nonlocal` statements.

    These hold for the whole function, also if they stand in a branch.
    """
    found: Block = []

    def without(block: Block) -> Block:
        left: Block = []
        for node in block:
            if isinstance(node, ast.Global | ast.Nonlocal):
                found.append(node)
            else:
                in_blocks(node, without)
                left.append(node)
        return left or [ast.copy_location(ast.Pass(), block[0])]

    return (without(body) if body else []), found


def _rewrite_inner(body: Block, context: Context) -> None:
    """Convert the functions defined in some statements, but no generators."""

    def visit(block: Block) -> Block:
        for node in block:
            if isinstance(node, ast.FunctionDef) and not is_generator(node):
                rewrite_function(node, context)
            in_blocks(node, visit)
        return block

    visit(body)


def is_generator(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function has a `yield` of its own."""
    waiting: list[ast.AST] = (
        [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    )
    while waiting:
        match inner := waiting.pop():
            case ast.Yield() | ast.YieldFrom():
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case _:
                waiting += ast.iter_child_nodes(inner)
    return False


def _with_marked_results(body: Block, scope: str) -> Block:
    """Statements in which results wait for the effects of their function."""

    def marked(block: Block) -> Block:
        for node in block:
            if isinstance(node, ast.Return) and node.value is not None:
                call = f"{scope}.mark_return_value(value)"
                node.value = expression(call, value=node.value)
            in_blocks(node, marked)
        return block

    return marked(body)


def _in(scope: str, node: ast.FunctionDef, body: Block) -> Block:
    """The body of a function in a `FunctionScope`."""
    call = f"ag__.FunctionScope({node.name!r}, {scope!r}, ag__.options)"
    (block,) = placed(statements(f"with {call} as {scope}: pass"), node)
    assert isinstance(block, ast.With)
    block.body = body or block.body
    return [block]
