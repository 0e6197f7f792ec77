"""`RowsView`: which rows of an embedding each run read, and which rows it moved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import traitlets

from tfteach.explain.runs.row_updates import RowTrack, RowUpdates, chosen_rows
from tfteach.jupyter import display
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.pictures.rows_svg import rows_svg
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView

MOST_ROWS = 40
MOST_STEPS = 100
LEVELS = 5  # of distance, on a logarithmic scale


class Panel(NamedTuple):
    """A variable with the slots of its optimizer, under one title."""

    title: str
    tracks: tuple[RowTrack, ...]


class RowsView(PlainView):
    """Heat maps of a variable's rows over the steps that read or moved them.

    A column is a run, a row of the picture a row of the variable. A dot marks a row
    that the run read. The colour tells how far the row moved, in blue if the run had
    read it, in orange if not. Variables stand side by side with one scale of colours;
    buttons show the slots of their optimizers.

    Args:
      rows: what `watch_rows` recorded; or a dict from titles to that, or to one of its
        tracks.
      names: titles for the variables of `watch_rows`, in their order; by default their
        own names.

    Raises:
      TypeError: `rows` is something else.
      ValueError: `names` are not as many as the variables, or an entry of the dict
        holds no variable, or several.

    Example:
      >>> emb = tf.get_variable("emb", [3, 2], initializer=tf.ones_initializer())
      >>> ids = tf.placeholder(tf.int32, [None])
      >>> loss = tf.reduce_sum(tf.nn.embedding_lookup(emb, ids) ** 2)
      >>> train = tf.train.AdamOptimizer(0.1).minimize(loss)
      >>> with tf.Session() as sess, watch_rows() as rows:
      ...     sess.run(tf.global_variables_initializer())
      ...     for batch in ([0], [1], [0]):
      ...         sess.run(train, {ids: batch})
      >>> print(RowsView({"Adam": rows}))
      Adam: emb (3 x 2) in session ..., 3 steps
      2 of 5 times, a row moved that its step did not read: ...
        row 0  █▒█
        row 1  ·█▒
        row 2  ···
        █ read and moved  ▒ moved, not read  ○ read, not moved
    """

    _esm = STATIC / "rows.js"
    _css = STATIC / "rows.css"

    _panels: Any = traitlets.List().tag(sync=True)
    _note = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        rows: RowUpdates | Mapping[str, RowUpdates | RowTrack],
        names: Sequence[str] = (),
    ) -> None:
        self.panels, self._updates = _panels_of(rows, names)
        skipped = [name for updates in self._updates for name in updates.skipped]
        note = f"Too large to be compared: {', '.join(skipped)}." if skipped else ""
        super().__init__(_panels=_rows_of(self.panels), _note=note)

    def __repr__(self) -> str:
        return f"RowsView({plural(len(self.panels), 'variable')})"

    def to_text(self) -> str:
        """Each variable as text, a line for each row and a character for each step."""
        parts = []
        for title, (own, *_) in self.panels:
            is_named = title in (own.variable, f"{own.variable} in {own.session}")
            parts.append(str(own) if is_named else f"{title}: {own}")
        if self._note:
            parts.append(self._note)
        return "\n\n".join(parts) or "No run selected rows of a variable."

    def static_bundle(self) -> dict[str, str]:
        text = self.to_text()
        return bundle_with(text, rows_svg(self._panels) if self.panels else None)


def _panels_of(rows: Any, names: Sequence[str]) -> tuple[list[Panel], list[RowUpdates]]:
    if isinstance(rows, RowUpdates):
        primaries = [track for track in rows.tracks if not track.slot_of]
        several = len({track.session for track in primaries}) > 1
        titles = names or [
            f"{t.variable} in {t.session}" if several else t.variable for t in primaries
        ]
        if len(titles) != len(primaries):
            found = ", ".join(f"{t.variable} in {t.session}" for t in primaries)
            raise ValueError(
                f"{plural(len(titles), 'name')} for {len(primaries)} variables: {found}"
            )
        pairs = zip(titles, primaries, strict=True)
        return [Panel(name, (t, *_slots_of(t, rows))) for name, t in pairs], [rows]
    if not isinstance(rows, Mapping):
        raise TypeError(
            "RowsView shows what tfteach.explain.watch_rows recorded, or a dict of "
            f"these, not {rows!r}"
        )
    panels, updates = [], []
    for title, entry in rows.items():
        if isinstance(entry, RowTrack):
            panels.append(Panel(title, (entry,)))
        elif isinstance(entry, RowUpdates):
            own = entry.track()
            panels.append(Panel(title, (own, *_slots_of(own, entry))))
            updates.append(entry)
        else:
            raise TypeError(f"{title!r}: expected recorded rows, got {entry!r}")
    return panels, updates


def _slots_of(track: RowTrack, rows: RowUpdates) -> list[RowTrack]:
    return [
        other
        for other in rows.tracks
        if other.slot_of == track.variable and other.session == track.session
    ]


# ---- to the page


def _rows_of(panels: list[Panel]) -> list[dict[str, Any]]:
    """The panels as JSON; variables have one scale of colours, slots another each."""
    most = max((len(panel.tracks) for panel in panels), default=0)
    scales = [
        _Scale(panel.tracks[i] for panel in panels if i < len(panel.tracks))
        for i in range(most)
    ]
    return [
        {
            "title": panel.title,
            "heat_maps": [
                _heat_map(track, scale)
                for track, scale in zip(panel.tracks, scales, strict=False)
            ],
        }
        for panel in panels
    ]


class _Scale:
    """Levels of distance, logarithmic from the shortest to the longest."""

    def __init__(self, tracks: Iterable[RowTrack]) -> None:
        found = [s.distances for t in tracks for s in t.steps if len(s.distances)]
        every = np.concatenate(found) if found else np.zeros(0)
        every = every[np.isfinite(every) & (every > 0)]
        self._low = math.log(every.min()) if len(every) else 0.0
        self._high = math.log(every.max()) if len(every) else 0.0

    def level(self, distance: float) -> int:
        if not math.isfinite(distance) or self._high - self._low < 1e-6:
            return LEVELS - 1
        part = (math.log(distance) - self._low) / (self._high - self._low)
        return min(LEVELS - 1, int(part * LEVELS))


def _heat_map(track: RowTrack, scale: _Scale) -> dict[str, Any]:
    rows, others = chosen_rows(track, MOST_ROWS)
    places = {row: i for i, row in enumerate(rows)}
    first = max(0, len(track.steps) - MOST_STEPS)
    cells, more = [], []
    for column, step in enumerate(track.steps[first:]):
        read = set(step.read.tolist())
        moved = dict(zip(step.moved.tolist(), step.distances.tolist(), strict=True))
        for row in sorted(read | moved.keys()):
            if row in places:
                distance = moved.get(row)
                level = -1 if distance is None else scale.level(distance)
                figure = None if distance is None else f"{distance:.3g}"
                cells.append([column, places[row], level, int(row in read), figure])
        unseen = [d for row, d in moved.items() if row not in places]
        more.append([len(unseen), scale.level(max(unseen)) if unseen else -1])
    sizes = " x ".join(f"{n:,}" for n in track.shape)
    return {
        "variable": track.variable,
        "about": f"{sizes} in {track.session}, {plural(len(track.steps), 'step')}",
        "verdict": track.verdict,
        "rows": rows,
        "others": others,
        "cells": cells,
        "others_moved": more if others else [],
        "first": track.forgotten + first + 1,
        "steps": [_step_words(step) for step in track.steps[first:]],
    }


def _step_words(step: Any) -> str:
    text = f"run({', '.join(step.fetches)})"
    if step.source is None:
        return text
    place, line, _, _ = display.where(step.source)
    return f"{text}, {place} line {line}"
