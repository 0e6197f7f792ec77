"""Which names a piece of code reads and assigns.

Source: python/autograph/pyct/static_analysis/activity.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from tfteach.lib.autograph.syntax.symbols import Symbol, symbol_of

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Activity(ast.NodeVisitor):
    """The names that some code of a function uses.

    A nested function reads its free variables where it is defined.

    Attributes:
      reads: the variables that it reads.
      writes: the variables that it assigns or deletes.
      composites: the composite symbols that it assigns, by their text.
      declared: the variables that it declares as global or nonlocal.
    """

    def __init__(self, nodes: ast.AST | Iterable[ast.AST | None] | None) -> None:
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.composites: dict[str, Symbol] = {}
        self.declared: set[str] = set()
        for node in [nodes] if isinstance(nodes, ast.AST) else nodes or ():
            if node is not None:
                self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Store):  # `del` reads, too
            self.reads.add(node.id)
        if not isinstance(node.ctx, ast.Load):
            self.writes.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._visit_composite(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._visit_composite(node)

    def _visit_composite(self, node: ast.Attribute | ast.Subscript) -> None:
        self.generic_visit(node)
        symbol = symbol_of(node)
        if symbol is not None and isinstance(node.ctx, ast.Store):
            self.composites[symbol.text] = symbol

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.reads.add(node.target.id)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.declared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.writes.add(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._visit_binding(node, node.name)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self._visit_binding(node, node.name)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._visit_binding(node, node.rest)

    def _visit_binding(self, node: ast.AST, name: str | None) -> None:
        if name is not None:
            self.writes.add(name)
        self.generic_visit(node)

    # ---- scopes in it

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.writes.add(node.name)
        self._visit_all(node.decorator_list)
        self._visit_function(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_function(node)

    def _visit_function(self, node: Function) -> None:
        self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        self.reads |= free_variables(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.writes.add(node.name)
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        inner = Activity(node.body)
        self.reads |= inner.reads - inner.writes

    def _visit_comprehension(self, node: Any) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        inner = Activity([first.target, *first.ifs, *others, *_results(node)])
        targets = Activity([first.target, *(g.target for g in others)]).writes
        self.reads |= inner.reads - targets
        self.writes |= inner.writes - targets  # by `:=`

    visit_ListComp = visit_SetComp = visit_DictComp = _visit_comprehension
    visit_GeneratorExp = _visit_comprehension

    def _visit_all(self, nodes: Sequence[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)


def _results(node: Any) -> list[ast.expr]:
    if isinstance(node, ast.DictComp):
        return [node.key, node.value]
    return [node.elt]


def parameters(node: Function) -> list[str]:
    """The names of a function's parameters."""
    given = node.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs]
    return [arg.arg for arg in (*every, given.kwarg) if arg is not None]


def free_variables(node: Function) -> set[str]:
    """The variables that a function reads or assigns and that are not its own."""
    inner = Activity([node.body] if isinstance(node, ast.Lambda) else node.body)
    own = (inner.writes - inner.declared) | set(parameters(node))
    return (inner.reads | inner.writes) - own
