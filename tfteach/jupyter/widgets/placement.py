"""`PlacementView`: where each op is placed, why, and what is copied."""

from __future__ import annotations

import contextlib
from contextlib import suppress
from itertools import product
from typing import Any

import traitlets

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.devices.partitions import Link, Partitions, partitions
from tfteach.explain.devices.placement import (
    Copy,
    DeviceUse,
    Placements,
    copy_size,
    kind_of,
    placement,
    uses_of,
)
from tfteach.explain.graphs.scope_tree import Box
from tfteach.explain.runs.cluster_plan import (
    PlannedCluster,
    label_of,
    names_tasks,
    planner_of,
)
from tfteach.framework.errors import OpError
from tfteach.framework.graph import Graph
from tfteach.jupyter import display
from tfteach.jupyter.cell_events import at_cell_end
from tfteach.jupyter.graph_stream import packed
from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import (
    Still,
    op_name,
    plural,
    shape_text,
    text_of,
)
from tfteach.jupyter.saved_page import Answers, only_saved
from tfteach.jupyter.widgets.graph import STATIC, GraphView, Names
from tfteach.jupyter.widgets.unfoldable import Unfoldable, notice_of
from tfteach.jupyter.widgets.view_base import session_for

# (fill, line) of devices in static pictures, as in placement.css for the light theme;
# the text names the devices, too.
COLOURS = (
    ("#eef1f6", "#8592a6"),
    ("#e6e9fd", "#6a77d6"),
    ("#fbeadf", "#c67f4e"),
    ("#eaf4dc", "#73994a"),
    ("#fbe6ee", "#c9648d"),
    ("#e2f3f6", "#3c93a5"),
    ("#f1e8fb", "#9169c4"),
)


LARGE = 3000  # ops
MOST_LINES = 60  # of ops, and of copies, in a saved notebook


