"""The user's code as JSON for the page, with what each line did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfteach.explain.graphs.code_blocks import CodeBlock, blocks_around
from tfteach.framework.graph import SourceLine
from tfteach.jupyter import display

Note = list[str]  # [kind, text, explanation]


def code_rows(
    lines: Iterable[SourceLine], notes_of: Callable[[str, int], list[Note]]
) -> list[dict[str, Any]]:
    """The blocks of code around some lines.

    Args:
      lines: the lines.
      notes_of: (file, number of a line) -> what to write beside it.

    Returns:
      For each block its place as rows of ops have it, its first line and its lines,
      each with its notes.
    """
    blocks = blocks_around((line.file, line.line) for line in lines)
    return [_row(block, notes_of) for block in blocks]


def _row(
    block: CodeBlock, notes_of: Callable[[str, int], list[Note]]
) -> dict[str, Any]:
    line = SourceLine(block.file, block.first, "")
    return {
        "file": display.where(line)[0],
        "first": block.first,
        "lines": [
            [text, notes_of(block.file, block.first + i)]
            for i, text in enumerate(block.lines)
        ],
    }
