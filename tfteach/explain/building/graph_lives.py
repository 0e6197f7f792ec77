"""What became of a graph or a session: built, opened, initialized, run, closed.

Nothing here keeps a graph or a session alive, so that programs which throw graphs away
can be recorded for long.
"""

from __future__ import annotations

import weakref
from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Any, Literal, NamedTuple

from tfteach.explain.building.estimator_calls import ModelInputs
from tfteach.framework.defaults import is_global_default
from tfteach.framework.graph import Graph, Operation, SourceLine

__all__ = ["ConstantLine", "GraphLife", "SessionLife", "Span"]

Kind = Literal["build", "open", "compile", "initialize", "restore", "library", "run"]
PREPARING: tuple[Kind, ...] = (
    "build", "open", "compile", "initialize", "restore", "library",
)  # fmt: skip

PAUSE_S = 0.1  # without an op: whatever the program did then was not building
MOST_SPANS = 200  # of a graph, and of a session; then the last one is extended
COMPARED = 1000  # elements of a constant


class Span(NamedTuple):
    """Time spent on a graph or in a session.

    Attributes:
      kind: "build", "open" (a session), "compile", "initialize" (a run that gave
        variables their first values), "restore" (one that read them from a
        checkpoint), "library" (one that the library makes on its own, to look whether
        all is initialized, to fill a queue or for a hook), or "run".
      began_s: when it began, in seconds since the recording did.
      ended_s: when it ended.
      amount: the number of ops built, programs compiled, or runs.
    """

    kind: Kind
    began_s: float
    ended_s: float
    amount: int