class PlacementView(GraphView, Unfoldable):
    """The graph by device, beside TensorFlow's placement log with reasons.

    Click a box to find its line in the log, and a line to find its box. Copies between
    devices are edges labelled with their size, and each device has a bar for its
    memory. Without fetches the view shows the whole graph, with fetches (`f`) the run.
    "By device" draws the graphs that the run is cut into, with what each device sends
    to the others. Nothing is executed. The view is updated after each cell.

    A graph whose ops request tasks of a cluster, such as "/job:ps/task:0", is planned
    for these: what each task would hold, and what would go from one to another.

    Args:
      session: the session whose devices and options apply; by default the default
        session. A graph is planned for the devices that its ops name.
      fetches: as for `GraphView`.
      feeds: as for `GraphView`.
      unfolded: True to show the copies of a run that computes every op, constants
        included, without the optimizer; may be assigned.
      partitions: True to draw the graph of each device; may be assigned.
      options: as for `GraphView`.

    Attributes:
      problem: why the graph cannot be placed, or "".

    Raises:
      ValueError: there is no session.

    Example:
      >>> tf.simulate_gpus(2)
      >>> total = tf.reduce_sum(tf.ones([2]), name="total")
      >>> with tf.Session() as sess:
      ...     view = PlacementView(sess, fetches=[total])
      ...     view.placement().of("total").assigned
      '/job:localhost/replica:0/task:0/device:GPU:0'
      >>> tf.simulate_gpus(0)
    """

    _esm = STATIC / "placement.js"
    _css = STATIC / "placement.css"

    _devices: Any = traitlets.List().tag(sync=True)
    _placed: Any = traitlets.List().tag(sync=True)
    _copies: Any = traitlets.List().tag(sync=True)
    _summary = traitlets.Unicode("").tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)
    partitions = traitlets.Bool(False).tag(sync=True)
    _parts: Any = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        session: Any = None,
        fetches: Names = (),
        feeds: Names = (),
        *,
        unfolded: bool = False,
        partitions: bool = False,
        **options: Any,
    ) -> None:
        is_graph = isinstance(session, Graph)
        if not is_graph:
            session = session_for(session, "PlacementView", "devices belong to one")
        self.session = None if is_graph else session
        self._cluster: PlannedCluster | None = None
        self._planned: Any = None
        graph = session if is_graph else session.graph
        super().__init__(graph, fetches, feeds, **options)
        self._state: Any = None
        self._found: Placements | None = None
        self._cut: Partitions | None = None
        self.unfolded = unfolded
        self.partitions = partitions
        self._look_again()
        asked = ["fetches", "feeds", "unfolded", "partitions"]
        self.observe(lambda _: self._look_again(), asked)
        at_cell_end(self.refresh)

    def placement(self) -> Placements:
        """The placements that the view shows, as data.

        Returns:
          A `Placements`; `print` it.

        Raises:
          InvalidArgumentError: an op cannot be placed where it must be.
        """
        return placement(*self._run())

    def device_graphs(self) -> Partitions:
        """The graph of each device, as data.

        Returns:
          A `Partitions`; `print` it.

        Raises:
          InvalidArgumentError: an op cannot be placed where it must be.
        """
        return partitions(*self._run())

    def _run(self) -> tuple[Any, list[str] | None, list[str], bool]:
        """What plans it; the fetches and feeds that exist by now; if it is unfolded."""
        graph = self.graph
        known = [f for f in self.fetches if graph.find_operation(op_name(f))]
        feeds = [f for f in self.feeds if graph.find_operation(op_name(f))]
        return self._planner(), known or None, feeds, self.unfolded

    def _planner(self) -> Any:
        """The session; or the cluster that it uses, or that the graph's ops name."""
        graph, session = self.graph, self.session
        if self._planned != (state := (graph.version, graph.mutations)):
            self._planned = state
            is_plan = session is None or names_tasks(graph)
            self._cluster = PlannedCluster(graph) if is_plan else None
            if session is not None and session._remote is not None:
                with suppress(OpError):  # its servers have gone: then what they had
                    self._cluster = planner_of(session)
        return self.session if self._cluster is None else self._cluster

    def refresh(self) -> None:
        """Place the graph again, and read the memory of the devices."""
        super().refresh()
        self._look_again()

    def _look_again(self) -> None:
        session, graph = self._planner(), self.graph
        asked = (
            graph.version, graph.mutations, *self.fetches, None, *self.feeds,
            self.unfolded, self.partitions,
            # Runs measure copies, but large graphs are not placed again for that.
            session.transfers.count if graph.version < LARGE else 0,
        )  # fmt: skip
        if session._closed:  # keep the last placement
            if self._found is None or (self.partitions and self._cut is None):
                self.problem = "The session is closed, so nothing can be placed."
            return
        if asked == self._state:
            if self._found is not None:
                uses = uses_of(session, self._found.rows)
                self._devices = [_device_row(d, i) for i, d in enumerate(uses)]
            return
        self._state = asked
        try:
            found, cut = self._placed_as(self.unfolded, self.partitions)
        except OpError as error:
            self._found = self._cut = None
            answer = _problem(str(error.message))
        else:
            self._found, self._cut = found, cut
            answer = self._as_traits(found, cut)
        with self.hold_sync():
            for name, value in answer.items():
                setattr(self, name, value)

    def _placed_as(
        self, unfolded: bool, is_cut: bool
    ) -> tuple[Placements, Partitions | None]:
        """The placements, and if asked for, the graph of each device."""
        run = (*self._run()[:3], unfolded)
        return placement(*run), partitions(*run) if is_cut else None

    def _as_traits(self, found: Placements, cut: Partitions | None) -> dict[str, Any]:
        """Placements as values of traits."""
        index = {device.name: i for i, device in enumerate(found.devices)}
        at = {row.name: i for i, row in enumerate(self._rows)}
        notice = notice_of(found.folded, found.unfolded)
        if found.plan:
            notice["text"] = f"{found.plan} {notice.get('text', '')}".strip()
        return {
            "problem": "",
            "_summary": found.summary,
            "_folded": notice,
            "_devices": [_device_row(d, i) for i, d in enumerate(found.devices)],
            "_placed": [
                [
                    at[r.name],
                    r.requested,
                    index[r.assigned],
                    kind_of(r.reason),
                    r.reason,
                ]
                for r in found.rows
                if r.name in at
            ],
            "_copies": [_copy_row(c, at, index) for c in found.copies],
            "_parts": {} if cut is None else _parts_of(cut, index),
        }

    def recorded_answers(self) -> Answers:
        """This run folded and unfolded, as one graph and by device."""
        asked = ("fetches", "feeds", "unfolded", "partitions")
        cases: list[tuple[list[Any], dict[str, Any]]] = []
        for unfolded, is_cut in product((False, True), repeat=2):
            when = [self.fetches, self.feeds, unfolded, is_cut]
            if self._planner()._closed:
                if when[2:] == [self.unfolded, self.partitions]:
                    names = _problem("")
                    cases.append((when, {name: getattr(self, name) for name in names}))
                continue
            with contextlib.suppress(OpError):  # the page says that it has none
                found, cut = self._placed_as(unfolded, is_cut)
                cases.append((when, self._as_traits(found, cut)))
        said = only_saved(self.fetches)
        return Answers(asked, cases, _problem(said))

    # ---- static pictures

    def still(self) -> Still:
        still = super().still()
        found = self._found
        if found is None:
            return still
        if self._cut is not None:
            return _still_of(self._cut, [device.name for device in found.devices])
        labels = [device.label for device in found.devices]
        device_of = {row.name: label_of(row.assigned) for row in found.rows}
        sizes = {
            (copy.tensor.op.name, copy.tensor.value_index, reader): copy
            for copy in found.copies
            for reader in copy.readers
        }

        def paint(box: Box) -> tuple[str, str, str] | None:
            names = (still.rows[i].name for i in box.members)
            here = {device_of[name] for name in names if name in device_of}
            if not here:
                return None
            words = " ".join(sorted(here))
            if len(here) > 1:
                return "#ffffff", "#566273", words
            return (*colours_of(labels.index(words)), words)

        def edge_words(base: list[tuple[int, int, int]]) -> str:
            keys = [(still.rows[a].name, p, still.rows[b].name) for a, p, b in base]
            copies = list(dict.fromkeys(sizes[key] for key in keys if key in sizes))
            if len(copies) > 1:
                return f"{len(copies)} copies"
            if not copies:
                return ""
            size = copies[0].size_bytes
            return "copy" if size is None else f"copy {show_bytes(size)}"

        still.paint, still.edge_words = paint, edge_words
        return still

    def to_text(self, most: int | None = None) -> str:
        """The log with reasons, copies and memory; without it, the graph as text.

        With `partitions`, the nodes of each device and what it sends and receives.

        Args:
          most: the number of ops and of copies to list; by default all.

        Returns:
          A string of several lines.
        """
        if self._found is None:
            return f"{self.problem}\n{text_of(self.still())}"
        if self._cut is not None:
            plan = f"{self._found.plan}\n" if self._found.plan else ""
            return plan + self._cut.to_text(most)
        return self._found.to_text(most)

    def static_bundle(self) -> dict[str, str]:
        return bundle_with(self.to_text(MOST_LINES), svg_of(self.still()), beside=True)


