"""What the variables of a graph hold in each session, before and after each run."""

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
from tfteach.engine.session.targets import RemoteSession
from tfteach.explain.graphs.graph_rows import value_text
from tfteach.explain.runs.runs import error_line
from tfteach.framework import protos
from tfteach.framework.call_origin import user_line
from tfteach.framework.errors import FailedPreconditionError, OpError
from tfteach.framework.graph import (
    Graph,
    OpAdded,
    Operation,
    SessionRun,
    SourceLine,
    Tensor,
)
from tfteach.framework.shape import size_of
from tfteach.framework.variable_cell import Cell

__all__ = ["Change", "LoggedRun", "SessionLog", "Value", "state_of"]

UNINITIALIZED = "uninitialized"
MOST_RUNS = 300
MOST_FETCHED = 10_000  # elements of a variable on a server
PATIENCE_MS = 3000  # with a server


class Value(NamedTuple):
    """The value of a variable, abbreviated; large arrays are not kept.

    Attributes:
      text: the elements of a small array; else shape, mean and range.
      digest: an int; equal for equal values.
    """

    text: str
    digest: int


class Change(NamedTuple):
    """The change that one run made to one variable.

    Attributes:
      variable: the name of the variable's op.
      before: its `Value` before the run; None if it was uninitialized.
      after: its `Value` after the run.
    """

    variable: str
    before: Value | None
    after: Value | None

    def __str__(self) -> str:
        return f"{self.variable}: {words(self.before)} -> {words(self.after)}"


@dataclass
class LoggedRun:
    """One run of one session.

    Attributes:
      session: the name of the session in the log.
      fetches: the names of the fetches.
      feeds: the names of the fed tensors.
      source: the line that called `Session.run`; None if it is not in a file or a cell.
      changes: a `Change` for each variable that the run changed.
      error: the class and message of the exception that ended the run; "" without one.
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
    """The text of a value; "uninitialized" for None."""
    return UNINITIALIZED if value is None else value.text


def state_of(session: BaseSession) -> State:
    """The values of all variables of a session's graph.

    Args:
      session: an open session.

    Returns:
      A dict from the names of variable ops to a `Value`, or to None if uninitialized.

    Example:
      >>> w = tf.Variable([1.0, 2.0], name="w")
      >>> with tf.Session() as sess:
      ...     sess.run(w.initializer)
      ...     state_of(sess)["w"].text
      '[1, 2]'
    """
    if session._remote is not None:
        return _state_on_servers(session, session._remote)
    found: State = {}
    for op in variables_of(session.graph):
        cell = cell_of(session, op)
        is_set = cell is not None and cell.is_initialized
        found[op.name] = describe(cell.value) if is_set and cell is not None else None
    return found


def _state_on_servers(session: BaseSession, remote: RemoteSession) -> State:
    """As `state_of`; large variables stay where they are, and observers see no run."""
    found: State = {}
    options = protos.RunOptions(timeout_in_ms=PATIENCE_MS)
    absent: Value | None = None
    for op in variables_of(session.graph):
        spec: Any = op.spec
        tensor = op.outputs[0] if op.outputs[0].dtype.is_ref else _read_of(op)
        size = size_of(spec.shape)
        if absent is not None:
            found[op.name] = absent
        elif tensor is None or size is None or size > MOST_FETCHED:
            kept = "" if size is None else f" of {size:,} values"
            found[op.name] = Value(f"on the server{kept}", 0)
        else:
            try:
                (value,) = remote.program((tensor,), ()).run_with([], options, None)
                found[op.name] = describe(value)
            except FailedPreconditionError:
                found[op.name] = None
            except OpError as error:
                absent = Value(f"out of reach: {type(error).__name__}", 0)
                found[op.name] = absent
    return found


def _read_of(op: Operation) -> Tensor | None:
    """An op of the graph that reads a resource variable."""
    reads = (r for r in op.outputs[0].consumers() if r.spec.reads_variable)
    return next((read.outputs[0] for read in reads), None)


def variables_of(graph: Graph) -> list[Operation]:
    """The ops that create variables, in graph order."""
    return [op for op in graph.get_operations() if is_variable(op)]


def is_variable(op: Operation) -> bool:
    """True if the op's output is a variable: not a queue, nor an accumulator."""
    spec: Any = op.spec
    # A queue has shapes; an accumulator a shape, and how it reduces gradients.
    is_kept = spec.returns_handle and hasattr(spec, "shape")
    return is_kept and not hasattr(spec, "reduction_type")


def cell_of(session: BaseSession, op: Operation) -> Cell | None:
    """A session's buffer of a variable; None if the session has not run its op."""
    spec: Any = op.spec
    key = "variable", getattr(spec, "container", ""), spec.shared_name or op.name
    found = session.resources.find(key)
    return found if isinstance(found, Cell) else None


def describe(value: Any) -> Value:
    """A value as text, with a digest that identifies it."""
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
    """Records the runs of a graph's sessions, until `close()`; `print` it.

    Runs of `make_callable` are not recorded; the next `Session.run` reports the changes
    that they made.

    Args:
      graph: the `tf.Graph`.
      sessions: a dict from names to sessions; by default all open sessions of the
        graph. Other sessions are added when they first run, as "session 3".
      changed: a function without arguments, called after each run in the thread that
        ran; or None.

    Attributes:
      sessions: a dict from names to sessions.
      start: name -> the variables' values when the session was added.
      runs: a `LoggedRun` for each of the last 300 runs.
      forgotten: the number of runs before these.

    Example:
      >>> w = tf.Variable(1.0, name="w")
      >>> with tf.Session() as a, tf.Session() as b:
      ...     log = SessionLog(a.graph, {"a": a, "b": b})
      ...     a.run(w.initializer)
      ...     print(log)
      2 sessions on one graph of 4 ops
         a  b
      w  1  uninitialized
      1. a.run(w/Assign)  w: uninitialized -> 1
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
        self._last: dict[str, State] = {}  # after its last run
        self._lock = threading.RLock()
        if sessions is None:
            sessions = {default_name(s): s for s in open_sessions(graph)}
        for name, session in sessions.items():
            self._join(name, session)
        self._subscription = graph.observe(self._record)

    def close(self) -> None:
        """Stop recording. What was recorded remains available."""
        self._subscription.close()

    def states(self) -> dict[str, State]:
        """The values of all variables now.

        Returns:
          A dict from the names of sessions to what `state_of` returns.
        """
        return {name: state_of(session) for name, session in self.sessions.items()}

    def _join(self, name: str, session: BaseSession) -> None:
        self.sessions[name] = session
        self.start[name] = {} if session._closed else state_of(session)
        self._last[name] = dict(self.start[name])

    def _record(self, event: OpAdded | SessionRun) -> None:
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
                run.error = error_line(error)
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
        """Merge the oldest run into the values at the start."""
        run = self.runs.pop(0)
        self.forgotten += 1
        self.start[run.session].update({c.variable: c.after for c in run.changes})

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, most: int | None = None) -> str:
        """A table of the variables' current values, then the runs.

        Args:
          most: the number of variables, from the first, and of runs, up to the last; by
            default all.

        Returns:
          A string of several lines.
        """
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
    """The name of a session that was not given one."""
    return f"session {session.number}"


def _changes(before: State, after: State) -> Iterable[Change]:
    for name, value in after.items():
        old = before.get(name)
        if old != value:
            yield Change(name, old, value)
