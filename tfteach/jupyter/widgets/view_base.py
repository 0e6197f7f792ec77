"""How a cell displays the views."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import anywidget
import ipywidgets
import traitlets

from tfteach.framework.defaults import get_default_graph, get_default_session
from tfteach.framework.graph import Graph
from tfteach.jupyter import display
from tfteach.jupyter.cell_events import at_cell_end
from tfteach.jupyter.saved_page import Answers, Part, page_of, write_page

_tokens: WeakKeyDictionary[Graph, str] = WeakKeyDictionary()


def token_of(graph: Any) -> str:
    """The key under which a page knows a graph, so that its views share the selection.

    Returns:
      The same string for the same `tf.Graph`; "" for anything else.
    """
    if not isinstance(graph, Graph):
        return ""
    return _tokens.setdefault(graph, uuid.uuid4().hex[:12])


def token_of_run(graph: Graph | None, names: Iterable[str]) -> str:
    """The token of the graph that ran ops of these names.

    Without `graph`, that is the default graph if it has all the ops; names such as
    "_send" belong to no graph.
    """
    if graph is None:
        graph = get_default_graph()
        asked = [name for name in names if not name.startswith("_")]
        if not all(graph.find_operation(name) is not None for name in asked):
            return ""
    return token_of(graph)


def session_for(session: Any, view: str, why: str) -> Any:
    """The given session, or the default one.

    Raises:
      ValueError: there is none.
    """
    if session is None:
        session = get_default_session()
    if session is None:
        raise ValueError(
            f"No session: {why}. Pass it, {view}(sess), or use `with "
            "sess.as_default():`"
        )
    return session


class Shown(ipywidgets.Widget):
    """A widget with a static picture: a cell displays both (see `display.show`).

    The page gets its model when the view is first displayed live, never if it is only
    printed, saved or shown as a picture: JupyterLab would report that the model of a
    view closed meanwhile cannot be made.
    """

    _is_closed = False

    def open(self) -> None:
        """Called by the constructor; the model is sent later (see `model_id`)."""

    @property
    def model_id(self) -> str:
        """The key of the view's model in the page, which is made now if it is not."""
        if self.comm is None and not self._is_closed:
            super().open()
        found: str = super().model_id
        return found

    def close(self) -> None:
        """Remove the view from the page."""
        self._is_closed = True
        super().close()

    def static_bundle(self) -> dict[str, str]:
        """The static picture as a dict from MIME types to data."""
        raise NotImplementedError

    def to_text(self) -> str:
        """The contents as text; `print(view)` and `--text` print it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_text()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the view to an HTML page that works without Python and a network.

        Everything that the page itself does remains: scopes open, search, details,
        traces, stepping through what was recorded. Where a click would ask Python, the
        page has the answers recorded now, or says that it has none.

        Args:
          path: the file to write, such as "page.html"; an existing one is replaced.

        Raises:
          OSError: the file cannot be written.

        Example:
          >>> import pathlib, tempfile
          >>> loss = tf.square(tf.constant(2.0), name="loss")
          >>> page = pathlib.Path(tempfile.mkdtemp()) / "page.html"
          >>> GraphView(fetches=[loss]).save(page)
          >>> page.stat().st_size < 1_000_000
          True
        """
        parts, linked = self.saved_parts()
        write_page(path, page_of(self.page_title(), self.to_text(), parts, linked))

    def saved_parts(self) -> tuple[list[Part], tuple[str, ...]]:
        """The views of a saved page, and the traits that they share."""
        if (refresh := getattr(self, "refresh", None)) is not None:
            refresh()
        state, answers = self.saved_state(), self.recorded_answers()
        return [Part(type(self).__name__, self, state, answers)], ()

    def page_title(self) -> str:
        """The title of a saved page."""
        return repr(self)

    def saved_state(self) -> dict[str, Any]:
        """Traits of the saved view that differ from those of the live one."""
        return {}

    def recorded_answers(self) -> Answers | None:
        """What a saved page answers in place of the kernel; None if nothing asks it."""
        return None

    def live_bundle(self) -> dict[str, Any]:
        """The live view as a dict from its MIME type to its model id."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"application/vnd.jupyter.widget-view+json": view}

    def _ipython_display_(self, **_: Any) -> None:
        display.show(self)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return {**self.static_bundle(), **self.live_bundle()}, {}


class PlainView(Shown, anywidget.AnyWidget):
    """A view that is not a graph, with its own text and static picture."""


class ContentsView(PlainView):
    """A view of what a graph holds, shown again after each cell.

    Args:
      graph: a `tf.Graph` or a session; by default the default graph.
      traits: the values of further traits.
    """

    _graph = traitlets.Unicode("").tag(sync=True)
    _summary = traitlets.Unicode("").tag(sync=True)
    _lines: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)

    def __init__(self, graph: Any, **traits: Any) -> None:
        graph = get_default_graph() if graph is None else graph
        self.graph = getattr(graph, "graph", graph)
        # Created with its contents: the server may drop large messages later.
        super().__init__(_graph=token_of(self.graph), **traits, **self._found())
        at_cell_end(self.refresh)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary})"

    def refresh(self) -> None:
        """Show what the graph has now."""
        with self.hold_sync():
            for name, value in self._found().items():
                setattr(self, name, value)

    def _found(self) -> dict[str, Any]:
        """The values of the traits that show the contents."""
        raise NotImplementedError
