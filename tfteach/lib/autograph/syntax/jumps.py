"""`break` and `continue` as variables, on which the statements after them depend.

    for x in xs:                    break_ = False
        if found(x):                for x in xs:  # while not break_
            break         ->            continue_ = False
        look(x)                         if found(x):
                                            break_ = True
                                            continue_ = True
                                        if ag__.not_(continue_):
                                            look(x)

Source: python/autograph/converters/{break,continue}_statements.py.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from tfteach.lib.autograph.syntax.blocks import in_blocks
from tfteach.lib.autograph.syntax.symbols import Namer
from tfteach.lib.autograph.syntax.template import expression, placed, statements


class _Loop(NamedTuple):
    """A loop whose body is being rewritten.

    Attributes:
      break_, continue_: the variables; None if no statement needs them.
    """

    break_: str | None
    continue_: str | None


class Jumps:
    """Rewrites the `break`s and `continue`s of a function.

    Args:
      namer: names the variables.

    Attributes:
      tests: `for` loops -> what must hold for going on with them.
    """

    def __init__(self, namer: Namer) -> None:
        self._namer = namer
        self.tests: dict[ast.For, ast.expr] = {}

    def block(self, body: list[ast.stmt], loop: _Loop | None = None) -> list[ast.stmt]:
        """Statements without the jumps of `loop`, in which they are."""
        found: list[ast.stmt] = []
        for i, statement in enumerate(body):
            jumps = _jumps([statement])
            found += self._statement(statement, loop)
            if loop is not None and loop.continue_ is not None and jumps:
                return found + _unless(loop.continue_, self.block(body[i + 1 :], loop))
        return found

    def _statement(self, node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        match node:
            case ast.Break():
                assert loop is not None
                made = _assignment(loop.break_, True) + _assignment(
                    loop.continue_, True
                )
                return placed(made, node)
            case ast.Continue():
                assert loop is not None
                return placed(_assignment(loop.continue_, True) or [ast.Pass()], node)
            case ast.While() | ast.For():
                return self._loop(node, loop)
            case _:
                in_blocks(node, lambda body: self.block(body, loop))
                return [node]

    def _loop(self, node: ast.While | ast.For, outer: _Loop | None) -> list[ast.stmt]:
        has_break = any(isinstance(jump, ast.Break) for jump in _jumps(node.body))
        loop = _Loop(
            self._namer.new("break_") if has_break else None,
            self._namer.new("continue_") if _skips(node.body) else None,
        )
        body = self.block(node.body, loop)
        orelse, node.orelse = self.block(node.orelse, outer), []
        node.body = placed(_assignment(loop.continue_, False), node) + body
        if loop.break_ is None:
            return [node, *orelse]
        if isinstance(node, ast.While):
            node.test = expression(
                "ag__.and_(lambda: test, lambda: ag__.not_(flag))",
                test=node.test,
                flag=loop.break_,
            )
        else:
            self.tests[node] = _is_unset(loop.break_)
        before = placed(_assignment(loop.break_, False), node)
        return [*before, node, *_unless(loop.break_, orelse)]


def _assignment(flag: str | None, value: bool) -> list[ast.stmt]:
    return [] if flag is None else statements(f"{flag} = {value}")


def _is_unset(flag: str) -> ast.expr:
    return expression(f"ag__.not_({flag})")


def _unless(flag: str, body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that run if a flag is not set."""
    return placed([ast.If(_is_unset(flag), body, [])], body[0]) if body else []


def _jumps(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements in a body that leave it or begin it anew."""
    found: list[ast.stmt] = []

    def collect(block: list[ast.stmt]) -> list[ast.stmt]:
        for node in block:
            match node:
                case ast.Break() | ast.Continue():
                    found.append(node)
                case ast.While(orelse=orelse) | ast.For(orelse=orelse):
                    collect(orelse)
                case _:
                    in_blocks(node, collect)
        return block

    collect(body)
    return found


def _skips(body: list[ast.stmt]) -> bool:
    """Whether a jump in a body of a loop skips statements there."""
    for i, node in enumerate(body):
        if not _jumps([node]):
            continue
        if i + 1 < len(body):
            return True
        skipped: list[bool] = []

        def inspect(block: list[ast.stmt]) -> list[ast.stmt]:
            skipped.append(_skips(block))  # noqa: B023  called at once
            return block

        if not isinstance(node, ast.While | ast.For):
            in_blocks(node, inspect)
        return any(skipped)
    return False
