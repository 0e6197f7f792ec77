"""The user's code around some lines, to be shown beside what these lines did."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from typing import NamedTuple

from tfteach.explain.graphs.user_calls import tree_of

__all__ = ["CodeBlock"]

MOST_WHOLE = 100  # lines of a file that is shown as a whole, such as a cell
MOST_LINES = 400  # of all blocks
NEAR = 2  # lines between two parts that are shown as one


class CodeBlock(NamedTuple):
    """Consecutive lines of the user's code.

    Attributes:
      file: the file, or the pseudo file of a cell.
      first: the number of the first line.
      lines: the lines.
    """

    file: str
    first: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1


def blocks_around(lines: Iterable[tuple[str, int]]) -> list[CodeBlock]:
    """The code around some lines: short files as a whole, of others some statements.

    Args:
      lines: (file, number of a line), in any order.

    Returns:
      A list of `CodeBlock`, in the order of the files.
    """
    used: dict[str, set[int]] = {}
    for file, number in lines:
        used.setdefault(file, set()).add(number)
    found: list[CodeBlock] = []
    left = MOST_LINES
    for file, numbers in used.items():
        text = [line.rstrip("\n") for line in linecache.getlines(file)]
        for first, last in _parts(file, text, numbers):
            shown = tuple(text[first - 1 : last][: max(0, left)])
            if any(line.strip() for line in shown):
                found.append(CodeBlock(file, first, shown))
                left -= len(shown)
    return found


def _parts(file: str, text: list[str], numbers: set[int]) -> list[tuple[int, int]]:
    """The first and last lines of the parts of a file that are shown."""
    if len(text) <= MOST_WHOLE:
        return [_trimmed(text, 1, len(text))]
    parts: list[tuple[int, int]] = []
    for first, last in sorted({_statement(file, number) for number in numbers}):
        if parts and first <= parts[-1][1] + NEAR + 1:
            parts[-1] = parts[-1][0], max(last, parts[-1][1])
        else:
            parts.append((first, last))
    return [_trimmed(text, first, min(last, len(text))) for first, last in parts]


def _trimmed(text: list[str], first: int, last: int) -> tuple[int, int]:
    """Without blank lines at the ends, and the comment in place of a cell's magic."""
    while first <= last and (
        not text[first - 1].strip() or text[first - 1].startswith("# %%")
    ):
        first += 1
    while last >= first and not text[last - 1].strip():
        last -= 1
    return first, last


def _statement(file: str, number: int) -> tuple[int, int]:
    """The outermost statement around a line; of a class the one inside it."""
    tree = tree_of(file)
    body = [] if tree is None else tree.body
    found = number, number
    while True:
        node = next((n for n in body if _first(n) <= number <= _last(n)), None)
        if node is None:
            return found
        found = _first(node), _last(node)
        if not isinstance(node, ast.ClassDef):
            return found
        body = node.body


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", ())
    return int(min([node.lineno, *(each.lineno for each in decorators)]))


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
