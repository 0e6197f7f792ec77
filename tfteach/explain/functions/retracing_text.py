"""The calls of traced functions and their verdicts, as text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.explain.building.graph_lives import milliseconds, times
from tfteach.explain.functions.retracing import Retracing, in_file
from tfteach.framework.graph import SourceLine

Place = Callable[[SourceLine], str]

MOST_FUNCTIONS = 10
MOST_TRACES = 8


def text_of(uses: Sequence[Any], place: Place | None = None) -> str:
    """Each function with its traces, the calls that found them, and the verdict."""
    place = place or in_file
    if not uses:
        return "No traced function was called."
    parts = [_use_text(use, place) for use in uses[:MOST_FUNCTIONS]]
    if len(uses) > MOST_FUNCTIONS:
        parts.append(f"and {times(len(uses) - MOST_FUNCTIONS, 'function')} more")
    return "\n\n".join(parts)


def _use_text(use: Any, place: Place) -> str:
    at = "" if use.source is None else f" ({place(use.source)})"
    calls, traces = times(use.count, "call"), times(len(use.traces), "trace")
    counts = f"{calls}, {traces}" if use.count else traces
    lines = [f"{use.name}{at}: {counts}"]
    found: dict[int, int] = {}
    for call in use.calls:
        found[call.trace] = found.get(call.trace, 0) + (not call.is_new)
    for trace in use.traces[:MOST_TRACES]:
        lines += _trace_text(use, trace, found.get(trace.number, 0), place)
    if len(use.traces) > MOST_TRACES:
        lines.append(f"  and {times(len(use.traces) - MOST_TRACES, 'trace')} more")
    if use.made_variables:
        lines.append("  It was traced twice at first: the first trace made variables.")
    return "\n".join([*lines, *verdict_lines(use.verdict, place)])


def _trace_text(use: Any, trace: Any, found: int, place: Place) -> list[str]:
    line = use.line_of(trace)
    at = "" if line is None else f" at {place(line)}"
    took = "" if not trace.tracing_s else f", {milliseconds(trace.tracing_s)}"
    again = "" if not found else f"; {times(found, 'call')} found it"
    arguments = ", ".join(f"{a.name}: {a.text}" for a in trace.arguments)
    lines = [f"  trace {trace.number}{at}: {trace.reason}{took}{again}"]
    if arguments:
        lines.append(f"    {textwrap.shorten(arguments, 100, placeholder=' ...')}")
    return lines


def verdict_lines(verdict: Retracing, place: Place | None = None) -> list[str]:
    """A verdict that is bad in lines that fit a terminal; none if all is well."""
    if not verdict.is_waste:
        return []
    lines = textwrap.wrap(verdict.headline(place), 79)
    lines += textwrap.wrap(verdict.cost(), 79, initial_indent="  ")
    lines += textwrap.wrap(
        verdict.fix(place), 79, initial_indent="Fix: ", subsequent_indent="     "
    )
    return [*lines, *(f"     {line}" for line in verdict.code().splitlines())]
