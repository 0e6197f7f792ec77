"""`GrowthView`: how a graph grows, op by op and run by run, or is built again."""

from __future__ import annotations

import time
from typing import Any

import traitlets

from tfteach.explain.building.graph_lives import Cost, GraphLife
from tfteach.explain.building.graph_log import GraphLog
from tfteach.explain.building.graph_tracks import tracks_of
from tfteach.explain.building.growth import Growth
from tfteach.explain.building.rebuilding import Rebuilding, findings_of
from tfteach.explain.building.rebuilding_text import text_of_lives
from tfteach.explain.eager.eager_growth import MOST_LINES, EagerGrowth
from tfteach.explain.graphs.graph_rows import row_of
from tfteach.jupyter import display
from tfteach.jupyter.display import place
from tfteach.jupyter.graph_stream import (
    INTERVAL_S,
    MOST_WITH_ATTRS,
    GrowingRows,
    packed,
    packed_batch,
)
from tfteach.jupyter.pictures import growth_svg
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.shown_growth import ShownGrowth, shown_growth_of
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView

# The next verdict is computed after this many times the duration of the last one.
VERDICT_SHARE = 100
VERDICT_S = 1.0  # and not earlier than this
LIVES_S = 0.25  # between two messages on graphs and sessions
PATIENCE_S = 2.0  # how long to wait for pending batches


class GrowthView(PlainView):
    """Ops plotted against runs, with a recording of the graph's growth to play.

    Building moves the line up, running moves it right, so lazy loading draws a
    staircase. Duplicate ops are marked in the graph, and the line that builds them is
    named. The view grows while a watched cell runs.

    A `GraphLog` adds a track for each graph and session on one clock: built, opened,
    compiled, run, closed. Graphs that the same lines built are one staircase. Code that
    runs eagerly draws a flat line, an `EagerGrowth`, iteration by iteration.

    Args:
      growth: a `Growth`, from `watch_growth`, or a `GraphLog`, from `watch_graphs`; it
        may still be recording. A `ShownGrowth`, from `shown_growth_of`, is one graph of
        a log. An `EagerGrowth`, from `watch_eager`, has no graph.
      height: of the graphs, in pixels; 0 fits them.
      named: several of them to compare, each with its title.

    Raises:
      TypeError: no growth was given, or something else.
      ValueError: nothing was built or run yet in a `GraphLog`.

    Example:
      >>> with tf.Session() as sess, watch_growth(sess.graph) as growth:
      ...     for _ in range(3):
      ...         _ = sess.run(tf.add(1.0, 2.0))
      >>> view = GrowthView(growth)
      >>> comparison = GrowthView(lazy=growth, again=growth)
    """

    _esm = STATIC / "growth.js"
    _css = STATIC / "growth.css"

    _followed: list[_Pane] = []  # noqa: RUF012  # none of a view that never came to be

    _panes: Any = traitlets.List().tag(
        sync=True,
        to_json=lambda panes, _: [{**p, "ops": packed(p["ops"])} for p in panes],
    )
    _batches = traitlets.Int(0).tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)

    # For each pane what else was recorded, or None; see `_lives_row`.
    _lives: Any = traitlets.List().tag(sync=True)

    def __init__(
        self,
        growth: Growth | GraphLog | ShownGrowth | None = None,
        /,
        *,
        height: int = 0,
        **named: Growth | GraphLog | ShownGrowth,
    ) -> None:
        given = ([] if growth is None else [("", growth)]) + list(named.items())
        wrong = [
            g for _, g in given if not isinstance(g, Growth | GraphLog | ShownGrowth)
        ]
        if not given or wrong:
            raise TypeError(
                "GrowthView shows what watch_growth(graph) noted"
                + (f", not {type(wrong[0]).__name__}" if wrong else "")
                + ": `with watch_growth(graph) as growth: ...; GrowthView(growth)`."
            )
        self.parts: list[ShownGrowth] = [_part(*part) for part in given]
        self._followed = [
            _Pane(self, i, part.title, part.growth) for i, part in enumerate(self.parts)
        ]
        self._next_lives_s = 0.0
        panes = [pane.state for pane in self._followed]
        super().__init__(height=height, _panes=panes, _lives=_lives_rows(self.parts))
        # Traits copy lists, but a page that reloads must get the list that grows.
        self._trait_values["_panes"] = panes

    def __repr__(self) -> str:
        words = [
            f"{part.title + ': ' if part.title else ''}{part.kind}, "
            f"{part.growth.ops_after} ops, {part.growth.runs} runs"
            for part in self.parts
        ]
        return f"GrowthView({'; '.join(words)})"

    def close(self) -> None:
        """Stop following the graphs and remove the view."""
        for pane in self._followed:
            pane.close()
        super().close()

    def refresh(self) -> None:
        """Send additions, and the verdict on them, to the page now."""
        for pane in self._followed:
            pane.refresh()
        self._next_lives_s = 0.0
        self.lives_changed()

    def lives_changed(self) -> None:
        """Send what graphs and sessions do to the page, at most four times a second."""
        now_s = time.monotonic()
        if now_s >= self._next_lives_s:
            self._lives = _lives_rows(self.parts)
            done_s = time.monotonic()
            wait_s = max(LIVES_S, (done_s - now_s) * VERDICT_SHARE)
            self._next_lives_s = done_s + wait_s

    def send_batch(self, batch: dict[str, Any]) -> None:
        """Send a part of a pane to the page.

        Every batch is a separate attribute, so that none is lost.

        Args:
          batch: JSON data.
        """
        if self.comm is None:  # not displayed: the panes have it all
            return
        number = self._batches
        self._trait_values["_batches"] = number + 1
        state = {f"_batch_{number}": packed_batch(batch), "_batches": number + 1}
        self._send({"method": "update", "state": state, "buffer_paths": []})

    # ---- saved pages and static pictures

    def saved_state(self) -> dict[str, Any]:
        """No batches: the panes have all that was sent."""
        return {"_batches": 0}

    def to_text(self) -> str:
        """The verdict on each growth, as text."""
        texts = []
        for part in self.parts:
            text = part.growth.text(place)
            if part.log is not None and part.has_tracks:
                text = f"{text_of_lives(part.log.graphs, place)}\n\n{text}"
            texts.append(f"{part.title}: {text}" if part.title else text)
        return "\n\n".join(texts)

    def to_svg(self) -> str:
        """The plots of ops against runs, as SVG."""
        return growth_svg.svg_of(self.parts)

    def static_bundle(self) -> dict[str, str]:
        """The static picture as a dict from MIME types to SVG, HTML and text."""
        self.refresh()
        return bundle_with(self.to_text(), self.to_svg())


