"""Sessions on one graph: each with its own variables, before and after each run."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import open_sessions
from tfteach.explain.graph_rows import value_text
from tfteach.framework.build import user_line
from tfteach.framework.graph import Graph, OpAdded, Operation, SessionRun, SourceLine
from tfteach.framework.variable_cell import Cell

VARIABLES = frozenset(("Variable", "VariableV2", "VarHandleOp"))
UNINITIALIZED = "uninitialized"
MOST_RUNS = 300
LONGEST_ERROR = 200


class Value(NamedTuple):
    """What a variable holds, in words; large arrays are not kept.

    Attributes:
      text: the values if they are few; else the shape, the mean, and the range.
      digest: equal for equal values.
    """

    text: str
    digest: int


class Change(NamedTuple):
    """What one run did to one variable; None stands for uninitialized."""

    variable: str
    before: Value | None
    after: Value | None

    def __str__(self) -> str:
        return f"{self.variable}: {words(self.before)} -> {words(self.after)}"


@dataclass
class LoggedRun:
    """One run of one session.

    Attributes:
      session: the session's name in the log.
      fetches, feeds: names.
      source: the line that called `Session.run`; None if that was not a file's line.
      changes: the variables that the run changed.
      error: what ended it, "" if nothing did.
    """

    session: str
    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    source: SourceLine | None
    changes: tuple[Change, ...] = ()
    error: str = ""

    def __str__(self) -> str:
        text = f"{self.session}.run({', '.join(self.fetches)})"
        if self.feeds:
            text += f" fed {', '.join(self.feeds)}"
        ends = [str(change) for change in self.changes] or ["no variable changed"]
        return f"{text}  {self.error or '; '.join(ends)}"


State = dict[str, "Value | None"]


def words(value: Value | None) -> str:
    """The value, or "uninitialized"."""
    return UNINITIALIZED if value is None else value.text


def state_of(session: BaseSession) -> State:
    """What each variable of the session's graph holds there; None: uninitialized.

    Example:
      >>> state_of(sess)["w"].text
      '[1, 2]'
    """
    found: State = {}
    for op in variables_of(session.graph):
        cell = _cell(session, op)
        is_set = cell is not None and cell.is_initialized
        found[op.name] = describe(cell.value) if is_set and cell is not None else None
    return found


def variables_of(graph: Graph) -> list[Operation]:
    """The ops that make variables, in the order they were added."""
    return [op for op in graph.get_operations() if op.type in VARIABLES]


def _cell(session: BaseSession, op: Operation) -> Cell | None:
    spec: Any = op.spec
    key = "variable", getattr(spec, "container", ""), spec.shared_name or op.name
    found = session.resources.find(key)
    return found if isinstance(found, Cell) else None


def describe(value: Any) -> Value:
    """A value in words, and what tells it from others."""
    array = np.asarray(to_host(value))
    if array.dtype.hasobject:
        return Value(value_text(array), hash(repr(array.tolist())))
    digest = zlib.crc32(np.ascontiguousarray(array).data)
    text = value_text(array)
    if text.endswith(" values") and array.dtype.kind in "fiu":
        sizes = text.removesuffix(" values")
        with np.errstate(all="ignore"):  # infinities have no mean
            low, high, mean = array.min(), array.max(), array.mean(dtype=np.float64)
        text = f"{sizes}, mean {mean:.3g}, {low:.3g} to {high:.3g}"
    return Value(text, digest)


class SessionLog:
    """Notes the runs of a graph's sessions from now on; `close()` ends it.

    `Session.run` is noted; what `make_callable` runs is seen only in what it changed,
    with the next run.

    Args:
      graph: the graph.
      sessions: name -> session; sessions that run later join in as "session 3". The
        open ones of the graph if it is None.
      changed: called, in the thread that ran, after each run.

    Attributes:
      sessions: name -> session.
      start: the state of each session when it joined.
      runs: the last 300 runs; `forgotten` counts those before.

    Example:
      >>> log = SessionLog(graph, {"a": sess_a, "b": sess_b})
      >>> sess_a.run(init)
      >>> print(log)
    """

    def __init__(
        self,
        graph: Graph,
        sessions: Mapping[str, BaseSession] | None = None,
        changed: Callable[[], Any] | None = None,
    ) -> None:
        self.graph = graph
        self.sessions: dict[str, BaseSession] = {}
        self.start: dict[str, State] = {}
        self.runs: list[LoggedRun] = []
        self.forgotten = 0
        self.changed = changed
        self._last: dict[str, State] = {}  # when its last run had ended
        self._lock = threading.RLock()
        if sessions is None:
            sessions = {default_name(s): s for s in open_sessions(graph)}
        for name, session in sessions.items():
            self._join(name, session)
        self._subscription = graph.observe(self._note)

    def close(self) -> None:
        """Stop listening."""
        self._subscription.close()

    def states(self) -> dict[str, State]:
        """What the variables hold now, by session."""
        return {name: state_of(session) for name, session in self.sessions.items()}

    def _join(self, name: str, session: BaseSession) -> None:
        self.sessions[name] = session
        self.start[name] = {} if session._closed else state_of(session)
        self._last[name] = dict(self.start[name])

    def _note(self, event: OpAdded | SessionRun) -> None:
        if isinstance(event, OpAdded):
            return
        session = event.session
        with self._lock:
            name = next((n for n, s in self.sessions.items() if s is session), None)
            if name is None:
                name = default_name(session)
                self._join(name, session)
        run = LoggedRun(
            name,
            tuple(f.name for f in event.fetches),
            tuple(f.name for f in event.feeds),
            user_line(),
        )

        def ended(error: BaseException | None) -> None:
            if error is not None:
                first = str(getattr(error, "message", error)).strip().partition("\n")[0]
                run.error = f"{type(error).__name__}: {first}"[:LONGEST_ERROR]
            after = state_of(session)
            with self._lock:
                run.changes = tuple(_changes(self._last[name], after))
                self._last[name] = after
                self.runs.append(run)
                if len(self.runs) > MOST_RUNS:
                    self._forget()
            if self.changed is not None:
                self.changed()

        event.at_end.append(ended)

    def _forget(self) -> None:
        """The oldest run becomes a part of the start."""
        run = self.runs.pop(0)
        self.forgotten += 1
        self.start[run.session].update({c.variable: c.after for c in run.changes})

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, most: int | None = None) -> str:
        """What the variables hold now, and the runs; the first and last `most`."""
        names = list(self.sessions)
        states = self.states()
        closed = {n: " (closed)" for n in names if self.sessions[n]._closed}
        rows = [["", *(name + closed.get(name, "") for name in names)]]
        for op in variables_of(self.graph)[:most]:
            rows.append([op.name, *(words(states[n].get(op.name)) for n in names)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{len(names)} session{'' if len(names) == 1 else 's'} on one graph of "
            f"{self.graph.version} ops"
        ]
        for row in rows:
            cells = [f"{c:<{w}}" for c, w in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
        runs = list(enumerate(self.runs, self.forgotten + 1))
        lines += [f"{i}. {run}" for i, run in runs[-most if most else 0 :]]
        return "\n".join(lines)


def default_name(session: BaseSession) -> str:
    """What a session is called that nobody named."""
    return f"session {session.number}"


def _changes(before: State, after: State) -> Iterable[Change]:
    for name, value in after.items():
        old = before.get(name)
        if old != value:
            yield Change(name, old, value)
