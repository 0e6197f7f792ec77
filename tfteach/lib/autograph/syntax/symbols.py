"""Symbols: variables, and the attributes and elements that code assigns to by name.

Source: python/autograph/pyct/qual_names.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple


class Symbol(NamedTuple):
    """What can be assigned to: `x`, or a composite such as `self.x` or `a[i]`.

    Attributes:
      text: as it is written.
      variables: the variables that it depends on.
    """

    text: str
    variables: frozenset[str]


def symbol_of(node: ast.expr) -> Symbol | None:
    """The symbol that an expression names, or None."""
    match node:
        case ast.Name(name):
            return Symbol(name, frozenset([name]))
        case ast.Attribute(value, name):
            owner = symbol_of(value)
            return owner and Symbol(f"{owner.text}.{name}", owner.variables)
        case ast.Subscript(value, ast.Constant(int() | str() as key)):
            owner = symbol_of(value)
            return owner and Symbol(f"{owner.text}[{key!r}]", owner.variables)
        case ast.Subscript(value, index):
            owner, key_symbol = symbol_of(value), symbol_of(index)
            if owner is None or key_symbol is None:
                return None
            return Symbol(
                f"{owner.text}[{key_symbol.text}]",
                owner.variables | key_symbol.variables,
            )
        case _:
            return None


class Namer:
    """New names, which a function does not use.

    Args:
      used: the names that it uses.

    Attributes:
      made: the new names.
    """

    def __init__(self, used: Iterable[str]) -> None:
        self._used = set(used)
        self.made: set[str] = set()

    def new(self, root: str) -> str:
        """`root`, with a number if that is used."""
        name, number = root, 0
        while name in self._used:
            number += 1
            name = f"{root}_{number}"
        self._used.add(name)
        self.made.add(name)
        return name


def names_in(node: ast.AST) -> set[str]:
    """All identifiers in a piece of code."""
    found = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(name) | ast.arg(name) | ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                found.add(name)
            case ast.ClassDef(name) | ast.MatchAs(name=str(name)):
                found.add(name)
            case ast.alias(name, asname):
                found.add(asname or name.partition(".")[0])
            case ast.Global(names) | ast.Nonlocal(names):
                found.update(names)
    return found