class _Pane:
    """One growth, sent to the page as it is recorded.

    Attributes:
      state: the data that a newly opened page needs; grows in place.
    """

    def __init__(
        self, view: GrowthView, number: int, title: str, growth: Growth
    ) -> None:
        self.view, self.number, self.growth = view, number, growth
        self._growing: GrowingRows | None = None
        self._next_verdict_s = 0.0
        if isinstance(growth, EagerGrowth):
            rows = []
        elif growth.is_open:
            self._growing = GrowingRows(growth.graph, self._send, display.where)
            rows = self._growing.rows
        else:
            ops = growth.graph.operations[: growth.ops_after]
            rows = [
                row_of(op, display.where, attrs=index < MOST_WITH_ATTRS)
                for index, op in enumerate(ops)
            ]
        self.state: dict[str, Any] = {
            "title": title,
            "before": growth.ops_before,
            "ops": rows,
            "twins": growth.twins().first[: len(rows)],
            "rounds": self._rounds(0, len(rows)),
            "verdict": self._verdict(),
            "eager": self._eager(),
        }

    def close(self) -> None:
        if self._growing is not None:
            self._growing.close()

    def refresh(self) -> None:
        if isinstance(self.growth, EagerGrowth):
            self._next_verdict_s = 0.0
            self._send_new({"from": 0, "rows": [], "patches": []})
        if self._growing is None:
            return
        left = self._growing.flush(check=len(self.state["ops"]) < 3000)
        deadline_s = time.monotonic() + PATIENCE_S
        while left and time.monotonic() < deadline_s:
            time.sleep(INTERVAL_S)
            left = self._growing.flush()
        self._next_verdict_s = 0.0
        self._send_new({"from": len(self.state["twins"]), "rows": [], "patches": []})
        if not self.growth.is_open and not left:
            self._growing.close()
            self._growing = None
            del self.state["ops"][self.growth.ops_after :]

    def _send(self, batch: dict[str, Any]) -> None:
        kept = max(0, self.growth.ops_after - batch["from"])
        self._send_new({**batch, "rows": batch["rows"][:kept]})

    def _send_new(self, batch: dict[str, Any]) -> None:
        state = self.state
        known = len(state["twins"])
        stop = batch["from"] + len(batch["rows"])
        twins = self.growth.twins(stop).first[known:stop]
        state["twins"] += twins
        # The last round on the page may have gained ops and runs.
        at = max(0, len(state["rounds"]) - 1)
        rounds = self._rounds(at, stop)
        state["rounds"][at:] = rounds
        new = {
            "from": batch["from"], "rows": batch["rows"], "patches": batch["patches"],
            "twins_from": known, "twins": twins, "rounds_from": at, "rounds": rounds,
            "pane": self.number,
        }  # fmt: skip
        if time.monotonic() >= self._next_verdict_s:
            new["verdict"] = state["verdict"] = self._verdict()
            new["eager"] = state["eager"] = self._eager()
        self.view.send_batch(new)

    def _rounds(self, at: int, most_ops: int) -> list[list[Any]]:
        """From round `at` on: [number of ops, runs, bytes of the GraphDef].

        If the line of the runs differs from that of the previous round, its place and
        text follow.
        """
        rounds = self.growth.rounds_from(max(0, at - 1), most_ops)
        before = rounds.pop(0).ran_at if at else None
        found = []
        for stop, runs, line in [(r.stop, r.runs, r.ran_at) for r in rounds]:
            entry: list[Any] = [stop, runs, self.growth.size_bytes(stop)]
            if line is not None and line != before:
                entry += [place(line), line.text]
            found.append(entry)
            before = line
        return found

    def _verdict(self) -> dict[str, Any]:
        began = time.monotonic()
        growth, verdict = self.growth, self.growth.verdict
        found = {
            "kind": verdict.kind if growth.is_judged else "none",
            "headline": verdict.headline(place) if growth.is_judged else "No run yet.",
            "fix": verdict.fix(place).splitlines(),
            "lines": [
                {"at": place(line.source), "text": line.source.text.strip(),
                 "ops": len(line.ops), "runs": line.runs}
                for line in verdict.lines[:5]
            ],
            "constants": [
                f"{c.headline(place, growth.size_bytes())} {c.advice}"
                for c in growth.constants[:3]
            ],
        }  # fmt: skip
        now_s = time.monotonic()
        wait_s = max(VERDICT_S, (now_s - began) * VERDICT_SHARE)
        self._next_verdict_s = now_s + wait_s
        return found

    def _eager(self) -> dict[str, Any] | None:
        """What ran eagerly, as JSON; None of a graph."""
        growth = self.growth
        if not isinstance(growth, EagerGrowth):
            return None
        loop = growth.verdict.loop
        held = [] if loop is None else [str(h) for h in (loop.first, loop.last) if h]
        return {
            "ops": growth.ops_ran,
            "held": held,
            "lines": [
                {"at": place(line), "text": line.text, "ops": count}
                for line, count in growth.lines[:MOST_LINES]
            ],
        }


