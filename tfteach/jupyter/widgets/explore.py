"""`explore`: the views of one graph in a panel with tabs."""

from __future__ import annotations

from typing import Any

import ipywidgets

from tfteach.framework.stacks import get_default_session
from tfteach.jupyter.widgets.graph import GraphView, Names
from tfteach.jupyter.widgets.placement import PlacementView
from tfteach.jupyter.widgets.plain import Shown
from tfteach.jupyter.widgets.run import RunView
from tfteach.jupyter.widgets.sessions import SessionsView
from tfteach.session.base import BaseSession


class Explorer(Shown, ipywidgets.Tab):
    """Tabs of views that share what is selected, fetched and fed.

    Attributes:
      views: by the names of their tabs.
    """

    def __init__(self, views: dict[str, Any]) -> None:
        self.views = views
        super().__init__(children=list(views.values()), titles=list(views))
        first = next(iter(views.values()))
        self._links = [
            # In the page: they hold while the kernel computes, and in each new view.
            ipywidgets.jslink((first, name), (view, name))
            for name in ("selected", "fetches", "feeds")
            for view in views.values()
            if view is not first and view.has_trait(name)
        ]

    def close(self) -> None:
        """Remove the panel and its views."""
        for part in (*self._links, *self.views.values()):
            part.close()
        super().close()

    def static_bundle(self) -> dict[str, str]:
        """The still picture of the first view, by MIME type."""
        bundle: dict[str, str] = next(iter(self.views.values())).static_bundle()
        return bundle


def explore(target: Any = None, fetches: Names = (), feeds: Names = ()) -> Explorer:
    """The views of a graph in tabs; of a session, also its devices and variables.

    What is selected, fetched or fed in one tab is so in all.

    Args:
      target: a session, a graph, a GraphDef or a tensor; without it the default
        session, or else the default graph.
      fetches, feeds: what a run would fetch and feed.

    Returns:
      An `Explorer`, which a cell shows.

    Example:
      >>> explore(sess, fetches=[train_op])
    """
    if target is None:
        target = get_default_session()
    session = target if isinstance(target, BaseSession) else None
    graph = getattr(target, "graph", target)
    views: dict[str, Any] = {
        "Graph": GraphView(graph, fetches, feeds),
        "Run": RunView(graph, fetches, feeds),
    }
    if session is not None:
        views["Placement"] = PlacementView(session, fetches, feeds)
        views["Sessions"] = SessionsView(session)
    return Explorer(views)
