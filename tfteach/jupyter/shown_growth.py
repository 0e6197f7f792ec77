"""The growths of a view, each with the recording that it comes from, if any."""

from __future__ import annotations

from typing import NamedTuple

from tfteach.explain.building.graph_lives import GraphLife
from tfteach.explain.building.graph_log import GraphLog
from tfteach.explain.building.growth import Growth
from tfteach.explain.building.rebuilding import CLEAN, Rebuilding, findings_of

MOST_CORNERS = 400
MOST_COPIES = 60


class ShownGrowth(NamedTuple):
    """A growth of a view.

    Attributes:
      title: its title; "" for the only one.
      growth: the growth.
      log: what else was recorded, or None.
      life: the graph of `growth` in `log`.
      is_single: whether other graphs of `log` are left to another view.
    """

    title: str
    growth: Growth
    log: GraphLog | None = None
    life: GraphLife | None = None
    is_single: bool = False

    @property
    def copies(self) -> list[GraphLife]:
        """The graphs that the same lines built later, as many as are drawn."""
        if self.log is None or self.life is None:
            return []
        return self.log.copies_of(self.life)[:MOST_COPIES]

    @property
    def finding(self) -> Rebuilding:
        """The worst that was found about this graph's being built again."""
        if self.log is None or self.life is None:
            return CLEAN
        for finding in findings_of(self.log.graphs):
            if finding.family is not None and self.life in finding.family.graphs:
                return finding
        return CLEAN

    @property
    def kind(self) -> str:
        """The kind of the worse verdict: on its growth, or on its being built again."""
        own, again = self.growth.verdict.kind, self.finding.kind
        return again if own != "lazy" and again in ("rebuilt", "reopened") else own

    @property
    def has_tracks(self) -> bool:
        """Whether there are several graphs or sessions, or an estimator's one."""
        log = self.log
        if log is None or self.is_single:
            return False
        if log.verdict.kind == "kept":
            return True
        return len(log.graphs) > 1 or len(log.sessions) > 1 or log.verdict.is_waste


def shown_growth_of(
    title: str, log: GraphLog, number: int | None = None
) -> ShownGrowth:
    """A recording's main graph; with `number`, that graph without the others."""
    if number is None:
        life, growth = log.main
        return ShownGrowth(title, growth, log, life)
    return ShownGrowth(title, log.growths[number], log, log.graphs[number - 1], True)


def corners(part: ShownGrowth) -> list[tuple[int, int]]:
    """The corners of the line as (runs, ops), from the start of the recording.

    Copies of the graph continue the line: their ops and runs are added.
    """
    growth = part.growth
    rounds = [(round_.stop, round_.runs) for round_ in growth.rounds]
    for life in part.copies:
        base = rounds[-1][0]
        rounds += [(base + ops, count) for ops, count, _ in life.rounds]
        if rounds[-1][0] < base + life.ops:  # after the last run
            rounds.append((base + life.ops, 0))
    runs = 0
    found = [(0, growth.ops_before)]
    stride = max(1, len(rounds) // MOST_CORNERS)
    for number, (stop, count) in enumerate(rounds):
        if number % stride == 0 or number == len(rounds) - 1:
            found.append((runs, stop))
        runs += count
        if number % stride == 0 or number == len(rounds) - 1:
            found.append((runs, stop))
    return found