def _part(title: str, given: Growth | GraphLog | ShownGrowth) -> ShownGrowth:
    if isinstance(given, ShownGrowth):
        return given
    return (
        ShownGrowth(title, given)
        if isinstance(given, Growth)
        else shown_growth_of(title, given)
    )


def _lives_rows(parts: list[ShownGrowth]) -> list[dict[str, Any] | None]:
    """What `_lives` holds: the tracks of all parts, if one has several."""
    tracked = any(part.has_tracks for part in parts)
    return [_lives_row(part, tracked and not part.is_single) for part in parts]


def _lives_row(part: ShownGrowth, tracked: bool) -> dict[str, Any] | None:
    """The graphs and sessions of a part as JSON; None for a `Growth`."""
    if part.log is None or part.life is None:
        return None
    graphs = part.log.graphs
    tracks, total_ms, left_out = tracks_of(graphs)
    if not tracked:
        tracks, left_out = (), 0
    finding, verdict = part.finding, part.log.verdict
    return {
        "number": part.life.number,
        "kind": finding.kind,
        "sign": finding.sign(),
        "is_waste": verdict.is_waste,
        "whole_sign": verdict.sign(),
        "tracks": [
            {**track._asdict(), "stretches": [list(s) for s in track.stretches]}
            for track in tracks
        ],
        "total_ms": total_ms,
        "left_out": left_out,
        "copies": [[life.number, _copied_rounds(life)] for life in part.copies],
        "findings": [
            _finding_row(finding) for finding in findings_of(graphs) if tracks
        ],
    }


def _copied_rounds(life: GraphLife) -> list[list[Any]]:
    """The rounds of another graph, as `_Pane._rounds` has them, without the sizes."""
    rounds: list[list[Any]] = [[stop, runs, 0] for stop, runs, _ in life.rounds]
    if not rounds or rounds[-1][0] < life.ops:
        rounds.append([life.ops, 0, 0])
    for entry, (_, _, line) in zip(rounds, life.rounds, strict=False):
        if line is not None:
            entry += [place(line), line.text]
    return rounds


def _cost_row(finding: Rebuilding, number: int, cost: Cost) -> dict[str, Any]:
    """A graph's cost as JSON: its name, and [kind, words, milliseconds] for each part.

    An estimator builds a graph in each call, so its graphs are named by the calls.
    """
    name = f"graph {cost.graph}"
    if finding.inputs is not None:
        name = f"{finding.inputs.method} {number + 1}"
    parts = [[k, words, 1e3 * cost.seconds[k]] for k, words in cost.parts]
    return {"name": name, "parts": parts}


def _finding_row(finding: Rebuilding) -> dict[str, Any]:
    line = finding.line
    return {
        "kind": finding.kind,
        "headline": finding.headline(place),
        "at": "" if line is None else place(line),
        "text": "" if line is None else line.text,
        "cost": finding.cost(),
        "costs": [_cost_row(finding, i, cost) for i, cost in enumerate(finding.costs)],
        "more": finding.more_costs,
        "fix": finding.fix(place).splitlines(),
        "code": finding.code(),
    }
