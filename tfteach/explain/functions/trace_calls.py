"""The user's code about a traced function, rewritten: how its call would be better."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.explain.graphs.user_calls import tree_of
from tfteach.framework.graph import SourceLine

_MAKERS = ("function", "defun", "defun_with_attributes")


def with_argument(
    line: SourceLine,
    callee: Sequence[str],
    parameters: Sequence[str],
    argument: str,
) -> str:
    """A statement in which a call passes an argument as a Tensor.

    Args:
      line: the line of the call.
      callee: names by which the function may be called.
      parameters: those of the function.
      argument: the name of the argument, a parameter.

    Returns:
      Python code; "" if the call or the argument is not found.
    """
    return _rewritten(line, callee, parameters, argument, "tf.constant({})".format)


def with_cast(
    line: SourceLine,
    callee: Sequence[str],
    parameters: Sequence[str],
    argument: str,
    dtype: str,
) -> str:
    """A statement in which a call converts an argument; see `with_argument`.

    Args:
      line, callee, parameters, argument: as for `with_argument`.
      dtype: the name of the type.
    """

    def cast(text: str) -> str:
        return f"tf.cast({text}, tf.{dtype})"

    return _rewritten(line, callee, parameters, argument, cast)


def _rewritten(
    line: SourceLine,
    callee: Sequence[str],
    parameters: Sequence[str],
    argument: str,
    change: Callable[[str], str],
) -> str:
    tree = tree_of(line.file)
    if tree is None or argument not in parameters:
        return ""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.lineno <= line.line <= (node.end_lineno or node.lineno)
        and _called(node.func) in callee
    ]
    if not calls:
        return ""
    call, position = calls[0], list(parameters).index(argument)
    value: ast.expr | None = None
    if position < len(call.args) and not any(
        isinstance(node, ast.Starred) for node in call.args
    ):
        value = call.args[position]
    for keyword in call.keywords:
        if keyword.arg == argument:
            value = keyword.value
    segment = None if value is None else _segment(line.file, call, value)
    if segment is None:
        return ""
    before, text, after = segment
    return f"{before}{change(text)}{after}"


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _segment(file: str, call: ast.Call, value: ast.expr) -> tuple[str, str, str] | None:
    """The user's text of a call: before a part of it, the part, and after it."""
    if call.end_lineno != call.lineno or call.end_col_offset is None:
        text, inner = ast.unparse(call), ast.unparse(value)
        before, found, after = text.partition(inner)
        return (before, found, after) if found else None
    text = linecache.getline(file, call.lineno).rstrip("\n")
    raw = text.encode()
    start, end = value.col_offset, value.end_col_offset
    parts = raw[:start], raw[start:end], raw[end:]
    before, inner, after = (part.decode() for part in parts)
    return before.lstrip(), inner, after


def definition_text(function: Any, options: str) -> str:
    """The head of a function's definition, decorated with options of `tf.function`."""
    code = getattr(function, "__code__", None)
    if code is None:
        return f"tf.function(..., {options})"
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    for line in lines:
        head = re.match(r"\s*((?:async )?def .*)", line)
        if head is not None:
            return f"@tf.function({options})\n{head[1].rstrip()}"
        if not line.lstrip().startswith("@"):
            break
    return f"tf.function({code.co_name}, {options})"


def making_of(function: Any, name: str, line: SourceLine | None) -> str:
    """How a function is traced once, before a loop.

    Args:
      function: the Python function.
      name: its name.
      line: the line that calls it.
    """
    code = getattr(function, "__code__", None)
    tree = None if line is None else tree_of(line.file)
    first = 0 if code is None or code.co_name != "<lambda>" else code.co_firstlineno
    for node in () if tree is None else ast.walk(tree):
        if not (isinstance(node, ast.Call) and _called(node.func) in _MAKERS):
            continue
        inner = list(ast.walk(node))
        text = f"{ast.unparse(node)}  # once, before the loop"
        if first and any(
            isinstance(n, ast.Lambda) and n.lineno == first for n in inner
        ):
            return f"{name if name.isidentifier() else 'f'} = {text}"
        if name in {n.id for n in inner if isinstance(n, ast.Name)}:
            return f"fast_{name} = {text}"
    if code is None or first:
        return ""
    text = definition_text(function, "")
    return f"{text.replace('()', '', 1)}  # once, before the loop"
