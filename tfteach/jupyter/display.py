"""What a cell shows: the live view, and the static picture that outlives the kernel.

They are two outputs: a saved widget without its kernel is an error message in
JupyterLab, whatever else its output contains. While the live view is mounted, the
picture is hidden (see STYLE in mime_bundle.py).
"""

from __future__ import annotations

import linecache
import sys
import traceback
from typing import Any, Protocol

from tfteach.explain.graphs.graph_rows import plain_source
from tfteach.framework.graph import SourceLine


class View(Protocol):
    """A widget with a static picture."""

    def live_bundle(self) -> dict[str, Any]: ...

    def static_bundle(self) -> dict[str, str]: ...


def show(view: View) -> None:
    """Display the live view and its static picture."""
    show_live(view)
    show_still(view)


def show_live(view: View) -> None:
    publish(view.live_bundle())


def show_still(view: View) -> None:
    publish(view.static_bundle())


def publish(bundle: dict[str, Any]) -> None:
    from IPython.display import display

    display(bundle, raw=True)


def where(source: SourceLine) -> tuple[str, int, str, str]:
    """A source line in the terms of a notebook: "In [3]", 2, function, text."""
    file, line, function, text = plain_source(source)
    cell = cell_number(source.file)
    return (file if cell is None else f"In [{cell}]"), line, function, text


def place(source: SourceLine) -> str:
    """A line in the terms of a notebook: "In [3] line 4"."""
    file, line, _, _ = where(source)
    return f"{file} line {line}" if file else f"line {line}"


def where_stopped(error: BaseException) -> str:
    """The line of a cell at which an exception ended it: "In [3] line 2: y = ..."."""
    places = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    if isinstance(error, SyntaxError) and error.filename is not None:
        places.append((error.filename, error.lineno or 1))
    cells = [(file, line) for file, line in places if cell_number(file) is not None]
    if not cells:
        return ""
    file, line = cells[-1]
    text = linecache.getline(file, line).strip()
    return f"In [{cell_number(file)}] line {line}" + (f": {text}" if text else "")


def cell_number(file: str) -> int | None:
    """The number of the cell behind a pseudo file name; None for real files."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    names = getattr(getattr(shell, "compile", None), "_filename_map", None)
    return None if names is None else names.get(file)
