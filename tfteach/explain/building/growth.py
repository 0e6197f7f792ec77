"""Which lines of a program add ops to a graph, and which do so after the first run.

A graph that keeps growing while it is run is the sign of lazy loading: the loop that
runs ops also builds them.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tfteach.explain.building.lazy_loading import Place, Verdict, judge, text_of
from tfteach.explain.graphs.duplicate_ops import Group, Twins
from tfteach.explain.graphs.large_constants import Embedded, embedded_again
from tfteach.framework.call_origin import line_of, user_frame
from tfteach.framework.graph import Graph, OpAdded, Operation, SessionRun, SourceLine
from tfteach.framework.graphdef.graph_def import node_size

__all__ = ["Growth", "Round", "Step", "watch_growth"]


# Runs that alternate between lines make a stretch each, up to this number; after that
# only new ops begin a stretch, so that long trainings need no memory.
MOST_STRETCHES = 2000
MOST_NOTED = 2000  # recorded runs not yet merged into stretches


class Step(NamedTuple):
    """The ops added between two consecutive runs.

    Attributes:
      after_runs: the number of runs before them.
      ops: their names, in order.
      lines: source line -> number of ops that it added.
      size_bytes: the size of the GraphDef including them.
    """

    after_runs: int
    ops: tuple[str, ...]
    lines: dict[SourceLine, int]
    size_bytes: int


class Round(NamedTuple):
    """A stretch of building, followed by runs from one line.

    Attributes:
      start: index into `graph.operations` of the first op built; equals `stop` if no op
        was built.
      stop: index after the last one.
      runs: the number of runs that followed; 0 only in the last round.
      ran_at: the line that called `Session.run`; in very long programs, that of the
        first of several merged stretches.
    """

    start: int
    stop: int
    runs: int
    ran_at: SourceLine | None


class Growth:
    """Records how a graph grows, until `close()`; `print` it for the verdict.

    Recording adds nothing to the cost of building an op; a run costs a microsecond.

    Args:
      graph: the `tf.Graph` to watch.
      ops_before: the number of its ops that count as already present; by default all.

    Example:
      >>> with tf.Session() as sess:
      ...     growth = Growth(sess.graph)
      ...     for _ in range(3):
      ...         _ = sess.run(tf.add(1.0, 2.0))
      ...     growth.close()
      >>> growth.runs, growth.added_while_running
      (3, 6)
      >>> growth.verdict.is_lazy
      True
    """

    def __init__(self, graph: Graph, ops_before: int | None = None) -> None:
        self.graph = graph
        self.ops_before = graph.version if ops_before is None else ops_before
        self._ops_after: int | None = None
        # Recorded runs: (number of ops, code position in the user's program).
        self._recorded: deque[tuple[int, Any]] = deque()
        # Stretches of runs from one line: (number of ops, number of runs, line).
        self._stretches: list[tuple[int, int, SourceLine | None]] = []
        self._runs = 0
        self._lock = threading.RLock()
        self._twins = Twins(graph)
        self._twin_rounds = 0  # rounds already read by _twins
        self._sizes = [0]  # GraphDef size by number of ops
        self._blocks: dict[Any, bytes] = {}
        self._subscription = graph.observe(self.note)

    def note(self, event: OpAdded | SessionRun) -> None:
        """Record an event of the graph, which calls this.

        Args:
          event: an op that was added, or a run that begins.
        """
        # This delays the user's run, so all other work waits for a question.
        if type(event) is SessionRun:
            self._recorded.append((len(self.graph.operations), user_frame()))
            if len(self._recorded) >= MOST_NOTED:
                self._sort()

    def _sort(self) -> list[tuple[int, int, SourceLine | None]]:
        """Merge the recorded runs into stretches; returns all stretches so far."""
        with self._lock:
            while self._recorded:
                ops, origin = self._recorded.popleft()
                line = None if origin is None else line_of(origin)
                self._runs += 1
                if self._stretches and self._stretches[-1][0] == ops:
                    _, runs, last = self._stretches[-1]
                    if last == line or len(self._stretches) >= MOST_STRETCHES:
                        self._stretches[-1] = ops, runs + 1, last
                        continue
                self._stretches.append((ops, 1, line))
            return self._stretches

    def close(self) -> None:
        """Stop recording. What was recorded remains available."""
        self._subscription.close()
        if self._ops_after is None:
            self._ops_after = self.graph.version

    # ---- ops and runs

    @property
    def runs(self) -> int:
        """The number of session runs so far."""
        self._sort()
        return self._runs

    @property
    def is_open(self) -> bool:
        """True until `close()`."""
        return self._ops_after is None

    @property
    def ops_after(self) -> int:
        """The number of ops in the graph at `close()`, or now."""
        return self.graph.version if self._ops_after is None else self._ops_after

    @property
    def rounds(self) -> list[Round]:
        """The alternation of building and running; the last round may have no runs."""
        return self.rounds_from(0)

    def rounds_from(self, first: int, most_ops: int | None = None) -> list[Round]:
        """Some of `rounds`.

        Args:
          first: the number of the first round, from 0.
          most_ops: ignore ops from this index on; by default none.

        Returns:
          A list of `Round`.
        """
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
        """The ops added before the first run, between runs, and after the last run."""
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
        """The number of ops at the first run; without runs, `ops_after`."""
        ran = self._sort()
        return ran[0][0] if ran else self.ops_after

    @property
    def added_while_running(self) -> int:
        """The number of ops added after the first run: 0 in a well-behaved program."""
        return self.ops_after - self.at_first_run

    def round_of(self, op: Operation) -> int:
        """The number of the round in which an op was built.

        Args:
          op: an operation of the graph.

        Returns:
          An index into `rounds`; -1 if the op is older than the recording.
        """
        index = op.node_id - 1
        if index < self.ops_before:
            return -1
        return bisect_right([ops for ops, _, _ in self._sort()], index)

    def size_bytes(self, ops: int | None = None) -> int:
        """The size of the serialized GraphDef.

        Args:
          ops: count the first `ops` operations only; by default all up to `ops_after`.

        Returns:
          A number of bytes.
        """
        count = self.ops_after if ops is None else ops
        with self._lock:
            for op in self.graph.operations[len(self._sizes) - 1 : count]:
                size = node_size(op, self._blocks)
                self._sizes.append(self._sizes[-1] + size)
            return self._sizes[count]

    # ---- duplicates

    def twins(self, most_ops: int | None = None) -> Twins:
        """Find, for each op, the first op that computes the same.

        Args:
          most_ops: read the first `most_ops` operations only; by default all.

        Returns:
          An object whose `first[i]` is the index of the first op equal to op `i`.
        """
        with self._lock:
            self._twins.read(self.ops_before, -1)
            for round_ in self.rounds_from(self._twin_rounds, most_ops):
                self._twins.read(round_.stop, self._twin_rounds)
                # A round without a run is not over: ops added later belong to it.
                self._twin_rounds += round_.runs > 0
        return self._twins

    @property
    def duplicates(self) -> list[Group]:
        """Groups of equal ops of which at least one was built during the recording."""
        return self.twins().groups(self.ops_before)

    @property
    def constants(self) -> list[Embedded]:
        """Large arrays that are in the graph more than once, or one after another."""
        return embedded_again(self.graph.operations[self.ops_before : self.ops_after])

    @property
    def verdict(self) -> Verdict:
        """Is it lazy loading, which line causes it, and what fixes it."""
        return judge(self)

    @property
    def is_judged(self) -> bool:
        """Whether there was a run, so that there is a verdict."""
        return self.runs > 0

    def text(self, place: Place | None = None) -> str:
        """The growth and its verdict in a few lines.

        Args:
          place: formats a source line, for instance as "In [3] line 4"; by default
            "line 4".
        """
        return text_of(self, place)

    def __str__(self) -> str:
        return self.text()


@contextmanager
def watch_growth(graph: Graph) -> Iterator[Growth]:
    """Record how a graph grows inside a `with` block.

    Args:
      graph: the `tf.Graph` to watch.

    Returns:
      A context manager; `with` assigns a `Growth`, which is closed at the end of the
      block.

    Example:
      >>> x = tf.placeholder(tf.float32, name="x")
      >>> with tf.Session() as sess, watch_growth(sess.graph) as growth:
      ...     for value in range(3):
      ...         _ = sess.run(tf.square(x), {x: value})
      >>> print(growth.verdict)
      Lazy loading: line 3 adds 1 op to the graph at every run.
      Build it once, before the loop: `op = tf.square(x)`. In the loop only run it: ...
    """
    growth = Growth(graph)
    try:
        yield growth
    finally:
        growth.close()
