"""The static picture of graphs and sessions on one clock: a track for each."""

from __future__ import annotations

import html
from collections.abc import Sequence

from tfteach.explain.building.graph_tracks import Track, Tracks, tracks_of
from tfteach.jupyter.pictures.graph_svg import EDGE, FETCH, INK, MUTED, RULE
from tfteach.jupyter.shown_growth import ShownGrowth

TRACKS_WIDTH = 760
LEFT, RIGHT = 92, 130
ROOM = 260  # for the tracks of a recording, which get thinner if they are many
TALLEST, THINNEST = 24, 5
LEAST = 0.8  # pixels, so that a short run is seen

# What takes time, in the order of the legend: warm colours prepare, blue runs.
KINDS = {
    "build": ("build ops", "#b83208"),
    "open": ("open session", "#8a94a3"),
    "compile": ("compile", "#e39a54"),
    "initialize": ("initialize variables", "#c2a500"),
    "restore": ("restore variables", "#7a8f3c"),
    "library": ("the library's own runs", "#a08bb8"),
    "run": ("run", "#0b63ce"),
}
ENDS = {"open": ", still open", "dropped": ", not closed", "closed": ", closed"}


def tracks_of_parts(parts: Sequence[ShownGrowth]) -> tuple[list[str], int]:
    """The tracks of all parts that have a recording, below each other.

    Returns:
      (SVG elements, height in pixels): none, and 0, where there is nothing to compare.
    """
    if not any(part.has_tracks for part in parts):
        return [], 0
    drawn = [
        (part, tracks_of(part.log.graphs))
        for part in parts
        if part.log is not None and not part.is_single
    ]
    total_ms = max(tracks.total_ms for _, tracks in drawn) or 1.0
    kinds: set[str] = {
        stretch.kind
        for _, tracks in drawn
        for track in tracks.tracks
        for stretch in track.stretches
    }
    pieces, y = _legend(kinds), 40
    for part, tracks in drawn:
        more, height = _recording(part, tracks, total_ms)
        pieces += [f'<g transform="translate(0,{y})">', *more, "</g>"]
        y += height
    end = TRACKS_WIDTH - RIGHT
    said = f"{total_ms:.1f} ms; pauses are left out"
    pieces.append(text_at(LEFT, y + 8, "0", MUTED, anchor="middle"))
    pieces.append(text_at(end, y + 8, said, MUTED, anchor="end"))
    return pieces, y + 20


def _legend(kinds: set[str]) -> list[str]:
    pieces, x = [], LEFT
    for kind, (name, fill) in KINDS.items():
        if kind in kinds:
            pieces.append(
                f'<rect x="{x}" y="12" width="12" height="12" fill="{fill}"/>'
            )
            pieces.append(text_at(x + 17, 22, name, INK))
            x += 40 + 6 * len(name)
    return pieces


def _recording(
    part: ShownGrowth, tracks: Tracks, total_ms: float
) -> tuple[list[str], int]:
    assert part.log is not None
    verdict = part.log.verdict
    colour = FETCH if verdict.is_waste else INK
    title = f"{part.title}: {verdict.sign()}" if part.title else verdict.sign()
    pieces = [text_at(LEFT, 12, title, colour, size=13, weight="bold")]
    count = len(tracks.tracks)
    row = max(THINNEST, min(TALLEST, ROOM // max(1, count)))
    y = 22
    for number, track in enumerate(tracks.tracks):
        named = row >= 14 or number in (0, count - 1)
        pieces += _track(track, y, row, total_ms, named)
        y += row
    if tracks.left_out:
        y += 14
        pieces.append(text_at(LEFT, y, f"and {tracks.left_out:,} more", MUTED))
    return pieces, y + 12


def _track(track: Track, y: float, row: int, total_ms: float, named: bool) -> list[str]:
    end = TRACKS_WIDTH - RIGHT

    def at(ms: float) -> float:
        return LEFT + ms / total_ms * (end - LEFT)

    middle, bar = y + row / 2, max(3, row - 8)
    first = track.stretches[0].from_ms if track.stretches else 0.0
    pieces = [
        f"<g><title>{html.escape(track.text)}</title>",
        f'<path d="M{LEFT},{middle:g}H{end}" stroke="{RULE}" stroke-width="0.6"/>',
        f'<path d="M{at(first):.1f},{middle:g}H{at(track.to_ms):.1f}" '
        f'stroke="{EDGE}" stroke-width="1.6"/>',
    ]
    for stretch in track.stretches:
        x = at(stretch.from_ms)
        width = max(LEAST, at(stretch.to_ms) - x)
        pieces.append(
            f'<rect x="{x:.1f}" y="{middle - bar / 2:g}" width="{width:.1f}" '
            f'height="{bar}" fill="{KINDS[stretch.kind][1]}"/>'
        )
    if track.end == "closed" and row >= 8:
        x = at(track.to_ms) + 6
        pieces.append(
            f'<path d="M{x - 3:.1f},{middle - 3:g}l6,6m0,-6l-6,6" stroke="{MUTED}" '
            'fill="none" stroke-width="1.4"/>'
        )
    if named:
        graph = f"graph {track.graph}" if track.is_first else f"session {track.session}"
        runs = sum(s.amount for s in track.stretches if s.kind == "run")
        said = "1 run" if runs == 1 else f"{runs:,} runs"
        state = {
            "open": ", still open",
            "dropped": ", not closed",
            "closed": ", closed",
        }
        said += state.get(track.end, "")
        pieces.append(text_at(LEFT - 8, middle + 4, graph, INK, anchor="end"))
        pieces.append(text_at(end + 14, middle + 4, said, MUTED))
    return [*pieces, "</g>"]


def text_at(
    x: float, y: float, words: str, fill: str, *,
    anchor: str = "start", size: int = 11, weight: str = "normal",
) -> str:  # fmt: skip
    """An SVG text element."""
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" '
        f'font-size="{size}" font-weight="{weight}">{html.escape(words)}</text>'
    )
