"""Graphs and sessions on one clock: a track for each, from building to closing.

The clock runs only while something is built, opened, compiled or run: pauses between,
such as those of a program that waits for a request, are left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from tfteach.explain.building.graph_lives import (
    GraphLife,
    Kind,
    SessionLife,
    Span,
    times,
)

__all__ = ["Track"]

MOST_TRACKS = 60


class Stretch(NamedTuple):
    """A part of a track.

    Attributes:
      kind: as in `Span`.
      from_ms: where it begins on the clock.
      to_ms: where it ends.
      amount: the number of ops built, programs compiled, or runs.
    """

    kind: Kind
    from_ms: float
    to_ms: float
    amount: int


class Track(NamedTuple):
    """A graph with its first session, or a further session of that graph.

    Attributes:
      graph: the number of the graph.
      session: the number of the session; 0 if the graph has none.
      is_first: whether the graph's building is on this track.
      stretches: the `Stretch`es, in order.
      to_ms: where the session ends, or the last stretch if there is no session.
      end: "closed", "dropped", "open", or "" without a session.
      text: the track in words.
    """

    graph: int
    session: int
    is_first: bool
    stretches: tuple[Stretch, ...]
    to_ms: float
    end: str
    text: str


class Tracks(NamedTuple):
    """All tracks of a recording.

    Attributes:
      tracks: the `Track`s.
      total_ms: the length of the clock.
      left_out: the number of tracks beyond MOST_TRACKS.
    """

    tracks: tuple[Track, ...]
    total_ms: float
    left_out: int


def tracks_of(graphs: Sequence[GraphLife]) -> Tracks:
    """The tracks of a recording's graphs, in order."""
    rows: list[tuple[GraphLife, SessionLife | None, bool]] = []
    for life in graphs:
        rows.append((life, life.sessions[0] if life.sessions else None, True))
        rows += [(life, session, False) for session in life.sessions[1:]]
    drawn = rows[:MOST_TRACKS]
    clock = _Clock([span for row in drawn for span in _spans_of(*row)])
    tracks = [_track(clock, *row) for row in drawn]
    return Tracks(tuple(tracks), clock.total_ms, len(rows) - len(drawn))


def _spans_of(
    life: GraphLife, session: SessionLife | None, is_first: bool
) -> list[Span]:
    spans = list(life.time.spans) if is_first else []
    if session is not None:
        spans += session.time.spans
    return sorted(spans, key=lambda span: span.began_s)


def _track(
    clock: _Clock, life: GraphLife, session: SessionLife | None, is_first: bool
) -> Track:
    stretches = tuple(
        Stretch(s.kind, clock.at(s.began_s), clock.at(s.ended_s), s.amount)
        for s in _spans_of(life, session, is_first)
    )
    to_ms = stretches[-1].to_ms if stretches else 0.0
    if session is not None:
        ended_s = session.ended_s
        to_ms = clock.total_ms if ended_s is None else max(to_ms, clock.at(ended_s))
    words = []
    if is_first:
        ops = times(life.ops_built or life.ops, "op")
        words.append(f"{ops} built" if life.ops_built else f"{ops}, built before")
    if session is not None:
        words.append(f"session {session.number} {session}")
    return Track(
        life.number,
        0 if session is None else session.number,
        is_first,
        stretches,
        to_ms,
        "" if session is None else session.end,
        f"graph {life.number}: {'; '.join(words)}",
    )


class _Clock:
    """Maps times to milliseconds of activity."""

    def __init__(self, spans: Sequence[Span]) -> None:
        busy: list[list[float]] = []
        for began_s, ended_s in sorted((s.began_s, s.ended_s) for s in spans):
            if busy and began_s <= busy[-1][1]:
                busy[-1][1] = max(busy[-1][1], ended_s)
            else:
                busy.append([began_s, ended_s])
        self._busy = busy
        self._starts = [began_s for began_s, _ in busy]
        self._before = [0.0, *accumulate(end - start for start, end in busy)]

    @property
    def total_ms(self) -> float:
        return 1e3 * self._before[-1]

    def at(self, time_s: float) -> float:
        number = bisect_right(self._starts, time_s) - 1
        if number < 0:
            return 0.0
        start, end = self._busy[number]
        return 1e3 * (self._before[number] + min(time_s, end) - start)
