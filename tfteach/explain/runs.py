"""The session runs of a piece of code: what each fetched, fed and needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tfteach.explain.pruning import RunNeeds, explain_run
from tfteach.framework.build import user_line
from tfteach.framework.graph import (
    Graph,
    OpAdded,
    Operation,
    SessionRun,
    SourceLine,
    Tensor,
    observe_all,
)


@dataclass
class Run:
    """Runs of the same fetches and feeds from the same line.

    Attributes:
      graph: what ran a part of itself.
      fetches, feeds: as elements of the graph.
      source: the line that called `Session.run`; None if that was not a file's line.
      count: how many times it did.
      ops: how many ops the graph had at the last of them.
    """

    graph: Graph
    fetches: tuple[Operation | Tensor, ...]
    feeds: tuple[Tensor, ...]
    source: SourceLine | None
    count: int = 0
    ops: int = 0

    def needs(self) -> RunNeeds:
        """What the run executes, with a reason for each op."""
        return explain_run(self.graph, self.fetches, self.feeds)

    def __str__(self) -> str:
        names = [f.name for f in self.fetches]
        text = f"run({', '.join(names)})"
        if self.feeds:
            text += f" fed {', '.join(f.name for f in self.feeds)}"
        return f"{text} x{self.count}" if self.count > 1 else text


@dataclass
class Runs:
    """The runs seen, in the order of their first time."""

    runs: list[Run] = field(default_factory=list)
    total: int = 0

    def note(self, event: SessionRun, source: SourceLine | None) -> None:
        graph = event.session.graph
        found = None
        for run in self.runs:
            same = run.graph is graph and run.source == source
            if same and run.fetches == event.fetches and run.feeds == event.feeds:
                found = run
        if found is None:
            found = Run(graph, event.fetches, event.feeds, source)
            self.runs.append(found)
        found.count += 1
        found.ops = graph.version
        self.total += 1

    def __str__(self) -> str:
        lines = []
        for run in self.runs:
            needed = len(run.needs().needed)
            lines.append(f"{run}: {needed} of {run.graph.version} ops run")
            if run.source is not None and run.source.text:
                lines.append(f"    line {run.source.line}: {run.source.text}")
        return "\n".join(lines) or "no Session.run"


@contextmanager
def watch_runs() -> Iterator[Runs]:
    """Note every `Session.run` inside, of any session and graph.

    Example:
      >>> with watch_runs() as seen:
      ...     for _ in range(100):
      ...         session.run(train)
      >>> print(seen)
      run(train) x100: 12 of 40 ops run
    """
    seen = Runs()

    def note(event: OpAdded | SessionRun) -> None:
        if isinstance(event, SessionRun):
            seen.note(event, user_line())

    with observe_all(note):
        yield seen
