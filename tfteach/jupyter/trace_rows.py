"""Traced functions as JSON for the page: calls, traces, verdicts, code and graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.explain.functions.autograph_code import converted_code
from tfteach.explain.functions.function_calls import FunctionTrace, FunctionUse
from tfteach.explain.graphs.graph_rows import Row
from tfteach.explain.graphs.inner_lines import inner_lines
from tfteach.framework.call_origin import SourceLine
from tfteach.jupyter import display
from tfteach.jupyter.code_rows import code_rows
from tfteach.jupyter.function_rows import rows_with_functions
from tfteach.jupyter.graph_stream import packed

MOST_SHOWN = 200  # calls, of which each is a sign
MOST_ROWS = 20_000  # ops of all graphs


def function_row(use: FunctionUse) -> dict[str, Any]:
    """A function with its calls, traces and verdict."""
    verdict = use.verdict
    place = display.place
    converted = converted_code(use.function)
    return {
        "name": use.name,
        "at": "" if use.source is None else place(use.source),
        "count": use.count,
        "calls": [_call_row(call) for call in use.calls[:MOST_SHOWN]],
        "traces": [_trace_row(use, trace) for trace in use.traces],
        "made_variables": use.made_variables,
        "verdict": {
            "kind": verdict.kind,
            "is_waste": verdict.is_waste,
            "sign": verdict.sign(),
            "headline": verdict.headline(place),
            "cost": verdict.cost(),
            "fix": verdict.fix(place),
            "code": verdict.code(),
        },
        "code": code_rows(_lines(use), lambda _, __: []),
        "converted": _converted_block(use, converted.lines),
        "problem": converted.problem,
        "is_changed": converted.is_changed,
    }


def _call_row(call: Any) -> list[Any]:
    line = call.line
    return [
        "" if line is None else display.place(line),
        "" if line is None else line.text,
        call.inside,
        call.trace,
        call.is_new,
        round(call.run_s * 1e3, 3),
        [a.text for a in call.arguments],
    ]


def _trace_row(use: FunctionUse, trace: FunctionTrace) -> dict[str, Any]:
    reason = trace.reason
    return {
        "call": trace.call,
        "kind": reason.kind,
        "reason": str(reason),
        "compared": reason.compared,
        "differences": [
            [d.argument, d.kind, d.before, d.now] for d in reason.differences
        ],
        "arguments": [[a.name, a.text] for a in trace.arguments],
        "tracing_ms": round(trace.tracing_s * 1e3, 3),
        "ops": trace.ops,
    }


def _lines(use: FunctionUse) -> list[SourceLine]:
    """The lines whose code is shown: of the function, and of what it calls."""
    found: dict[tuple[str, int], SourceLine] = {}
    if use.source is not None:
        found[use.source[:2]] = use.source
    for trace in use.traces:
        if trace.graph is None:
            continue
        lines = [op.source for op in trace.graph.operations]
        for line in [*lines, *inner_lines(trace.graph).values()]:
            if line is not None:
                found[line[:2]] = line
    return list(found.values())


def _converted_block(
    use: FunctionUse, lines: Sequence[tuple[str, int]]
) -> dict[str, Any] | None:
    if not lines or use.source is None:
        return None
    return {
        "file": display.where(use.source)[0],
        "first": 1,
        "lines": [[text, []] for text, _ in lines],
        "origins": [origin for _, origin in lines],
    }


def operations_of(trace: FunctionTrace) -> list[Row]:
    """The ops of a trace with those of its branches and loops; [] if it is gone."""
    if trace.graph is None:
        return []
    return rows_with_functions(trace.graph, display.where, uncalled=False)


def graph_row(trace: FunctionTrace) -> dict[str, Any] | None:
    """The ops of a trace, and the lines of those inside its branches and loops."""
    if trace.graph is None:
        return None
    rows = operations_of(trace)
    inner = inner_lines(trace.graph)
    return {
        "ops": packed(rows),
        "inner": {name: list(display.where(at)[:2]) for name, at in inner.items()},
    }
