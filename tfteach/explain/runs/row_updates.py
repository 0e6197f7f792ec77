"""Which rows of an embedding each run reads, and which rows it moves.

A step reads a few rows, selected by index.  Some optimizers move only these (LazyAdam,
Adagrad); others also move rows that earlier steps have read (Adam).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.execute.program import Iterations, ValueObserver
from tfteach.engine.plan.step import Node
from tfteach.engine.session.base_session import BaseSession
from tfteach.explain.runs.sessions import cell_of, default_name, variables_of
from tfteach.framework.call_origin import user_line
from tfteach.framework.graph import (
    OpAdded,
    Operation,
    SessionRun,
    SourceLine,
    observe_all,
)
from tfteach.framework.op_traits import Flow
from tfteach.ops.core.identity_reshape import Identity

__all__ = ["RowStep", "RowTrack", "RowUpdates", "watch_rows"]

Rows = np.ndarray[Any, np.dtype[np.int64]]

# Larger variables are not copied before each run.
MAX_ELEMENTS = 1 << 24
MAX_STEPS = 200
MOST_LINES = 24


class RowStep(NamedTuple):
    """What one run did to the rows of a variable.

    Attributes:
      fetches: the names of what it fetched.
      source: the line that called `Session.run`, or None.
      read: int64 array, ascending: the rows that ops selected by index.
      moved: int64 array, ascending: the rows whose values changed.
      distances: float64 array: the Euclidean distance by which each of them moved.
    """

    fetches: tuple[str, ...]
    source: SourceLine | None
    read: Rows
    moved: Rows
    distances: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def unread(self) -> Rows:
        """The rows that moved although the run did not read them."""
        return np.setdiff1d(self.moved, self.read, assume_unique=True)


@dataclass
class RowTrack:
    """A variable of one session, step by step; `print` it.

    Attributes:
      variable: the name of its op.
      session: the name of the session.
      shape: its shape.
      slot_of: for a slot of an optimizer the name of the variable it belongs to, with
        whose `read` rows its moves are compared; "" otherwise.
      slots: the names of the variable's slots.
      steps: a `RowStep` for each of the last 200 runs that read rows or moved some.
      forgotten: the number of steps before these.
    """

    variable: str
    session: str
    shape: tuple[int, ...]
    slot_of: str = ""
    slots: tuple[str, ...] = ()
    steps: list[RowStep] = field(default_factory=list)
    forgotten: int = 0

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def moves(self) -> int:
        """The number of rows moved, summed over the steps."""
        return sum(len(step.moved) for step in self.steps)

    @property
    def unread_moves(self) -> int:
        """The number of them that their step did not read."""
        return sum(len(step.unread) for step in self.steps)

    def rows_read(self) -> Rows:
        """All rows that some step read, ascending."""
        parts = [step.read for step in self.steps]
        return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)

    @property
    def verdict(self) -> str:
        """What the moves say about the optimizer, in a sentence or two."""
        count, unread = self.moves, self.unread_moves
        if not count:
            return "No row moved."
        if not unread:
            return f"Each of the {_times(count)} a row moved, its step had read it."
        text = f"{unread:,} of {_times(count)}, a row moved that its step did not read"
        if self._moves_rows_never_read():
            return (
                f"{text}, also rows that no step has read: the gradient reaches all "
                "rows, as that of a regularizer does."
            )
        slots = f" through its slots {' and '.join(self.slots)}" if self.slots else ""
        return (
            f"{text}: the optimizer goes on moving rows of earlier steps{slots}. "
            "tf.contrib.opt.LazyAdamOptimizer moves only the rows that a step reads."
        )

    def _moves_rows_never_read(self) -> bool:
        seen = np.zeros(0, np.int64)
        for step in self.steps:
            seen = np.union1d(seen, step.read)
            if len(np.setdiff1d(step.moved, seen, assume_unique=True)):
                return self.forgotten == 0
        return False

    def __str__(self) -> str:
        count = len(self.steps)
        sizes = " x ".join(f"{n:,}" for n in self.shape)
        lines = [
            f"{self.variable} ({sizes}) in {self.session}, {count} "
            f"step{'' if count == 1 else 's'}",
            self.verdict,
        ]
        shown, others = chosen_rows(self, MOST_LINES)
        width = len(f"{max(shown, default=0)}")
        for row in shown:
            marks = "".join(_mark(step, row) for step in self.steps)
            lines.append(f"  row {row:>{width}}  {marks}")
        if others:
            lines.append(f"  and {others:,} rows more")
        lines.append("  █ read and moved  ▒ moved, not read  ○ read, not moved")
        return "\n".join(lines)


class RowUpdates:
    """The recorded variables; `print` it for a picture of each.

    Attributes:
      tracks: a `RowTrack` for each variable of each session whose rows were selected by
        index, followed by its slots.
      skipped: the names of variables that are too large to be compared.
    """

    def __init__(self) -> None:
        self.tracks: list[RowTrack] = []
        self.skipped: list[str] = []
        self._by_key: dict[tuple[int, str], RowTrack] = {}
        self._sessions: list[BaseSession] = []  # their ids stay unique
        self._lock = threading.Lock()

    def track(self, variable: str = "", session: str = "") -> RowTrack:
        """The only recorded variable, or the one of that name.

        Args:
          variable: the name of its op; "" for the only one that is no slot.
          session: the name of its session; "" for the only one.

        Raises:
          ValueError: there is none, or there are several.
        """
        found = [
            track
            for track in self.tracks
            if (track.variable == variable if variable else not track.slot_of)
            and session in ("", track.session)
        ]
        if len(found) == 1:
            return found[0]
        names = [f"{track.variable} in {track.session}" for track in found]
        raise ValueError(
            f"expected one recorded variable, got {', '.join(names) or 'none'}: name "
            "the variable and the session"
        )

    def note(self, event: SessionRun, source: SourceLine | None) -> None:
        """Follow a run that is about to start.

        Args:
          event: the run.
          source: the line that called `Session.run`, or None.
        """
        follower = _Reads()
        event.followers.append(follower)
        session = event.session
        before = {
            op: np.array(to_host(cell.value))
            for op in variables_of(session.graph)
            if (cell := cell_of(session, op)) is not None
            and cell.is_initialized
            and self._can_compare(op, cell.value)
        }
        names = tuple(element.name for element in event.fetches)

        def ended(error: BaseException | None) -> None:
            with self._lock:
                self._add(session, before, follower.read, names, source)

        event.at_end.append(ended)

    def _can_compare(self, op: Operation, value: Any) -> bool:
        if value.ndim == 0 or value.dtype.kind not in "fiuc":
            return False
        if value.size > MAX_ELEMENTS:
            if op.name not in self.skipped:
                self.skipped.append(op.name)
            return False
        return True

    def _add(
        self,
        session: BaseSession,
        before: dict[Operation, Any],
        read: dict[str, list[Any]],
        names: tuple[str, ...],
        source: SourceLine | None,
    ) -> None:
        for op in list(before):
            if op.name in read:
                self._begin(session, op, before)
        for op, old in before.items():
            track = self._by_key.get((id(session), op.name))
            cell = cell_of(session, op)
            if track is None or cell is None or cell.value.shape != old.shape:
                continue
            rows = _as_rows(read.get(track.slot_of or op.name, ()), track.row_count)
            moved, distances = _moved(old, np.asarray(to_host(cell.value)))
            if len(rows) or len(moved):
                track.steps.append(RowStep(names, source, rows, moved, distances))
                if len(track.steps) > MAX_STEPS:
                    track.steps.pop(0)
                    track.forgotten += 1

    def _begin(
        self, session: BaseSession, op: Operation, before: dict[Operation, Any]
    ) -> None:
        """A track of the variable and of each of its slots, unless there is one."""
        if (id(session), op.name) in self._by_key:
            return
        shape = before[op].shape
        slots = [
            other
            for other, value in before.items()
            if other.name.startswith(f"{op.name}/") and value.shape == shape
        ]
        self._sessions.append(session)
        name = default_name(session)
        own = RowTrack(op.name, name, shape, "", tuple(o.name for o in slots))
        for track in (own, *(RowTrack(o.name, name, shape, op.name) for o in slots)):
            self.tracks.append(track)
            self._by_key[id(session), track.variable] = track

    def __str__(self) -> str:
        lines = [str(track) for track in self.tracks if not track.slot_of]
        if self.skipped:
            lines.append(
                f"Not compared, with more than {MAX_ELEMENTS:,} elements: "
                f"{', '.join(self.skipped)}"
            )
        return "\n\n".join(lines) or "No run selected rows of a variable."


def chosen_rows(track: RowTrack, most: int) -> tuple[list[int], int]:
    """The rows to show, ascending, and the number of others.

    All rows, if they are few; otherwise those that the steps read, the latest first.
    """
    if track.row_count <= most:
        return list(range(track.row_count)), 0
    chosen: dict[int, None] = {}
    for step in reversed(track.steps):
        for row in step.read.tolist():
            if len(chosen) < most:
                chosen[row] = None
    return sorted(chosen), track.row_count - len(chosen)


@contextmanager
def watch_rows() -> Iterator[RowUpdates]:
    """Record the rows that every `Session.run` inside a `with` block reads and moves.

    Variables whose rows an op selects by index are recorded, in any session and graph,
    with the slots of their optimizers. Their values are copied before each run, and the
    runs are followed op by op, which is slower.

    Returns:
      A context manager; `with` assigns a `RowUpdates`, which fills as the block
      executes.

    Example:
      >>> emb = tf.get_variable("emb", [3, 2], initializer=tf.ones_initializer())
      >>> ids = tf.placeholder(tf.int32, [None])
      >>> loss = tf.reduce_sum(tf.nn.embedding_lookup(emb, ids) ** 2)
      >>> train = tf.train.AdamOptimizer(0.1).minimize(loss)
      >>> with tf.Session() as sess, watch_rows() as rows:
      ...     sess.run(tf.global_variables_initializer())
      ...     for batch in ([0], [1], [0]):
      ...         sess.run(train, {ids: batch})
      >>> [step.moved.tolist() for step in rows.track().steps]
      [[0], [0, 1], [0, 1]]
      >>> rows.track().unread_moves
      2
    """
    seen = RowUpdates()

    def note(event: OpAdded | SessionRun) -> None:
        if isinstance(event, SessionRun):
            seen.note(event, user_line())

    with observe_all(note):
        yield seen


class _Reads(ValueObserver):
    """Collects the indices by which the ops of a run select rows of variables.

    Attributes:
      read: the name of a variable's op -> arrays of indices.
    """

    def __init__(self) -> None:
        self.read: dict[str, list[Any]] = {}

    def takes(self, node: Node, values: Sequence[Any], iterations: Iterations) -> None:
        if not node.op.inputs or len(values) != len(node.inputs):
            return
        rows = node.op.spec.rows_read(*values)
        variable = None if rows is None else _variable_behind(node.op)
        if variable is not None:
            self.read.setdefault(variable.name, []).append(np.array(to_host(rows)))

    def before(self, instruction: Any) -> None:
        return None

    def after(self, instruction: Any, results: Sequence[Any]) -> None:
        return None

    def release(self, instruction: Any) -> None:
        return None


def _variable_behind(op: Operation) -> Operation | None:
    """The variable whose value, unchanged, is the op's first input."""
    op = op.inputs[0].op
    while not op.spec.returns_handle:
        spec = op.spec
        passes = isinstance(spec, Identity) or spec.reads_variable
        if not passes and spec.flow not in (Flow.ENTER, Flow.SWITCH):
            return None
        op = op.inputs[0].op
    return op


