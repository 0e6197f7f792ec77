"""What the views have in common: how a cell shows them."""

from __future__ import annotations

from typing import Any

import anywidget

from tfteach.jupyter import display


class Shown:
    """For a widget with a still picture: a cell shows both, as `display.show` does."""

    model_id: str

    def static_bundle(self) -> dict[str, str]:
        """The still picture and the text by MIME type."""
        raise NotImplementedError

    def live_bundle(self) -> dict[str, Any]:
        """The live view's MIME type alone."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"application/vnd.jupyter.widget-view+json": view}

    def _ipython_display_(self, **_: Any) -> None:
        display.show(self)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return {**self.static_bundle(), **self.live_bundle()}, {}


class PlainView(Shown, anywidget.AnyWidget):
    """A view that draws no graph, with a text and a still picture of its own."""

    def to_text(self) -> str:
        """What the view shows, in words."""
        raise NotImplementedError
