"""Recording the session runs of a piece of code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tfteach.engine.session.unfolded import is_unfolded
from tfteach.explain.folding import NOTHING, Folded, folded_elements
from tfteach.explain.pruning import RunNeeds, Why, explain_run
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

__all__ = ["Run", "Runs", "watch_runs"]


@dataclass
class Run:
    """The runs with the same fetches and feeds that one line made in one session.

    Attributes:
      graph: the graph.
      fetches: the fetched operations and tensors.
      feeds: the fed tensors.
      source: the line that called `Session.run`; None if it is not in a file or a cell.
      count: the number of runs.
      ops: the number of ops in the graph at the last of them.
      folded: a `Folded`: the ops that the session's optimizer left out of the first.
      unfolded: True if they were made without the optimizer.
      session: the number of the session, as `%tfteach` lists it.
    """

    graph: Graph
    fetches: tuple[Operation | Tensor, ...]
    feeds: tuple[Tensor, ...]
    source: SourceLine | None
    count: int = 0
    ops: int = 0
    folded: Folded = NOTHING
    unfolded: bool = False
    session: int = 0

    def needs(self) -> RunNeeds:
        """The ops that the run executes, as `explain_run` returns them."""
        return explain_run(self.graph, self.fetches, self.feeds)

    def why(self, op: Operation | str) -> Why:
        """Explain why the run executes an op, leaves it out, or does not need it.

        Args:
          op: an operation of the graph, or its name.

        Returns:
          A `Why`; `print` it.

        Raises:
          KeyError: the graph has no op of that name.
        """
        found = self.needs().why(op)
        if not found.runs or self.unfolded:
            return found
        return found._replace(folded=self.folded.why(found.op))

    def __str__(self) -> str:
        names = [f.name for f in self.fetches]
        text = f"run({', '.join(names)})"
        if self.feeds:
            text += f" fed {', '.join(f.name for f in self.feeds)}"
        return f"{text} x{self.count}" if self.count > 1 else text


@dataclass
class Runs:
    """The recorded runs; `print` it for a list.

    Attributes:
      runs: a `Run` for each distinct line, fetches and feeds, in order of first use.
      total: the number of runs in all.
    """

    runs: list[Run] = field(default_factory=list)
    total: int = 0

    def note(self, event: SessionRun, source: SourceLine | None) -> None:
        """Add one run to the record.

        Args:
          event: the run.
          source: the line that called `Session.run`, or None.
        """
        graph, number = event.session.graph, event.session.number
        found = None
        for run in self.runs:
            same = run.session == number and run.source == source
            same &= run.unfolded == is_unfolded()
            if same and run.fetches == event.fetches and run.feeds == event.feeds:
                found = run
        if found is None:
            found = Run(graph, event.fetches, event.feeds, source, session=number)
            found.unfolded = is_unfolded()
            self.runs.append(found)
            event.at_end.append(lambda error: _look(found, event, error))
        found.count += 1
        found.ops = graph.version
        self.total += 1

    def __str__(self) -> str:
        lines = []
        for run in self.runs:
            needed = len(run.needs().needed)
            lines.append(f"{run}: {needed} of {run.graph.version} ops run")
            if said := run.folded.sentence(run.unfolded):
                lines.append(f"    {said}")
            if run.source is not None and run.source.text:
                lines.append(f"    line {run.source.line}: {run.source.text}")
        return "\n".join(lines) or "no Session.run"


def _look(run: Run, event: SessionRun, error: BaseException | None) -> None:
    """Record what the session left out of a run that has just ended."""
    session = event.session
    if error is None and not session._closed:
        run.folded = folded_elements(session, run.fetches, run.feeds, run.unfolded)


@contextmanager
def watch_runs() -> Iterator[Runs]:
    """Record every `Session.run` inside a `with` block, of any session and graph.

    Returns:
      A context manager; `with` assigns a `Runs`, which fills as the block executes.

    Example:
      >>> train = tf.assign_add(tf.Variable(0.0), 1.0, name="train")
      >>> with tf.Session() as sess, watch_runs() as seen:
      ...     sess.run(tf.global_variables_initializer())
      ...     for _ in range(100):
      ...         _ = sess.run(train)
      >>> [run.count for run in seen.runs]
      [1, 100]
      >>> print(seen.runs[1])
      run(train:0) x100
    """
    seen = Runs()

    def note(event: OpAdded | SessionRun) -> None:
        if isinstance(event, SessionRun):
            seen.note(event, user_line())

    with observe_all(note):
        yield seen