class Spans:
    """Consecutive `Span`s, with exact sums; in long recordings the last ones merge.

    Attributes:
      spans: the `Span`s.
      seconds: kind -> seconds in all.
      counts: kind -> count in all.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.seconds: dict[str, float] = {}
        self.counts: Counter[str] = Counter()

    def add(self, kind: Kind, began_s: float, ended_s: float, amount: int = 1) -> None:
        """Append a span."""
        self.seconds[kind] = self.seconds.get(kind, 0.0) + ended_s - began_s
        self.counts[kind] += amount
        last = self.spans[-1] if self.spans else None
        if last is not None and len(self.spans) >= MOST_SPANS and last.kind == kind:
            # longer by the time that this one took: pauses between are not added
            until_s = last.ended_s + ended_s - began_s
            self.spans[-1] = Span(kind, last.began_s, until_s, last.amount + amount)
        elif len(self.spans) < 2 * MOST_SPANS:
            self.spans.append(Span(kind, began_s, ended_s, amount))


@dataclass
class SessionLife:
    """A session from its opening to its end.

    Attributes:
      number: its number in the recording, from 1.
      opened_at: the line that opened it; None if it was open before the recording.
      is_interactive: whether it is a `tf.InteractiveSession`.
      others_open: the number of other interactive sessions that were open then.
      time: what it did, as `Spans`.
      end: "closed"; "dropped": never closed, but nothing refers to it; or "open".
      ended_s: when it ended; None while it is open.
    """

    number: int
    opened_at: SourceLine | None
    is_interactive: bool
    others_open: int = 0
    time: Spans = field(default_factory=Spans)
    end: Literal["open", "closed", "dropped"] = "open"
    ended_s: float | None = None

    @property
    def runs(self) -> int:
        """The number of runs, without those that initialize or restore variables."""
        return self.time.counts["run"]

    def __str__(self) -> str:
        counts = self.time.counts
        said = ["was open before"] if self.opened_at is None else ["opened"]
        said += ["variables initialized"] * bool(counts["initialize"])
        said += ["variables restored"] * bool(counts["restore"])
        said.append(times(counts["run"], "run"))
        end = {"open": "still open", "closed": "closed", "dropped": "never closed"}
        return ", ".join([*said, end[self.end]])


class Cost(NamedTuple):
    """What one graph took, with its sessions.

    Attributes:
      graph: its number.
      ops: the number of ops built.
      counts: kind of `Span` -> number of ops, sessions, programs or runs.
      seconds: kind of `Span` -> seconds.
    """

    graph: int
    ops: int
    counts: dict[Kind, int]
    seconds: dict[Kind, float]

    @property
    def preparing_s(self) -> float:
        """Seconds spent on all but runs."""
        return sum(self.seconds[kind] for kind in PREPARING)

    @property
    def parts(self) -> list[tuple[Kind, str]]:
        """What was done, in words, by the kind of `Span` whose time it took."""
        counts = self.counts
        parts: list[tuple[Kind, str]] = [
            ("build", f"{times(self.ops, 'op')} built"),
            ("open", f"{times(counts['open'], 'session')} opened"),
            ("initialize", "variables initialized"),
            ("restore", "checkpoint restored"),
            ("library", f"{times(counts['library'], 'run')} of the library"),
            ("compile", f"{times(counts['compile'], 'program')} compiled"),
            ("run", times(counts["run"], "run")),
        ]
        return [part for part in parts if counts[part[0]]]

    def __str__(self) -> str:
        whole = milliseconds(sum(self.seconds.values()))
        said = [f"{words} {milliseconds(self.seconds[k])}" for k, words in self.parts]
        return f"{whole}: {', '.join(said)}"


class Made(NamedTuple):
    """When a graph was made.

    Attributes:
      line: the line that made it.
      at_s: the time since the recording began.
      cpu_s: the time that the thread had computed.
    """

    line: SourceLine | None
    at_s: float
    cpu_s: float


class ConstantLine(NamedTuple):
    """A line that put constants into a graph.

    Attributes:
      source: the line.
      dtype: the element type of the first constant.
      shape: its shape.
    """

    source: SourceLine
    dtype: str
    shape: tuple[int, ...]


class GraphLife:
    """A graph from its first op, session or run in the recording.

    Attributes:
      number: its number in the recording, from 1.
      made_at: the line that made it, or built its first op if it is the global default
        graph; None if it was there before.
      is_default: whether it is a graph that `tf.reset_default_graph` replaces.
      ops_before: the number of ops that it had before the recording.
      ops: the number that it has now.
      lines: source line -> number of ops that it built.
      rounds: for each stretch of building and the runs after it: the number of ops,
        the number of runs, the line that called `Session.run`.
      time: when it was built, as `Spans`.
      sessions: its `SessionLife`s.
      constants: source line -> `ConstantLine`.
      inputs: what an estimator built it for, or None.
    """

    def __init__(
        self,
        graph: Graph,
        number: int,
        made: Made | None,
        start_s: float,
        ops_before: int,
    ) -> None:
        self._graph = weakref.ref(graph)
        self.number = number
        self.made_at = None if made is None else made.line
        self._made = made
        self.is_default = is_global_default(graph)
        self.ops_before = self.ops = ops_before
        self.lines: Counter[SourceLine] = Counter()
        self.rounds: list[tuple[int, int, SourceLine | None]] = []
        self.time = Spans()
        self.sessions: list[SessionLife] = []
        self.constants: dict[SourceLine, ConstantLine] = {}
        self.inputs: ModelInputs | None = None
        self.structure = 0  # equal for graphs of the same ops, by type, name and line
        self.made_by_first: tuple[object, ...] | None = (
            None  # `made_by` at its first run
        )
        self.observer: Any = None
        self._values: dict[SourceLine, int] = {}  # of the constants of a line
        self._start_s = start_s
        # Of the building under way; how long it takes is the thread's own time, since
        # a view that follows it computes in another thread.
        self._began_s = self._last_s = 0.0
        self._began_cpu_s = self._last_cpu_s = 0.0
        self._built = 0

    @property
    def graph(self) -> Graph | None:
        """The graph; None once it is gone."""
        return self._graph()

    @property
    def ops_built(self) -> int:
        """The number of ops built in the recording."""
        return self.ops - self.ops_before

    @property
    def made_by(self) -> tuple[object, ...]:
        """Equal for graphs that the same lines built."""
        return self.made_at, self.is_default, frozenset(self.lines)

    @property
    def runs(self) -> int:
        """The number of runs, without those that initialize or restore variables."""
        return sum(session.runs for session in self.sessions)

    def seconds(self, *kinds: Kind) -> float:
        """The time that all spans of these kinds took, those of sessions included.

        Args:
          kinds: the names of the kinds.
        """
        every = [self.time, *(session.time for session in self.sessions)]
        return sum(spans.seconds.get(kind, 0.0) for spans in every for kind in kinds)

    @property
    def cost(self) -> Cost:
        """What it took."""
        every = [self.time, *(session.time for session in self.sessions)]
        kinds: tuple[Kind, ...] = (*PREPARING, "run")
        return Cost(
            self.number,
            self.ops_built,
            {kind: sum(spans.counts[kind] for spans in every) for kind in kinds},
            {kind: self.seconds(kind) for kind in kinds},
        )

    def changed_since(self, other: GraphLife) -> list[ConstantLine]:
        """The lines whose constants have other values than in `other`.

        Args:
          other: a graph that the same lines built.
        """
        return [
            line
            for source, line in self.constants.items()
            if self._values[source] != other._values.get(source)
        ]

    # ---- recording

    def added(self, op: Operation) -> None:
        """Record an op that was built.

        Args:
          op: the operation.
        """
        now_s, cpu_s = perf_counter() - self._start_s, thread_time()
        if now_s - self._last_s > PAUSE_S:
            self.pause(keep_made=True)
        if not self._built:
            made, self._made = self._made, None
            if made is None or now_s - made.at_s > PAUSE_S:
                self._began_s, self._began_cpu_s = now_s, cpu_s
            else:
                self._began_s, self._began_cpu_s = made.at_s, made.cpu_s
        self._last_s, self._last_cpu_s = now_s, cpu_s
        self._built += 1
        self.ops = max(self.ops, op.node_id)
        source = op.source
        self.structure = hash((self.structure, op.type, op.name, source))
        if source is not None:
            self.lines[source] += 1
            if op.spec.holds_value:
                self._embed(op, source)

    def _embed(self, op: Operation, source: SourceLine) -> None:
        value = op.spec.constant
        if source not in self.constants:
            name = op.outputs[0].dtype.name
            self.constants[source] = ConstantLine(source, name, value.shape)
        few = value.reshape(-1)[:: 1 + value.size // COMPARED]
        digest = hash(repr(few.tolist()) if few.dtype.hasobject else few.tobytes())
        self._values[source] = hash((self._values.get(source), value.shape, digest))

    def pause(self, keep_made: bool = False) -> None:
        """End the stretch of building that is under way.

        Args:
          keep_made: whether the next one may begin when the graph was made.
        """
        if not keep_made:
            self._made = None
        if self._built:
            computed_s = max(0.0, self._last_cpu_s - self._began_cpu_s)
            until_s = min(self._last_s, self._began_s + computed_s)
            self.time.add("build", self._began_s, until_s, self._built)
            self._built = 0

    def ran(self, line: SourceLine | None) -> None:
        """Record a run that begins.

        Args:
          line: the line that called `Session.run`, or None.
        """
        self.pause()
        if self.made_by_first is None:
            self.made_by_first = self.made_by
        if self.rounds:
            ops, runs, last = self.rounds[-1]
            is_full = len(self.rounds) >= MOST_SPANS
            if is_full or (ops == self.ops and last == line):
                self.rounds[-1] = self.ops, runs + 1, last
                return
        self.rounds.append((self.ops, 1, line))

    def __str__(self) -> str:
        built = milliseconds(self.time.seconds.get("build", 0.0))
        text = f"{times(self.ops_built, 'op')} built in {built}"
        if not self.ops_built:
            text = f"{times(self.ops, 'op')}, built before"
        alike: dict[str, list[SessionLife]] = {}
        for session in self.sessions:
            alike.setdefault(str(session), []).append(session)
        said = [
            f"session {group[0].number} {words}"
            if len(group) == 1
            else f"{times(len(group), 'session')}, each {words}"
            for words, group in alike.items()
        ]
        return "; ".join([text, *said])


def times(count: int, noun: str) -> str:
    """A number with its noun: "1 run", "1,200 runs"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def milliseconds(seconds: float) -> str:
    """A time in milliseconds, with two figures: "0.04 ms", "1.2 ms", "120 ms"."""
    value = 1e3 * seconds
    digits = 2 if value < 1 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} ms"
