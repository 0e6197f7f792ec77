"""A method's call in the user's program, read from the program's source.

A generator does its work at the line that asks for its first element, which may stand
far from the call; here the call is found.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tfteach.framework.graph import SourceLine

__all__ = ["UserCall"]

MOST_TEXT = 60  # characters of a call in a sentence

_ADDS_A_DIMENSION = ("expand_dims", "reshape", "atleast_2d")  # to an example
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_LOOPS = ast.For | ast.While


class UserCall(NamedTuple):
    """A method's call as the user wrote it.

    Attributes:
      source: its line.
      text: the call, shortened.
      receiver: what the method is called of, such as "estimator".
      first: its first argument, or that by the keyword `input_fn`; "" without one.
      rest: the other arguments, each with its keyword if it has one.
      function: the function around it; "" at the top level.
      is_in_loop: whether a loop of that function repeats it.
      loop: the `for` around it as (target, iterable); None without one.
      given: name of a feature -> the expression that the program gives it.
    """

    source: SourceLine
    text: str
    receiver: str
    first: str
    rest: tuple[str, ...]
    function: str
    is_in_loop: bool
    loop: tuple[str, str] | None
    given: dict[str, str]


def find_call(
    source: SourceLine, method: str, features: Sequence[str] = ()
) -> UserCall | None:
    """The call of a method that a line of the same function waits for.

    Args:
      source: the line that the program was at.
      method: the method's name.
      features: the names of features, whose expressions are looked for.

    Returns:
      The call on that line; or the last one before it in the same function; or the one
      whose result another function assigned to what the line reads, such as
      `self.predictions`; None if there is none.
    """
    tree = tree_of(source.file)
    if tree is None:
        return None
    path = _path_to(tree, source.line)
    scope = [node for node in path if isinstance(node, FUNCTIONS | ast.Module)][-1]
    line = source.line
    calls = [call for call in _calls(scope, method) if call.lineno <= line]
    on_line = [call for call in calls if line <= (call.end_lineno or call.lineno)]
    if on_line:
        return _described(tree, on_line[0], source, features)
    if not calls:
        calls = [
            call
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and any(ast.unparse(target) in source.text for target in node.targets)
            for call in _calls(node.value, method)
        ]
    if not calls:
        return None
    last = max(calls, key=lambda call: call.lineno)
    return _described(tree, last, source, features)


def _calls(node: ast.AST, method: str) -> list[ast.Call]:
    return [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and inner.func.attr == method
    ]


def is_in_loop(source: SourceLine) -> bool:
    """Whether a line is repeated by a loop of its own function."""
    tree = tree_of(source.file)
    if tree is None:
        return False
    blocks = [n for n in _path_to(tree, source.line) if isinstance(n, _BLOCKS)]
    return bool(blocks) and isinstance(blocks[-1], _LOOPS)


_BLOCKS = _LOOPS | FUNCTIONS


def tree_of(file: str) -> ast.Module | None:
    return _parsed("".join(linecache.getlines(file)))


@functools.lru_cache(maxsize=32)  # a view polls four times a second
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:  # a cell of a magic that is not Python
        return None


def _path_to(tree: ast.Module, line: int) -> list[ast.AST]:
    """The module, and the loops and functions whose bodies contain a line."""
    path: list[ast.AST] = [tree]
    for node in ast.walk(tree):  # outer nodes come before those inside
        if isinstance(node, _BLOCKS):
            last = node.end_lineno or node.lineno
            if node.body[0].lineno <= line <= last:
                path.append(node)
    return path


def _described(
    tree: ast.Module, call: ast.Call, source: SourceLine, features: Sequence[str]
) -> UserCall:
    assert isinstance(call.func, ast.Attribute)  # `find_call` looks for these
    path = _path_to(tree, call.lineno)
    functions = [node for node in path if isinstance(node, FUNCTIONS)]
    blocks = [node for node in path if isinstance(node, _BLOCKS)]
    loop = blocks[-1] if blocks and isinstance(blocks[-1], _LOOPS) else None
    text = ast.unparse(call)
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    first = call.args[0] if call.args else named.get("input_fn")
    rest = [ast.unparse(node) for node in call.args[1:]]
    rest += [
        ast.unparse(keyword) for keyword in call.keywords if keyword.value is not first
    ]
    scope = functions[-1] if functions else tree
    return UserCall(
        SourceLine(source.file, call.lineno, source.function),
        text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 4]}...)",
        ast.unparse(call.func.value),
        "" if first is None else ast.unparse(first),
        tuple(rest),
        functions[-1].name if functions else "",
        loop is not None,
        (ast.unparse(loop.target), ast.unparse(loop.iter))
        if isinstance(loop, ast.For)
        else None,
        _given(scope, tree, first, features),
    )


def _given(
    scope: ast.AST, tree: ast.Module, first: ast.expr | None, features: Sequence[str]
) -> dict[str, str]:
    """The expressions of features in the dict that an input function is made of."""
    left: list[ast.AST] = [] if first is None or not features else [first]
    seen: set[str] = set()
    while left:
        node = left.pop(0)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Dict):
                found = {
                    key.value: ast.unparse(_example(value))
                    for key, value in zip(inner.keys, inner.values, strict=True)
                    if isinstance(key, ast.Constant) and isinstance(key.value, str)
                }
                if set(found) == set(features):
                    return found
            elif isinstance(inner, ast.Name) and inner.id not in seen:
                seen.add(inner.id)
                left += [*_definitions(scope, inner.id), *_definitions(tree, inner.id)]
    return {}


def _definitions(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """The binding of a name in a scope: the last function or value of it first."""
    for node in reversed(list(ast.walk(scope))):
        if isinstance(node, ast.Assign):
            if name in [t.id for t in node.targets if isinstance(t, ast.Name)]:
                yield node.value
        elif isinstance(node, FUNCTIONS) and node.name == name:
            yield node


def _example(value: ast.expr) -> ast.expr:
    """The only example of a batch, as the user wrote it.

    That is `row` in `row[None]`, and `rows[i]` in `rows[i : i + 1]`.
    """
    inner: ast.expr | None = None
    if isinstance(value, ast.List) and len(value.elts) == 1:
        inner = value.elts[0]
    elif isinstance(value, ast.Subscript):
        index = value.slice
        is_new = isinstance(index, ast.Attribute) and index.attr == "newaxis"
        number = _only_index(index)
        if is_new or (isinstance(index, ast.Constant) and index.value is None):
            inner = value.value
        elif number is not None:
            return ast.Subscript(value.value, number, ast.Load())
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        inner = value.args[0] if value.args else None
        wraps = value.func.attr in _ADDS_A_DIMENSION
        is_array = value.func.attr in ("array", "asarray")
        is_list = isinstance(inner, ast.List) and len(inner.elts) == 1
        if not (wraps or (is_array and is_list)):
            inner = None
    return value if inner is None else _example(inner)


def _only_index(index: ast.expr) -> ast.expr | None:
    """The only index of a slice of length one; None for any other."""
    if not isinstance(index, ast.Slice) or index.step is not None or not index.upper:
        return None
    lower: ast.expr = ast.Constant(0) if index.lower is None else index.lower
    first, after = ast.unparse(lower), ast.unparse(index.upper)
    one_more = [f"{first} + 1", f"1 + {first}"]
    if first.isdecimal():
        one_more.append(str(int(first) + 1))
    return lower if after in one_more else None