def _as_rows(parts: Sequence[Any], row_count: int) -> Rows:
    if not parts:
        return np.zeros(0, np.int64)
    rows = np.unique(np.concatenate([part.reshape(-1) for part in parts]))
    rows = rows.astype(np.int64)
    return rows[(rows >= 0) & (rows < row_count)]  # others made the run fail


def _moved(old: Any, new: Any) -> tuple[Rows, np.ndarray[Any, np.dtype[np.float64]]]:
    """The rows that differ, and the distances between them."""
    rows_of = len(old), old.size // max(1, len(old))
    old, new = old.reshape(rows_of), new.reshape(rows_of)
    differs = (old != new) & ((old == old) | (new == new))  # a NaN remains a NaN
    rows = np.flatnonzero(differs.any(axis=1))
    kind = np.complex128 if old.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        change = new[rows].astype(kind) - old[rows].astype(kind)
        distances = np.linalg.norm(change, axis=1)
    return rows.astype(np.int64), distances


def _mark(step: RowStep, row: int) -> str:
    has_moved, was_read = _holds(step.moved, row), _holds(step.read, row)
    if has_moved:
        return "█" if was_read else "▒"
    return "○" if was_read else "·"


def _holds(ascending: Rows, row: int) -> bool:
    at = int(np.searchsorted(ascending, row))
    return at < len(ascending) and int(ascending[at]) == row


def _times(count: int) -> str:
    return f"{count:,} time{'' if count == 1 else 's'}"
