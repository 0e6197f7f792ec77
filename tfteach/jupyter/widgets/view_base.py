"""How a cell displays the views."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import anywidget

from tfteach.framework.defaults import get_default_graph, get_default_session
from tfteach.framework.graph import Graph
from tfteach.jupyter import display

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


class Shown:
    """A widget with a static picture: a cell displays both (see `display.show`)."""

    model_id: str

    def static_bundle(self) -> dict[str, str]:
        """The static picture as a dict from MIME types to data."""
        raise NotImplementedError

    def to_text(self) -> str:
        """The contents as text; `print(view)` and `--text` print it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_text()

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
