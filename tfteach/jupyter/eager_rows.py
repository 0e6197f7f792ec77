"""The lines of eager code as JSON for the page, with what each of them ran."""

from __future__ import annotations

from typing import Any

from tfteach.explain.eager.eager_recording import EagerRecording, LineUse
from tfteach.jupyter import display
from tfteach.jupyter.code_rows import Note, code_rows
from tfteach.jupyter.pictures.picture_contents import plural

# The traits of a view that shows the lines: those that `eager_rows` returns.
NO_ROWS: dict[str, Any] = {"_code": [], "_taped": {}, "_gradient_of": {}, "_inner": {}}


def eager_rows(program: EagerRecording) -> dict[str, Any]:
    """What has run so far.

    Args:
      program: the recording.

    Returns:
      `_code`: the code with notes; `_taped`: op -> the numbers of the tapes that
      recorded it; `_gradient_of`: op of a gradient -> the op that it is of; `_inner`:
      op of a traced function -> (file, line).
    """
    uses = {(use.source.file, use.source.line): use for use in program.lines}

    def notes(file: str, line: int) -> list[Note]:
        use = uses.get((file, line))
        return [] if use is None else _notes(use)

    inner = program.inner_lines()
    lines = [*(use.source for use in uses.values()), *inner.values()]
    return {
        "_code": code_rows(lines, notes),
        "_taped": {name: list(tapes) for name, tapes in program.recorded_by.items()},
        "_gradient_of": dict(program.gradient_of),
        "_inner": {name: list(display.where(at)[:2]) for name, at in inner.items()},
    }


def _notes(use: LineUse) -> list[Note]:
    """What the page writes beside a line."""
    count = plural(use.count, "op")
    notes = [["count", count, f"{count} in {use.elapsed_us:,.0f} µs"]]
    if use.tapes:
        many = len(use.tapes)
        tapes = f"tape {use.tapes[0]}" if many == 1 else f"{many:,} tapes"
        text = "" if many == 1 else f"{many:,}"
        notes.append(["tape", text, f"Recorded by {tapes}"])
    if use.backward:
        notes.append(["backward", "", f"{use.backward:,} for gradients"])
    return notes
