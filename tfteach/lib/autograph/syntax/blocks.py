"""The blocks of compound statements."""

from __future__ import annotations

import ast
from collections.abc import Callable

Block = list[ast.stmt]


def in_blocks(node: ast.stmt, change: Callable[[Block], Block]) -> None:
    """Replace each block of an `if`, loop, `try`, `with` or `match` by its change.

    Functions and classes have none: their statements belong to them.
    """
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return
        case ast.Match(cases=cases):
            for case in cases:
                case.body = change(case.body)
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            for handler in handlers:
                handler.body = change(handler.body)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if block:
            setattr(node, name, change(block))
