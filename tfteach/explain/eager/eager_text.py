"""What eager code did, as text: its lines, each with the ops that it ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from tfteach.explain.building.lazy_loading import in_file
from tfteach.framework.graph import SourceLine

Place = Callable[[SourceLine], str]

MOST_LINES = 60
MOST_TYPES = 4


class Ran(Protocol):
    """What the text reads of an `EagerRecording`, whose members these are."""

    ops_ran: int
    tapes: list[Any]
    gradient_of: dict[str, str]

    @property
    def lines(self) -> list[Any]: ...
    @property
    def run(self) -> Any: ...


def headline(program: Ran) -> str:
    """How many ops ran, and what tapes did, in one sentence."""
    if not program.ops_ran:
        return "No op ran eagerly."
    said = [f"{_count(program.ops_ran, 'op')} ran"]
    if program.tapes:
        recorded = {name for tape in program.tapes for name in tape.ops}
        tapes = _count(len(program.tapes), "tape")
        said.append(f"{len(recorded):,} of them recorded by {tapes}")
    backward = sum(line.backward for line in program.lines)
    if backward:
        said.append(f"{backward:,} to compute gradients")
    missed = program.run.missed
    if missed:
        shown = program.ops_ran - missed
        said.append(f"the first {shown:,} are shown, the others only counted")
    return ", ".join(said) + "."


def text_of(program: Ran, place: Place | None = None) -> str:
    """The lines of eager code with the types of their ops, and what each line gave."""
    place = place or in_file
    run = program.run
    by_op = {step.op: step for step in run.steps}
    lines = [headline(program)]
    for line in program.lines[:MOST_LINES]:
        steps = [by_op[name] for name in line.ops if name in by_op]
        counts = Counter(step.op_type for step in steps)
        types = [f"{n} {t}" if n > 1 else t for t, n in counts.most_common(MOST_TYPES)]
        if len(counts) > MOST_TYPES:
            types.append("...")
        notes = [_count(line.count, "op")]
        if line.tapes:
            notes.append("on tape " + ", ".join(map(str, line.tapes)))
        if line.backward:
            notes.append(f"{line.backward:,} backward")
        lines.append(f"  {place(line.source)}: {line.source.text}")
        lines.append(f"    {', '.join(notes)}: {', '.join(types)}".rstrip(": "))
        if steps and steps[-1].outputs:
            gives = str(steps[-1].outputs[0]).partition(": ")[2]
            lines.append(f"    gives {gives}")
    if len(program.lines) > MOST_LINES:
        lines.append(f"  and {len(program.lines) - MOST_LINES:,} more lines")
    if run.error is not None:
        lines.append(run.where_it_failed())
    return "\n".join(lines)


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
