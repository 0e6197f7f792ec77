"""Notebooks as programs: their code cells, with IPython's own syntax left out."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_COMMAND = re.compile(r"^(\s*)(%%?|!|\?)(.*)$")
_ASSIGNED = re.compile(r"^(\s*)[\w.,\s]+=\s*(%|!)(?!=).*$")
_HELP = re.compile(r"^\s*[\w.]+\?{1,2}\s*$")
_TIMED = re.compile(r"^(\s*)%(?:time|prun|memit)\s+(?=\S)")
_PASSED_THROUGH = ("time", "timeit", "capture", "prun")  # cells that still run
_UNIMPORTANT = ("matplotlib", "load_ext", "reload_ext", "autoreload", "config", "pylab")


class Cell(NamedTuple):
    """A code cell.

    Attributes:
      name: for messages and tracebacks.
      source: its Python code; line for line that of the notebook.
      left_out: (line, text) of what is not Python and has an effect.
    """

    name: str
    source: str
    left_out: list[tuple[int, str]]


def cells(text: str, path: str) -> tuple[list[Cell], bool]:
    """The code cells of a notebook, and whether their kernel was Python 2.

    Args:
      text: the .ipynb file's.
      path: for messages.

    Raises:
      ValueError: it is no notebook, or of another language.
    """
    try:
        notebook = json.loads(text)
        sheets = notebook.get("worksheets") or [notebook]
        found = [cell for sheet in sheets for cell in sheet["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is not a Jupyter notebook: {error or type(error)}"
        ) from None
    metadata = notebook.get("metadata", {})
    language = metadata.get("language_info", {})
    kernel = metadata.get("kernelspec", {})
    name = language.get("name") or kernel.get("language") or "python"
    if not name.lower().startswith(("python", "ipython")):
        raise ValueError(f"{path} is a notebook of {name}, not of Python")
    is_2 = str(language.get("version", "")).startswith("2")
    is_2 = is_2 or kernel.get("name") == "python2"
    code = [cell for cell in found if cell.get("cell_type") == "code"]
    return [_cell(cell, i + 1, path) for i, cell in enumerate(code)], is_2


def _cell(cell: dict[str, object], number: int, path: str) -> Cell:
    source = cell.get("source", cell.get("input", ""))
    text = "".join(source) if isinstance(source, list) else str(source)
    name = f"{path}, cell {number}"
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    left_out: list[tuple[int, str]] = []
    if lines and lines[first].startswith("%%"):
        magic = lines[first][2:].split()[0] if lines[first][2:].split() else ""
        if magic not in _PASSED_THROUGH:
            return Cell(name, "", [(first + 1, lines[first])])
        lines[first] = ""
    inside = _lines_in_strings(lines)
    for i, line in enumerate(lines):
        if i in inside:
            continue
        timed = _TIMED.match(line)
        if timed:
            lines[i] = timed[1] + line[timed.end() :]
            continue
        command = _COMMAND.match(line)
        if command or _ASSIGNED.match(line) or _HELP.match(line):
            indent = line[: len(line) - len(line.lstrip())]
            lines[i] = f"{indent}pass"
            words = command[3].split() if command else []
            if not (words and words[0] in _UNIMPORTANT):
                left_out.append((i + 1, line.strip()))
    return Cell(name, "\n".join(lines) + "\n", left_out)


def _lines_in_strings(lines: list[str]) -> set[int]:
    """Lines that begin within brackets or a string of several lines, roughly."""
    found: set[int] = set()
    quote, depth = "", 0
    for i, line in enumerate(lines):
        if quote or depth > 0 or (i and lines[i - 1].rstrip().endswith("\\")):
            found.add(i)
        for mark in re.findall(r'"""|\'\'\'', line):
            if not quote:
                quote = mark
            elif quote == mark:
                quote = ""
        if not quote and not _COMMAND.match(line):
            code = re.sub(r"#.*|'[^']*'|\"[^\"]*\"", "", line)
            depth += sum(code.count(c) for c in "([{") - sum(map(code.count, ")]}"))
    return found
