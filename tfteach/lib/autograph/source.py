"""The syntax tree of a function, found in the file that it comes from.

The whole file is parsed: a function's lines alone say neither which of two lambdas on
a line it is, nor in which class it stands.
Source: python/autograph/pyct/parser.py (messages).
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

Node = ast.FunctionDef | ast.Lambda


class Found(NamedTuple):
    """A function in a file.

    Attributes:
      node: its tree.
      class_name: the innermost class around it, or None.
    """

    node: Node
    class_name: str | None


def find(function: FunctionType) -> Found:
    """The syntax tree of a function.

    Raises:
      ValueError: its source is not available, or it is no function that can be
        converted.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise ValueError(f"Unable to locate the source code of {function}.")
    try:
        known = _functions_of("".join(lines))
    except SyntaxError as error:
        raise ValueError(
            f"Unable to parse the source code of {function}: {error}"
        ) from None
    found = [f for f in known.get(code.co_firstlineno, ()) if _fits(f, code)]
    if len(found) > 1:
        found = [f for f in found if _spans(f.node, code)]
    if len(found) != 1:
        raise ValueError(
            f"Unable to identify source code of function {function}. It was defined on "
            f"line {code.co_firstlineno} of {code.co_filename}, which must contain it "
            "as it was when it was loaded."
        )
    return found[0]


@functools.lru_cache(maxsize=16)
def _functions_of(source: str) -> dict[int, list[Found]]:
    """The functions in a file, by the line on which they begin."""
    found: dict[int, list[Found]] = {}
    for function in _inside(ast.parse(source), None):
        decorators = getattr(function.node, "decorator_list", [])
        first = min(n.lineno for n in (*decorators, function.node))
        found.setdefault(first, []).append(function)
    return found


def _inside(node: ast.AST, class_name: str | None) -> Iterator[Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.Lambda):
            yield Found(child, class_name)
        inner = child.name if isinstance(child, ast.ClassDef) else class_name
        yield from _inside(child, inner)


def _fits(found: Found, code: CodeType) -> bool:
    """Whether a function has the name and the parameters of a code object."""
    node, class_name = found
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = [_mangled(parameter.arg, class_name) for parameter in given]
    count = code.co_argcount + code.co_kwonlyargcount
    return name == code.co_name and names == [*code.co_varnames[:count]]


def _spans(node: Node, code: CodeType) -> bool:
    """Whether the instructions of a code object are those of a lambda's expression."""
    if not isinstance(node, ast.Lambda):
        return True
    body: Any = node.body
    start = body.lineno, body.col_offset
    end = body.end_lineno, body.end_col_offset
    places: Any = code.co_positions()
    return all(
        start <= (line, column) and (end_line, end_column) <= end
        for line, end_line, column, end_column in places
        if end_column  # the first instructions have no place
    )


def write_out_private_names(found: Found) -> None:
    """Write `self.__x` as `self._Class__x`: the rewritten function is in no class."""
    node, class_name = found
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(_, name):
                inner.attr = _mangled(name, class_name)
            case ast.Name(name):
                inner.id = _mangled(name, class_name)
            case ast.arg(name):
                inner.arg = _mangled(name, class_name)
            case ast.keyword(str(name)):
                inner.arg = _mangled(name, class_name)


def _mangled(name: str, class_name: str | None) -> str:
    """The name that a private one has outside of its class."""
    owner = "" if class_name is None else class_name.lstrip("_")
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{owner}{name}" if owner and is_private else name
