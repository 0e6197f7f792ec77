"""Graphs in a notebook.

Enters: graphs, and what tfteach.explain says of them. Leaves: widgets and pictures.
Read picture.py (still pictures), growing.py (a graph's growth on its way to the page),
widgets/graph.py (the live view), display.py (what a cell shows), magics.py.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfteach.jupyter.widgets.graph import GraphView

__all__ = ["GraphView", "load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Register `%graph` and `%%graph`; loading again changes nothing."""
    from tfteach.jupyter.magics import GraphMagics

    shell.register_magics(GraphMagics)


def __getattr__(name: str) -> Any:
    # The magics and pictures must not wait for the widgets' imports.
    if name == "GraphView":
        from tfteach.jupyter.widgets.graph import GraphView

        return GraphView
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
