"""How a graph grew: which lines added ops, and which of them after the first run.

A program has two clocks: building moves the one, running the other. A graph that keeps
growing while it is run is the mark of lazy loading: ops are built in the loop that runs
them. The verdict is in lazy_loading.py, what is built twice in duplicate_ops.py.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tfteach.explain.duplicate_ops import Group, Twins
from tfteach.framework.build import user_frame
from tfteach.framework.graph import Graph, OpAdded, Operation, SessionRun, SourceLine
from tfteach.framework.graphdef.graph_def import node_size
from tfteach.framework.operation import decode_source

if TYPE_CHECKING:
    from tfteach.explain.lazy_loading import Embedded, Verdict


# Programs that run in turns from several lines are noted run by run up to here; beyond,
# only what is built makes a new round, so that long trainings take no memory.
MOST_STRETCHES = 2000
MOST_NOTED = 2000  # runs that wait to be sorted


class Step(NamedTuple):
    """The ops added between two runs.

    Attributes:
      after_runs: how many runs there were before.
      ops: the names of the ops added, in order.
      lines: for each line of the user's that added some, how many.
      size_bytes: of the whole GraphDef, with them.
    """

    after_runs: int
    ops: tuple[str, ...]
    lines: dict[SourceLine, int]
    size_bytes: int


class Round(NamedTuple):
    """A stretch of building, and the runs from one line that followed.

    Attributes:
      start, stop: the ops built, as indices into `graph.operations`; may be none.
      runs: how many runs followed; 0 only in the last round.
      ran_at: the line that ran; after very many rounds that of the first of them.
    """

    start: int
    stop: int
    runs: int
    ran_at: SourceLine | None


class Growth:
    """Notes what a graph gains from now on; `close()` ends it.

    Noting costs nothing while ops are built; questions are answered when asked.

    Args:
      graph: the graph to watch.
      ops_before: how many of its ops count as there before; all without that.

    Example:
      >>> with watch_growth(graph) as growth:
      ...     for _ in range(3):
      ...         session.run(tf.add(x, y))
      >>> growth.added_while_running
      2
      >>> print(growth.verdict)
      Lazy loading: line 3 adds 1 op to the graph at every run.
      ...
    """

    def __init__(self, graph: Graph, ops_before: int | None = None) -> None:
        self.graph = graph
        self.ops_before = graph.version if ops_before is None else ops_before
        self._ops_after: int | None = None
        # Runs as they were noted: ops there were, where in the user's code.
        self._noted: deque[tuple[int, Any]] = deque()
        # For each stretch of runs from one line: ops there were, runs, the line.
        self._stretches: list[tuple[int, int, SourceLine | None]] = []
        self._runs = 0
        self._lock = threading.RLock()
        self._twins = Twins(graph)
        self._twin_rounds = 0  # whose ops the twins know
        self._sizes = [0]  # of the GraphDef with so many ops
        self._blocks: dict[Any, bytes] = {}
        self._subscription = graph.observe(self.note)

    def note(self, event: OpAdded | SessionRun) -> None:
        """Take in an event of the graph; called by it."""
        # The cell waits for this; what can wait is done by whoever asks.
        if type(event) is SessionRun:
            self._noted.append((len(self.graph.operations), user_frame()))
            if len(self._noted) >= MOST_NOTED:
                self._sort()

    def _sort(self) -> list[tuple[int, int, SourceLine | None]]:
        """All runs so far in stretches."""
        with self._lock:
            while self._noted:
                ops, origin = self._noted.popleft()
                line = None if origin is None else decode_source(*origin)
                self._runs += 1
                if self._stretches and self._stretches[-1][0] == ops:
                    _, runs, last = self._stretches[-1]
                    if last == line or len(self._stretches) >= MOST_STRETCHES:
                        self._stretches[-1] = ops, runs + 1, last
                        continue
                self._stretches.append((ops, 1, line))
            return self._stretches

    def close(self) -> None:
        self._subscription.close()
        if self._ops_after is None:
            self._ops_after = self.graph.version

    # ---- what was built when

    @property
    def runs(self) -> int:
        """How many session runs there were."""
        self._sort()
        return self._runs

    @property
    def is_open(self) -> bool:
        """Whether the watching goes on."""
        return self._ops_after is None

    @property
    def ops_after(self) -> int:
        """How many ops the graph had when the watching ended; has now, before."""
        return self.graph.version if self._ops_after is None else self._ops_after

    @property
    def rounds(self) -> list[Round]:
        """Building and running by turns; the last round may have no run."""
        return self.rounds_from(0)

    def rounds_from(self, first: int, most_ops: int | None = None) -> list[Round]:
        """The rounds from number `first` on, as far as the first `most_ops` ops."""
        limit = self.ops_after if most_ops is None else most_ops
        ran = self._sort()[max(0, first - 1) :]
        start = self.ops_before
        if first:
            start, ran = ran[0][0], ran[1:]
        found = []
        for stop, runs, line in ran:
            if stop > limit:
                break
            found.append(Round(start, stop, runs, line))
            start = stop
        if start < limit or not (found or first):
            found.append(Round(start, max(start, limit), 0, None))
        return found

    @property
    def steps(self) -> list[Step]:
        """What was added before the first run, between runs, and after the last."""
        found: list[Step] = []
        for round_ in self.rounds:
            ops = self.graph.operations[round_.start : round_.stop]
            lines = Counter(op.source for op in ops if op.source is not None)
            names = tuple([op.name for op in ops])
            size = self.size_bytes(round_.stop)
            found.append(Step(len(found), names, dict(lines), size))
            for _ in range(round_.runs - 1):
                found.append(Step(len(found), (), {}, size))
        if len(found) == self.runs:
            found.append(Step(self.runs, (), {}, self.size_bytes()))
        return found

    @property
    def at_first_run(self) -> int:
        """How many ops the graph had when it was first run; has now, before."""
        ran = self._sort()
        return ran[0][0] if ran else self.ops_after

    @property
    def added_while_running(self) -> int:
        """How many ops came after the first run: none, in a well-kept program."""
        return self.ops_after - self.at_first_run

    def round_of(self, op: Operation) -> int:
        """In which of `rounds` an op was built; -1 if before the watching."""
        index = op.node_id - 1
        if index < self.ops_before:
            return -1
        return bisect_right([ops for ops, _, _ in self._sort()], index)

    def size_bytes(self, ops: int | None = None) -> int:
        """The size of the GraphDef with its first `ops` ops; with all without that."""
        count = self.ops_after if ops is None else ops
        with self._lock:
            for op in self.graph.operations[len(self._sizes) - 1 : count]:
                size = node_size(op, self._blocks)
                self._sizes.append(self._sizes[-1] + size)
            return self._sizes[count]

    # ---- what was built again

    def twins(self, most_ops: int | None = None) -> Twins:
        """For each op so far, or the first `most_ops`, the first op that is like it."""
        with self._lock:
            self._twins.read(self.ops_before, -1)
            for round_ in self.rounds_from(self._twin_rounds, most_ops):
                self._twins.read(round_.stop, self._twin_rounds)
                # What follows a round that no run has ended yet is of this round, too.
                self._twin_rounds += round_.runs > 0
        return self._twins

    @property
    def duplicates(self) -> list[Group]:
        """Ops that were built again while watched, like ones together."""
        return self.twins().groups(self.ops_before)

    @property
    def constants(self) -> list[Embedded]:
        """Large values that a line put into the graph more than once."""
        from tfteach.explain.lazy_loading import embedded_again

        return embedded_again(self)

    @property
    def verdict(self) -> Verdict:
        """Whether this is lazy loading, which line does it, and what to do."""
        from tfteach.explain.lazy_loading import judge

        return judge(self)

    def __str__(self) -> str:
        from tfteach.explain.lazy_loading import text_of

        return text_of(self)


@contextmanager
def watch_growth(graph: Graph) -> Iterator[Growth]:
    """A context manager that notes what `graph` gains inside it."""
    growth = Growth(graph)
    try:
        yield growth
    finally:
        growth.close()
