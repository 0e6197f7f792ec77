"""The static picture of a checkpoint: its variables with sizes and histograms."""

from __future__ import annotations

from html import escape

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.files.checkpoints import CheckpointContents, SavedVariable
from tfteach.explain.graphs.output_types import shape_words
from tfteach.explain.steps.value_summary import number_text

MOST_ROWS = 40
MOST_PROBLEMS = 8
MOST_LETTERS = 140
LINE = 18
ROW, WIDTH, HISTOGRAM, BAR_HEIGHT = 22, 930, 96, 16
INK, MUTED, RULE, FILL = "#1c2430", "#566273", "#d9dee6", "#6a77d6"
WRONG = "#b83208"


def checkpoint_svg(contents: CheckpointContents) -> str:
    """What a graph misses, then the first 40 variables, as an SVG table."""
    rows = [_text(12, 20, contents.summary, INK, "font-weight='600'")]
    top = 34
    for line, fill in _problems(contents):
        rows.append(_text(12, top + 8, _cut(line, MOST_LETTERS, at_end=True), fill))
        top += LINE
    shown = contents.variables[:MOST_ROWS]
    rows += [_row(variable, top + ROW * i) for i, variable in enumerate(shown)]
    height = top + 10 + ROW * len(shown)
    if rest := len(contents.variables) - len(shown):
        rows.append(_text(12, height, f"and {rest} more", MUTED))
        height += ROW
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' "
        f"viewBox='0 0 {WIDTH} {height}' font-family='system-ui, sans-serif' "
        f"font-size='12'><rect width='{WIDTH}' height='{height}' fill='#fff'/>"
        f"{''.join(rows)}</svg>"
    )


def _problems(contents: CheckpointContents) -> list[tuple[str, str]]:
    """Lines on what the graph misses, and on what only the checkpoint has."""
    missing, extra = contents.missing or [], contents.extra or []
    found = [(f"missing: {each}", WRONG) for each in missing[:MOST_PROBLEMS]]
    if (rest := len(missing) - len(found)) > 0:
        found.append((f"and {rest} more missing", WRONG))
    if extra:
        names = ", ".join(extra[:MOST_PROBLEMS])
        end = f" and {rest} more" if (rest := len(extra) - MOST_PROBLEMS) > 0 else ""
        found.append((f"not in the graph: {names}{end}", MUTED))
    return found


def _row(variable: SavedVariable, top: int) -> str:
    base = top + 15
    kind = f"{variable.dtype} {shape_words(variable.shape)}"
    norm = "" if variable.norm is None else f"norm {number_text(variable.norm)}"
    parts = [
        f"<line x1='12' x2='{WIDTH - 12}' y1='{top}' y2='{top}' stroke='{RULE}'/>",
        _text(12, base, _cut(variable.name, 42), INK),
        _text(300, base, _cut(kind, 24), MUTED),
        _text(460, base, show_bytes(variable.size_bytes), INK),
        _text(540, base, norm, MUTED),
        _bars(variable, 650, top + 3),
    ]
    if variable.change is not None:
        parts.append(_text(760, base, _cut(str(variable.change), 28), INK))
    return "".join(parts)


def _bars(variable: SavedVariable, left: int, top: int) -> str:
    bins = variable.figures.bins
    if not bins:
        return ""
    step, highest = HISTOGRAM / len(bins), max(bins)
    bars = []
    for number, amount in enumerate(bins):
        height = BAR_HEIGHT * amount / highest
        bars.append(
            f"<rect x='{left + step * number:.1f}' y='{top + BAR_HEIGHT - height:.1f}' "
            f"width='{step - 0.6:.1f}' height='{height:.1f}' fill='{FILL}'/>"
        )
    return "".join(bars)


def _text(x: int, y: int, text: str, fill: str, more: str = "") -> str:
    return f"<text x='{x}' y='{y}' fill='{fill}' {more}>{escape(text)}</text>"


def _cut(text: str, most: int, at_end: bool = False) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most - 1]}…" if at_end else f"…{text[1 - most :]}"
