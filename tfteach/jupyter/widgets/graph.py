"""`GraphView`: a graph as nested boxes, live in the notebook."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import anywidget
import traitlets

from tfteach.explain.graphs.graph_rows import Row, rows_of_graph, rows_of_graph_def
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.jupyter import display
from tfteach.jupyter.function_rows import GrowingRowsWithFunctions
from tfteach.jupyter.graph_stream import GrowingRows, packed, packed_batch
from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_of
from tfteach.jupyter.pictures.picture_contents import Still, plural, text_of
from tfteach.jupyter.widgets.view_base import Shown, token_of

STATIC = pathlib.Path(__file__).parent.parent / "static"
Names = str | Operation | Tensor | Iterable[str | Operation | Tensor]


class NameList(traitlets.List[Any]):
    """A list of names that also accepts tensors and operations."""

    def validate(self, obj: Any, value: Any) -> Any:
        return super().validate(obj, names_of(value))


COLOUR_BY = ("structure", "device", "family", "run", "cell", "time", "memory")


class Figures(traitlets.Dict):
    """Times and bytes by op name; also accepts a RunMetadata."""

    def validate(self, obj: Any, value: Any) -> Any:
        return super().validate(obj, figures_of(value))


class GraphView(Shown, anywidget.AnyWidget):
    r"""A live view of a graph: expand scopes, search, see what a run needs.

    Ops that are added while a cell runs appear at once. Click a box for its details.
    Shift-click (or `f`) fetches, `d` feeds. Enter or a double click opens a scope. `i`
    traces the inputs of a box transitively, `o` its consumers. `c` changes the colours.
    `/` searches, with regular expressions between slashes (`/conv\d/`). All views of a
    graph on a page share the selection.

    Args:
      graph: a `tf.Graph` or a GraphDef; by default the default graph.
      fetches: a tensor, an operation, a name, or an iterable of these; ops that they do
        not need are dimmed. Names may belong to ops added later.
      feeds: the tensors, or their names, that the run would be fed.
      depth: the number of scope levels to open; variables, gradients, optimizers and
        boxes set aside stay closed.
      expanded: the names of the scopes to open ("layer1/"), overriding `depth`.
      aside: names of scopes or ops to draw apart from the main flow.
      inline: names of scopes or ops to keep in the main flow.
      height: pixels; 0 fits the graph.
      group_above: group similar children of a scope into series if it has more children
        than this; at most 600.
      labels: True to show shapes on edges.
      colour_by: "structure" (scopes with equal structure), "device" (as requested),
        "family" (kind of op), "run" (needed or pruned), "cell" (the `In [n]` that built
        the op), "time" or "memory" (both from `figures`).
      figures: the RunMetadata of a traced run, its `StepTimes`, or a dict from ops or
        names to {"time_us": 12.5, "bytes": 64}.

    Attributes:
      fetches: a list of names; may be assigned.
      feeds: a list of names; may be assigned.
      selected: the name of the selected op or scope; "" without one.
      stopped_at: the line at which an exception ended the `%%graph` cell; "" without
        one.

    Raises:
      TypeError: `graph` is neither a Graph nor a GraphDef.
      ValueError: a node of the GraphDef reads a node that does not exist.

    Example:
      >>> loss = tf.square(tf.constant(2.0), name="loss")
      >>> view = GraphView(fetches=[loss])
      >>> view.fetches
      ['loss:0']
    """

    _esm = STATIC / "graph.js"
    _css = STATIC / "graph.css"

    _growing: GrowingRows | None = None

    @property
    def _has_colours_of_its_own(self) -> bool:
        classes = type(self).__mro__
        pages = [vars(c).get("_esm") for c in classes[: classes.index(GraphView)]]
        # ipywidgets gives each instance its own class, in which _esm is a trait.
        return any(not isinstance(p, traitlets.TraitType | None) for p in pages)

    _graph = traitlets.Unicode("").tag(sync=True)
    _ops: Any = traitlets.List().tag(sync=True, to_json=lambda rows, _: packed(rows))
    _runs = traitlets.Int(0).tag(sync=True)
    _first = traitlets.Int(-1).tag(sync=True)
    _batches = traitlets.Int(0).tag(sync=True)
    fetches = NameList().tag(sync=True)
    feeds = NameList().tag(sync=True)
    expanded = traitlets.List(
        traitlets.Unicode(), default_value=None, allow_none=True
    ).tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    depth = traitlets.Int(1, min=1).tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)
    group_above = traitlets.Int(300, min=10).tag(sync=True)
    aside = traitlets.List(traitlets.Unicode()).tag(sync=True)
    inline = traitlets.List(traitlets.Unicode()).tag(sync=True)
    labels = traitlets.Bool(True).tag(sync=True)
    colour_by = traitlets.Enum(COLOUR_BY, "structure").tag(sync=True)
    figures = Figures().tag(sync=True)
    stopped_at = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        graph: Any = None,
        fetches: Names = (),
        feeds: Names = (),
        depth: int = 1,
        *,
        expanded: Iterable[str] | None = None,
        aside: Iterable[str] = (),
        inline: Iterable[str] = (),
        height: int = 0,
        group_above: int = 300,
        labels: bool = True,
        colour_by: str = "structure",
        figures: Any = None,
    ) -> None:
        self.graph = get_default_graph() if graph is None else graph
        if isinstance(self.graph, Graph):
            self._growing = GrowingRowsWithFunctions(
                self.graph, self._send_batch, display.where
            )
            rows = self._growing.rows
        elif hasattr(self.graph, "node") and hasattr(self.graph, "library"):
            rows = rows_with_shapes(self.graph)
        else:
            raise TypeError(
                "GraphView shows a tf.Graph or a GraphDef, not "
                f"{type(self.graph).__name__}. Pass the graph itself, such as "
                "session.graph or tensor.graph."
            )
        self._rows = rows
        super().__init__(
            fetches=names_of(fetches),
            feeds=[f if ":" in f else f"{f}:0" for f in names_of(feeds)],
            depth=depth,
            expanded=None if expanded is None else [scope_id(e) for e in expanded],
            aside=[name.removesuffix("/") for name in aside],
            inline=[name.removesuffix("/") for name in inline],
            height=height,
            group_above=group_above,
            labels=labels,
            colour_by=colour_by,
            figures={} if figures is None else figures,
            _graph=token_of(self.graph),
            _ops=rows,
        )
        # Traits copy lists, but a page that reloads must get the list that grows.
        self._trait_values["_ops"] = rows
        self.observe(self._on_selected, "selected")

    @traitlets.validate("colour_by", "figures")
    def _only_where_they_show(self, proposal: Any) -> Any:
        if proposal["value"] in ("structure", {}) or not self._has_colours_of_its_own:
            return proposal["value"]
        raise traitlets.TraitError(
            f"{type(self).__name__} has colours of its own: "
            f"{proposal['trait'].name} is for GraphView alone."
        )

    def __repr__(self) -> str:
        parts = [plural(len(self._rows), "op")]
        for word in ("fetches", "feeds"):
            if names := getattr(self, word):
                parts.append(f"{word}={list(names)}")
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def model_id(self) -> str:
        """As of every view; no batch is lost between its state and the connection."""
        with nullcontext() if self._growing is None else self._growing.held:
            return super().model_id

    def close(self) -> None:
        """Stop following the graph and remove the view."""
        if self._growing is not None:
            self._growing.close()
        super().close()

    # ---- growth

    @property
    def runs(self) -> int:
        """The number of session runs of the graph since the view was created."""
        return 0 if self._growing is None else self._growing.runs

    def refresh(self) -> None:
        """Send additions to the graph, and changed shapes, to the page now."""
        if self._growing is not None:
            self._growing.flush(check=len(self._rows) < 3000)

    def _send_batch(self, batch: dict[str, Any]) -> None:
        self._trait_values["_runs"] = batch.get("runs", self._runs)
        self._trait_values["_first"] = batch.get("first", self._first)
        if self.comm is None:  # not displayed: the rows have it all
            return
        # Every batch is a separate attribute, so that the page's model keeps all of
        # them, even before a view listens.
        number = self._batches
        self._trait_values["_batches"] = number + 1
        state = {f"_batch_{number}": packed_batch(batch), "_batches": number + 1}
        self._send({"method": "update", "state": state, "buffer_paths": []})

    def _on_selected(self, change: Any) -> None:
        if self._growing is not None and change["new"]:
            self._growing.give_attributes(change["new"].removesuffix("/"))

    # ---- saved pages and static pictures

    def saved_state(self) -> dict[str, Any]:
        """All ops with their attributes, which the live page asks for one by one."""
        rows = self._rows if self._growing is None else self._growing.saved_rows()
        state = {"_ops": packed(rows), "_batches": 0}
        if self._growing is not None:
            state |= {"_runs": self._growing.runs, "_first": self._growing.first}
        return state

    def still(self) -> Still:
        """A description of the static picture of the graph as it is now."""
        self.refresh()
        return Still(
            self._rows, self.depth, self.expanded, *self._run_in_picture(),
            self.aside, self.inline,
        )  # fmt: skip

    def _run_in_picture(self) -> tuple[list[str], list[str]]:
        return self.fetches, self.feeds

    def to_svg(self) -> str:
        """The static picture, with the scopes open as in the view.

        Returns:
          SVG as a string.

        Raises:
          RuntimeError: Graphviz is not installed, or the graph is too large for it.
        """
        svg = svg_of(self.still())
        if svg is None:
            raise RuntimeError(
                "No SVG: Graphviz is not installed (pip install graphviz pygraphviz), "
                "or too many boxes are open. Lower `depth`, or use to_text()."
            )
        return svg

    def to_text(self) -> str:
        """The graph as text, with a line for each box."""
        return text_of(self.still())

    def static_bundle(self) -> dict[str, str]:
        """The static picture as a dict from MIME types to SVG, HTML and text."""
        return bundle_of(self.still())


def names_of(things: Names) -> list[str]:
    """The names of one or several tensors, operations or names.

    Raises:
      TypeError: something has no name.
    """
    if isinstance(things, str | Operation | Tensor) or hasattr(
        things, "_as_graph_element"
    ):
        things = [things]  # type: ignore[list-item]
    found = []
    for thing in things:
        convert = getattr(thing, "_as_graph_element", None)
        element = thing if convert is None else convert()
        name = element if isinstance(element, str) else getattr(element, "name", None)
        if not isinstance(name, str):
            raise TypeError(
                f"{thing!r} is not a tensor, operation or name; a view can fetch and "
                "feed only those."
            )
        found.append(name)
    return found


def figures_of(things: Any) -> dict[str, dict[str, float]]:
    """Times and bytes by op name, from a mapping, a RunMetadata or a `StepTimes`.

    Raises:
      TraitError: a mapping contains keys other than time_us and bytes.
    """
    from tfteach.explain.profiling.timing import StepTimes, times_of

    found: dict[str, dict[str, float]] = {}
    if hasattr(things, "step_stats"):
        things = times_of(things)
    if isinstance(things, StepTimes):
        for op in things.ops:  # ops in loops occur several times
            row = found.setdefault(op.name, {"time_us": 0.0, "bytes": 0.0})
            row["time_us"] += op.elapsed_us
            row["bytes"] += op.size_bytes
        return found
    for thing, numbers in dict(things).items():
        (name,) = names_of(thing)
        if set(numbers) - {"time_us", "bytes"}:
            raise traitlets.TraitError(
                f"figures of {name!r}: expected time_us, bytes or both, got "
                f"{sorted(numbers)}."
            )
        plain = {key: float(number) for key, number in numbers.items()}
        found[name.partition(":")[0]] = plain
    return found


def scope_id(name: str) -> str:
    return name if name.endswith("/") else f"{name}/"


def rows_with_shapes(graph_def: Any) -> list[Row]:
    """The rows of a GraphDef, with inferred shapes if all its ops are known here."""
    from tfteach.framework.graphdef.import_graph_def import import_graph_def

    graph = Graph()
    try:
        with graph.as_default():
            import_graph_def(graph_def, name="")
    except Exception:  # show any graph, even if it cannot run here
        return rows_of_graph_def(graph_def)
    rows = rows_of_graph(graph)
    for row in rows:
        row.more.pop("source", None)  # the line of the import above
    return rows
