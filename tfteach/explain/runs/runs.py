"""Recording the session runs of a piece of code."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tfteach.engine.session.unfolded import is_unfolded
from tfteach.explain.runs.folding import NOTHING, Folded, folded_elements
from tfteach.explain.runs.pruning import RunNeeds, Why, explain_run
from tfteach.framework.call_origin import user_line
from tfteach.framework.errors import OpError
from tfteach.framework.graph import (
    Graph,
    OpAdded,
    Operation,
    SessionRun,
    SourceLine,
    Tensor,
    observe_all,
)
from tfteach.framework.observers import RunRefused, observe_refusals

__all__ = ["Run", "Runs", "watch_runs"]

LONGEST_ERROR = 240
LONGEST_NAME = 60


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
      error: the class and the first line of the exception that ended them; "" without
        one.
      failed_at: the name of the op that raised it; "" if none did.
      refused: the fetches as they were written, if the session refused the run before
        it began; `fetches` and `feeds` are empty then.
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
    error: str = ""
    failed_at: str = ""
    refused: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The fetches, separated by commas."""
        return ", ".join(self.refused or (fetch.name for fetch in self.fetches))

    @property
    def outcome(self) -> str:
        """ "3 of 5 ops run", "5 of 5 ops needed, failed" or "refused"."""
        if self.refused:
            return "refused"
        share = f"{len(self.needs().needed)} of {self.graph.version} ops"
        if self.error:
            return f"{share} needed, failed"
        return f"{share} {'run' if self.unfolded else self.folded.verb}"

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
          ValueError: the session refused the run.
        """
        if self.refused:
            raise ValueError(f"No op ran: the run was refused. {self.error}")
        found = self.needs().why(op)
        if not found.runs or self.unfolded:
            return found
        return found._replace(folded=self.folded.why(found.op))

    def __str__(self) -> str:
        text = f"run({self.label})"
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

    def families(self) -> list[tuple[Graph, ...]]:
        """The graphs that were run, those with the same ops and the same runs together.

        Returns:
          A list of tuples, in order of first use. Equal ops have equal types, names and
          lines; equal runs come from the same lines.
        """
        runs: dict[Graph, list[Hashable]] = {}
        for run in self.runs:
            feeds = tuple([feed.name for feed in run.feeds])
            kind = run.label, feeds, run.source, run.count, run.error
            runs.setdefault(run.graph, []).append(kind)
        found: dict[Hashable, list[Graph]] = {}
        for graph, kinds in runs.items():
            ops = [(op.type, op.name, op.source) for op in graph.get_operations()]
            found.setdefault((tuple(ops), tuple(kinds)), []).append(graph)
        return [tuple(graphs) for graphs in found.values()]

    def note(self, event: SessionRun, source: SourceLine | None) -> None:
        """Add one run to the record.

        Args:
          event: the run.
          source: the line that called `Session.run`, or None.
        """
        graph = event.session.graph
        run = Run(graph, event.fetches, event.feeds, source)
        run.session, run.unfolded = event.session.number, is_unfolded()
        found = self._add(run)
        event.at_end.append(lambda error: self._ended(found, event, error))

    def note_refused(self, event: RunRefused, source: SourceLine | None) -> None:
        """Add a run that its session refused.

        Args:
          event: the refusal.
          source: the line that called `Session.run`, or None.
        """
        run = Run(event.session.graph, (), (), source, session=event.session.number)
        run.error, run.refused = error_line(event.error), words_of(event.fetches)
        self._add(run)

    def _add(self, run: Run, after: Run | None = None) -> Run:
        """Count a run, with those like it or as the first of its kind."""
        found = next((known for known in self.runs if _is_like(known, run)), None)
        if found is None:
            found = run
            at = len(self.runs) if after is None else self.runs.index(after) + 1
            self.runs.insert(at, run)
        found.count += 1
        found.ops = run.graph.version
        self.total += 1
        return found

    def _ended(self, run: Run, event: SessionRun, error: BaseException | None) -> None:
        """Record how a run ended, and what the session left out of it."""
        if error is None:
            if run.folded is NOTHING and not event.session._closed:
                run.folded = folded_elements(
                    event.session, run.fetches, run.feeds, run.unfolded
                )
            return
        failed = replace(run, count=0, error=error_line(error), folded=NOTHING)
        op = error.op if isinstance(error, OpError) else None
        failed.failed_at = getattr(op, "name", "")
        run.count -= 1
        self.total -= 1
        self._add(failed, after=run)
        if not run.count:
            self.runs.remove(run)

    def __str__(self) -> str:
        lines = []
        for run in self.runs:
            lines.append(f"{run}: {run.outcome}")
            if run.error:
                lines.append(f"    {run.error}")
            if said := run.folded.sentence(run.unfolded):
                lines.append(f"    {said}")
            if run.source is not None and run.source.text:
                lines.append(f"    line {run.source.line}: {run.source.text}")
        return "\n".join(lines) or "no Session.run"


def _is_like(run: Run, other: Run) -> bool:
    """True if the two count as one: the same call, with the same outcome."""
    return all(
        getattr(run, name) == getattr(other, name)
        for name in "session source unfolded error refused fetches feeds".split()
    )


def error_line(error: BaseException) -> str:
    """The class and the first line of an exception."""
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    first = str(getattr(error, "message", text)).strip().partition("\n")[0]
    return _clipped(f"{type(error).__name__}: {first}", LONGEST_ERROR)


def words_of(fetches: Any) -> tuple[str, ...]:
    """Fetches as the caller wrote them, as far as they have names."""
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    if isinstance(fetches, list | tuple):
        return tuple(word for part in fetches for word in words_of(part)) or ("[]",)
    return (_word_of(fetches),)


def _word_of(leaf: Any) -> str:
    name = leaf if isinstance(leaf, str) else getattr(leaf, "name", None)
    return _clipped(name if isinstance(name, str) else repr(leaf), LONGEST_NAME)


def _clipped(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


@contextmanager
def watch_runs() -> Iterator[Runs]:
    """Record every `Session.run` inside a `with` block, of any session and graph.

    Runs that fail are recorded with their error, and so are those that the session
    refuses: of a closed session, or with a fetch that is not in the graph.

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

    def note_refused(event: RunRefused) -> None:
        seen.note_refused(event, user_line())

    with observe_all(note), observe_refusals(note_refused):
        yield seen
