"""How a graph grew: which lines added ops, and which of them after the first run.

A graph that keeps growing while it is run is the mark of lazy loading: ops are built in
the loop that runs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tfteach.framework.graph import Graph, OpAdded, SessionRun, SourceLine


class Step(NamedTuple):
    """The ops added between two runs.

    Attributes:
      after_runs: how many runs there were before.
      ops: the names of the ops added, in order.
      lines: for each line of the user's that added some, how many.
    """

    after_runs: int
    ops: tuple[str, ...]
    lines: dict[SourceLine, int]


class Growth:
    """Notes what a graph gains from now on; `close()` ends it.

    Example:
      >>> with watch_growth(graph) as growth:
      ...     for _ in range(3):
      ...         session.run(tf.add(x, y))
      >>> growth.added_while_running
      2
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.runs = 0
        self.ops_before = graph.version
        self._added: list[list[tuple[str, SourceLine | None]]] = [[]]
        self._subscription = graph.observe(self._note)

    def _note(self, event: OpAdded | SessionRun) -> None:
        if isinstance(event, OpAdded):
            self._added[-1].append((event.op.name, event.op.source))
        else:
            self.runs += 1
            self._added.append([])

    def close(self) -> None:
        self._subscription.close()

    @property
    def steps(self) -> list[Step]:
        """What was added before the first run, between runs, and after the last."""
        return [
            Step(
                runs,
                tuple(name for name, _ in added),
                dict(Counter(line for _, line in added if line is not None)),
            )
            for runs, added in enumerate(self._added)
        ]

    @property
    def added_while_running(self) -> int:
        """How many ops came after the first run: none, in a well-kept program."""
        return sum(map(len, self._added[1:]))

    def __str__(self) -> str:
        total = sum(map(len, self._added))
        lines = [f"{total} ops added, {self.runs} runs"]
        if not self.added_while_running:
            lines.append("No op was added after the first run.")
            return "\n".join(lines)
        lines.append(f"{self.added_while_running} ops were added after the first run:")
        counts: Counter[SourceLine] = Counter()
        for step in self.steps[1:]:
            counts.update(step.lines)
        lines += [
            f"  {count:>5}  line {source.line}: {source.text}"
            for source, count in counts.most_common(10)
        ]
        return "\n".join(lines)


@contextmanager
def watch_growth(graph: Graph) -> Iterator[Growth]:
    """A context manager that notes what `graph` gains inside it."""
    growth = Growth(graph)
    try:
        yield growth
    finally:
        growth.close()
