"""`GraphDiff`: two graphs side by side, with what was added, removed and changed."""

from __future__ import annotations

from typing import Any

import traitlets

from tfteach.explain.graphs.difference import Difference, difference
from tfteach.explain.graphs.graph_rows import rows_of_graph
from tfteach.explain.graphs.scope_tree import Box
from tfteach.framework.graph import Graph
from tfteach.jupyter import display
from tfteach.jupyter.graph_stream import packed
from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import Still
from tfteach.jupyter.widgets.graph import STATIC, GraphView, rows_with_shapes

# (fill, line) in static pictures, as in difference.css for the light theme.
ADDED = ("#e2f5ec", "#2f7d5b")
REMOVED = ("#fbe4e4", "#b03a3a")
CHANGED = ("#ffefd2", "#9a6405")
MOST_OPEN = 12  # scopes with differences; more would make the picture unreadable


class GraphDiff(GraphView):
    """Two graphs side by side, which pan, expand and select together.

    Ops are matched by name; scopes that contain a difference are open. `+` marks ops
    that only the later graph has, `−` ops that only the earlier one has, `~` ops that
    differ; their details describe the difference.

    Args:
      before: a `tf.Graph`, as it is now, or a GraphDef.
      after: a `tf.Graph`, as it is now, or a GraphDef.
      options: as for `GraphView`.

    Attributes:
      difference: the `Difference`, to `print`.

    Raises:
      TypeError: `before` or `after` is neither a Graph nor a GraphDef.

    Example:
      >>> a = tf.constant(1.0, name="a")
      >>> before = a.graph.as_graph_def()
      >>> b = tf.square(a, name="b")
      >>> view = GraphDiff(before, a.graph)
      >>> print(view.difference)
      1 op added, 0 removed, 0 changed, 1 the same
      + b (Square)
    """

    _esm = STATIC / "difference.js"
    _css = STATIC / "difference.css"

    _before: Any = traitlets.List().tag(sync=True, to_json=lambda rows, _: packed(rows))
    _changes: Any = traitlets.Dict().tag(sync=True)
    _summary = traitlets.Unicode("").tag(sync=True)

    def __init__(self, before: Any, after: Any, **options: Any) -> None:
        self.difference: Difference = difference(before, after)
        differing = self.difference.scopes()
        if "expanded" not in options and len(differing) <= MOST_OPEN:
            options["expanded"] = differing
        super().__init__(after, **options)
        # A snapshot: later additions to the graphs would not match it.
        if self._growing is not None:
            self._growing.close()
        with self.hold_sync():
            self._summary = self.difference.summary
            self._changes = {
                change.name: list(change.what) for change in self.difference.changed
            }
            self._before = (
                rows_of_graph(before, display.where)
                if isinstance(before, Graph)
                else rows_with_shapes(before)
            )

    def __repr__(self) -> str:
        return f"GraphDiff({self.difference.summary})"

    def refresh(self) -> None:
        """Do nothing: the graphs are shown as they were."""

    # ---- static picture: the later graph, and the difference as text

    def still(self) -> Still:
        still = super().still()
        changed = {change.name for change in self.difference.changed}
        added = self.difference.added

        def paint(box: Box) -> tuple[str, str, str] | None:
            names = [still.rows[i].name for i in box.members]
            new = sum(name in added for name in names)
            other = sum(name in changed for name in names)
            if new == len(names):
                return (*ADDED, "added")
            if new or other:
                words = [f"+{new}"] * (new > 0) + [f"~{other}"] * (other > 0)
                return (*CHANGED, " ".join(words) if len(names) > 1 else "changed")
            return None

        still.paint = paint
        return still

    def to_text(self) -> str:
        """The difference as text, with a line for each op."""
        return self.difference.to_text(None)

    def static_bundle(self) -> dict[str, str]:
        return bundle_with(str(self.difference), svg_of(self.still()))
