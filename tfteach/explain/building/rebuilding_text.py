"""The graphs and sessions of a program, and the verdict on them, as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tfteach.explain.building.graph_lives import GraphLife, times
from tfteach.explain.building.rebuilding import (
    Family,
    Place,
    Rebuilding,
    families_of,
    findings_of,
    place_text,
)

MOST_LISTED = 8  # families


def text_of_lives(graphs: Sequence[GraphLife], place: Place | None = None) -> str:
    """The graphs and sessions, family by family, then the verdict."""
    families = families_of(graphs)
    sessions = sum(len(life.sessions) for life in graphs)
    lines = [f"{times(len(graphs), 'graph')}, {times(sessions, 'session')}"]
    for family in families[:MOST_LISTED]:
        lines.append(textwrap.indent(family_text(family, place), "  "))
    if len(families) > MOST_LISTED:
        rest = sum(len(family.graphs) for family in families[MOST_LISTED:])
        lines.append(f"  and {times(rest, 'graph')} more")
    for finding in findings_of(graphs):
        lines += finding_lines(finding, place)
    return "\n".join(lines)


def family_text(family: Family, place: Place | None = None) -> str:
    """A family in one line: its graphs, the line that makes them, the first one."""
    numbers = [str(life.number) for life in family.graphs]
    if len(numbers) > 4:
        numbers = [*numbers[:3], "...", numbers[-1]]
    first = family.first
    made = "" if first.made_at is None else f" ({place_text(first.made_at, place)})"
    if len(family.graphs) == 1:
        return f"graph {numbers[0]}{made}: {first}"
    text = f"graphs {', '.join(numbers)}{made}, {len(family.graphs):,} alike"
    return f"{text}; graph {first.number}: {first}"


def finding_lines(
    finding: Rebuilding, place: Place | None = None, costs: bool = True
) -> list[str]:
    """Headline, costs, fix and code, in lines that fit a terminal.

    Args:
      finding: the finding.
      place: formats a source line; by default "line 4".
      costs: whether to list those of each call of an estimator.
    """
    lines = textwrap.wrap(finding.headline(place), 79, subsequent_indent="     ")
    if costs and finding.inputs is not None:
        for number, one in enumerate(finding.costs):
            text = f"{finding.inputs.method} {number + 1}, {one}"
            lines += textwrap.wrap(
                text, 79, initial_indent="  ", subsequent_indent="    "
            )
        if finding.more_costs:
            lines.append(f"  and {finding.more_costs:,} more")
    cost = finding.cost()
    if cost:
        lines += textwrap.wrap(
            cost, 79, initial_indent="Cost: ", subsequent_indent="     "
        )
    for number, part in enumerate(finding.fix(place).splitlines()):
        head = "     " if number else "Fix: "
        lines += textwrap.wrap(part, 79, initial_indent=head, subsequent_indent="     ")
    code = finding.code()
    return [*lines, *textwrap.indent(code, " " * 9).splitlines()] if code else lines