def colours_of(device: int) -> tuple[str, str]:
    """The fill and line colours of the device of that number; the first is CPU:0."""
    return COLOURS[_colour(device)]


def _problem(text: str) -> dict[str, Any]:
    """Why nothing is placed, as values of traits."""
    empty: dict[str, Any] = {"_placed": [], "_copies": [], "_summary": ""}
    return {"problem": text, **empty, "_folded": {}, "_parts": {}}


def _still_of(cut: Partitions, devices: list[str]) -> Still:
    """The graphs of the devices as a static picture, in the colours of `devices`."""
    rows = cut.rows(display.where)
    still = Still(rows, depth=2)
    colour = {part.label: devices.index(part.device) for part in cut.parts}
    # The row of each `_Recv` reads that of its `_Send`.
    at = [node.name for part in cut.parts for node in part.nodes]
    words = {at.index(link.recv): link for link in cut.links}

    def paint(box: Box) -> tuple[str, str, str] | None:
        return (*colours_of(colour[box.id.partition("/")[0]]), "")

    def edge_words(base: list[tuple[int, int, int]]) -> str:
        sent = [words[to] for *_, to in base if to in words]
        return _short(sent[0]) if len(sent) == 1 else _total(sent)

    still.paint, still.edge_words = paint, edge_words
    return still


def _parts_of(cut: Partitions, index: dict[str, int]) -> dict[str, Any]:
    """The graphs of the devices as JSON."""
    at: dict[str, int] = {}
    for part in cut.parts:
        for node in part.nodes:
            at[node.name] = len(at)
    here = {part.device: i for i, part in enumerate(cut.parts)}
    return {
        "ops": packed(cut.rows(display.where)),
        "devices": [
            {"label": part.label, "colour": _colour(index[part.device])}
            for part in cut.parts
        ],
        "links": [
            [
                at[link.send], at[link.recv], here[link.source], here[link.target],
                link.tensor, link.what, _short(link),
                -1 if link.is_order else link.size_bytes,
            ]
            for link in cut.links
        ],
        "summary": cut.summary,
    }  # fmt: skip


def _short(link: Link) -> str:
    """A value between devices, as the label of a line."""
    return link.size if link.is_order else f"{shape_text(link.shape)} · {link.size}"


def _total(links: list[Link]) -> str:
    """Several values between devices, as the label of a line."""
    sizes = [link.size_bytes for link in links if not link.is_order]
    if not sizes:
        return plural(len(links), "control edge") if links else ""
    least = "≥ " if None in sizes else ""
    total = show_bytes(sum(size or 0 for size in sizes))
    return f"{plural(len(sizes), 'value')} · {least}{total}"


def _colour(index: int) -> int:
    return index if index < len(COLOURS) else 1 + (index - 1) % (len(COLOURS) - 1)


def _device_row(device: DeviceUse, index: int) -> dict[str, Any]:
    """A device as JSON."""
    return {
        "label": device.label,
        "name": device.name,
        "simulated": device.is_simulated,
        "about": device.description,
        "ops": device.ops,
        "variables": device.variables,
        "variable_bytes": device.variable_bytes,
        "limit": device.limit_bytes,
        "current": device.current_bytes,
        "peak": device.peak_bytes,
        "reserved": device.reserved_bytes,
        "colour": _colour(index),
    }


def _copy_row(copy: Copy, at: dict[str, int], index: dict[str, int]) -> list[Any]:
    """A copy as JSON; compact, since a large graph has thousands."""
    return [
        at.get(copy.tensor.op.name, -1),
        copy.tensor.value_index,
        index[copy.source],
        index[copy.target],
        copy_size(copy),
        copy.is_measured,
        copy.is_feed,
        copy.is_fetch,
        [at[name] for name in copy.readers if name in at],
    ]
