"""Recording the graphs and sessions of a piece of code, and how each of them ends."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any

from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import InteractiveSession
from tfteach.explain.building.estimator_calls import inputs_of
from tfteach.explain.building.graph_lives import GraphLife, Kind, Made, SessionLife
from tfteach.explain.building.growth import Growth
from tfteach.explain.building.rebuilding import (
    Family,
    Rebuilding,
    families_of,
    judge_lives,
)
from tfteach.explain.building.rebuilding_text import text_of_lives
from tfteach.framework.call_origin import calling_module, user_line
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.graph import (
    Graph,
    GraphMade,
    OpAdded,
    Operation,
    SessionClosed,
    SessionRun,
    SourceLine,
    Subscription,
    Tensor,
    observe_all,
    observe_lifetimes,
)
from tfteach.framework.observers import InputsMade, Lived
from tfteach.framework.variable_cell import Cell
from tfteach.lib.estimator.feeding_queue_runner import FeedingQueueRunner
from tfteach.lib.estimator.input_fn import DatasetInitializerHook
from tfteach.lib.files.saver import Saver
from tfteach.lib.queues.queue_runner import QueueRunner
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.session_manager import SessionManager
from tfteach.lib.training.supervisor_threads import SVSummaryThread
from tfteach.ops.io.save_restore import RestoreV2

__all__ = ["GraphLog", "watch_graphs"]

MOST_GROWTHS = 4  # each keeps its graph alive
MOST_COUNTED = 30  # runs of a session after each of which its variables are counted
MOST_WALKED = 20_000  # ops among which a restore is looked for

# Modules that run a session on their own, and not for the program's line.
_OWN_RUNS = tuple(
    made.__module__
    for made in (
        SessionManager, DatasetInitializerHook, QueueRunner, FeedingQueueRunner,
        SVSummaryThread,
    )
)  # fmt: skip
_HOOKS = SessionRunHook.__module__.rpartition(".")[0] + "."


class GraphLog:
    """Records graphs and sessions while `watch_graphs` is active; `print` it.

    Recording costs about two microseconds for an op, and fifteen for a run. Only the
    graphs of `growths` are kept alive.

    Args:
      grown: called with each `Growth` as soon as it records; or None.
      changed: called after each session run and when a session opens or closes; or
        None.
      only: the graph to record; by default all.

    Attributes:
      graphs: a `GraphLife` for each graph that was built or run, in that order.
      growths: the number of a graph -> its `Growth`: of the first graph, and of the
        first of each further family, four at most.

    Example:
      >>> def predict(x):
      ...     with tf.Graph().as_default(), tf.Session() as sess:
      ...         return sess.run(tf.square(x))
      >>> with watch_graphs() as log:
      ...     _ = [predict(x) for x in [1.0, 2.0, 3.0]]
      >>> len(log.graphs), log.verdict.kind
      (3, 'rebuilt')
    """

    def __init__(
        self,
        grown: Callable[[Growth], Any] | None = None,
        changed: Callable[[], Any] | None = None,
        only: Graph | None = None,
    ) -> None:
        self.graphs: list[GraphLife] = []
        self.growths: dict[int, Growth] = {}
        self.grown, self.changed, self.only = grown, changed, only
        self.is_open = True
        self._start_s = perf_counter()
        self._made: weakref.WeakKeyDictionary[Graph, Made]
        self._made = weakref.WeakKeyDictionary()
        self._lives: weakref.WeakKeyDictionary[Graph, GraphLife]
        self._lives = weakref.WeakKeyDictionary()
        self._sessions: dict[int, SessionLife] = {}  # by their number in the process
        self._variables: dict[int, int] = {}  # initialized ones, by session
        self._thread = threading.get_ident()
        self.first_event = self._first_event  # each access makes a new object

    @property
    def sessions(self) -> list[SessionLife]:
        """The sessions of all graphs, in the order of their numbers."""
        return list(self._sessions.values())

    @property
    def main(self) -> tuple[GraphLife, Growth]:
        """The recorded graph that the worst finding is about, or the first graph.

        Raises:
          ValueError: no graph was built or run yet.
        """
        if not self.growths:
            raise ValueError("no graph was built or run yet, so none can be shown")
        family = self.verdict.family
        numbers = [] if family is None else [life.number for life in family.graphs]
        number = next((n for n in numbers if n in self.growths), min(self.growths))
        return self.graphs[number - 1], self.growths[number]

    def copies_of(self, life: GraphLife) -> list[GraphLife]:
        """The graphs that the same lines built after this one.

        Args:
          life: one of `graphs`.

        Returns:
          A list, in order.
        """
        family = next(f for f in families_of(self.graphs) if life in f.graphs)
        return [other for other in family.graphs if other.number > life.number]

    @property
    def not_grown(self) -> list[Family]:
        """The families of which no graph has a `Growth`."""
        return [
            family
            for family in families_of(self.graphs)
            if family.first.ops
            and not any(life.number in self.growths for life in family.graphs)
        ]

    @property
    def verdict(self) -> Rebuilding:
        """Is a graph, or a session, built again and again; by which line; the cure."""
        return judge_lives(self.graphs)

    def close(self) -> None:
        """Stop recording. What was recorded remains available."""
        if not self.is_open:
            return
        self.is_open = False
        for life in self.graphs:
            life.pause()
            graph = life.graph
            if graph is None:
                continue
            if life.made_by_first is None and life.ops_built:  # it was never run
                life.made_by_first = life.made_by
                self._grow_if_new(life, graph)
            Subscription(graph, life.observer).close()
        for growth in self.growths.values():
            growth.close()

    def __str__(self) -> str:
        return text_of_lives(self.graphs)

    # ---- recording

    def _now_s(self) -> float:
        return perf_counter() - self._start_s

    def lived(self, event: Lived) -> None:
        """Record that a graph was made, or a session opened or closed.

        Args:
          event: what happened.
        """
        now_s = self._now_s()  # before what a new graph's observers do
        if not self.is_open:
            return
        if isinstance(event, SessionClosed):
            session = self._sessions.get(event.number)
            if session is not None:
                session.end = "dropped" if event.is_dropped else "closed"
                session.ended_s = now_s
                self._tell()
        elif isinstance(event, InputsMade):
            if self._is_recorded(event.graph):
                self._life_of(event.graph).inputs = inputs_of(event)
        elif isinstance(event, GraphMade):
            if self._is_recorded(event.graph):
                self._made[event.graph] = Made(user_line(), now_s, thread_time())
        elif self._is_recorded(event.session.graph):
            life = self._life_of(event.session.graph)
            life.pause()
            session = self._session_of(event.session, life, user_line())
            session.time.add("open", event.began_s - self._start_s, now_s)
            self._tell()

    def _first_event(self, event: OpAdded | SessionRun) -> None:
        """Give a graph, at its first event, an observer of its own."""
        built = isinstance(event, OpAdded)
        graph = event.op.graph if isinstance(event, OpAdded) else event.session.graph
        if self._is_recorded(graph):
            self._life_of(graph, graph.version - built).observer(event)

    def _is_recorded(self, graph: Graph) -> bool:
        """Ignore functions, and graphs that only other threads use."""
        return (
            self.only in (None, graph)
            and not graph.building_function
            and threading.get_ident() == self._thread
        )

    def _life_of(self, graph: Graph, ops_before: int | None = None) -> GraphLife:
        life = self._lives.get(graph)
        if life is None:
            before = graph.version if ops_before is None else ops_before
            made = self._made.get(graph)
            number = len(self.graphs) + 1
            life = GraphLife(graph, number, made, self._start_s, before)
            self._lives[graph] = life
            self.graphs.append(life)
            life.observer = self._observer_of(life)
            graph.observe(life.observer)
            Subscription(graph, self.first_event).close()
        return life

    def _observer_of(self, life: GraphLife) -> Callable[[OpAdded | SessionRun], None]:
        def observer(event: OpAdded | SessionRun) -> None:
            # This delays the user's program.
            if isinstance(event, OpAdded):
                if not self.growths:
                    self._grow(life, event.op.graph)
                life.added(event.op)
            else:
                self._ran(life, event)

        return observer

    def _ran(self, life: GraphLife, event: SessionRun) -> None:
        is_first = life.made_by_first is None
        life.ran(user_line())
        if is_first:
            self._grow_if_new(life, event.session.graph, event)
        session = self._session_of(event.session, life, None)
        planner = event.session.planner
        programs, planning_s = planner.programs, planner.planning_s
        fetches = event.fetches
        real = weakref.ref(event.session)
        module = calling_module("engine", "explain")
        began_s = self._now_s()

        def ended(error: BaseException | None) -> None:
            now_s = self._now_s()
            compiled_s = min(now_s, began_s + planner.planning_s - planning_s)
            if planner.programs > programs:
                count = planner.programs - programs
                session.time.add("compile", began_s, compiled_s, count)
            kind = self._kind_of_run(real(), fetches, module)
            if life.inputs is not None and isinstance(error, OutOfRangeError):
                kind = "library"  # it only found the input's end
            session.time.add(kind, compiled_s, now_s)
            self._tell()

        event.at_end.append(ended)

    def _session_of(
        self, session: BaseSession, life: GraphLife, opened_at: SourceLine | None
    ) -> SessionLife:
        found = self._sessions.get(session.number)
        if found is None:
            found = SessionLife(
                len(self._sessions) + 1,
                opened_at,
                isinstance(session, InteractiveSession),
                0 if opened_at is None else InteractiveSession._active,
            )
            self._sessions[session.number] = found
            self._variables[session.number] = _initialized(session)
            life.sessions.append(found)
        return found

    def _kind_of_run(
        self,
        session: BaseSession | None,
        fetches: Sequence[Operation | Tensor],
        module: str,
    ) -> Kind:
        """What a run was for, as seen from its caller and from the variables."""
        own: Kind = "run"
        if module in _OWN_RUNS or module.startswith(_HOOKS):
            own = "library"
        if session is None:
            return own
        life = self._sessions[session.number]
        may_restore = module == SessionManager.__module__
        if life.time.counts["run"] < MOST_COUNTED or may_restore:
            before = self._variables[session.number]
            now = self._variables[session.number] = _initialized(session)
            if now > before:
                return "restore" if restores(fetches) else "initialize"
        if module == Saver.__module__:  # variables may have values before
            return "restore" if restores(fetches) else "library"
        return own

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()

    # ---- growths

    def _grow_if_new(
        self, life: GraphLife, graph: Graph, event: SessionRun | None = None
    ) -> None:
        """Record the growth of a graph unless it is like one before."""
        known = [
            other.made_by_first
            for other in self.graphs
            if other is not life and other.number in self.growths
        ]
        if life.number not in self.growths and life.made_by_first not in known:
            self._grow(life, graph, event)

    def _grow(
        self, life: GraphLife, graph: Graph, event: SessionRun | None = None
    ) -> None:
        if len(self.growths) >= MOST_GROWTHS:
            return
        growth = self.growths[life.number] = Growth(graph, life.ops_before)
        if event is not None:
            growth.note(event)
        if self.grown is not None:
            self.grown(growth)


def _initialized(session: BaseSession) -> int:
    """The number of a session's variables that have a value."""
    cells = [item for _, item in session.resources.items() if isinstance(item, Cell)]
    return sum(cell.is_initialized for cell in cells)


def restores(fetches: Sequence[Operation | Tensor]) -> bool:
    """Whether fetching these reads a checkpoint."""
    found = [f.op if isinstance(f, Tensor) else f for f in fetches]
    seen = set(found)
    while found and len(seen) < MOST_WALKED:
        op = found.pop()
        if isinstance(op.spec, RestoreV2):
            return True
        for other in [*[t.op for t in op.inputs], *op.control_inputs]:
            if other not in seen:
                seen.add(other)
                found.append(other)
    return False


@contextmanager
def watch_graphs() -> Iterator[GraphLog]:
    """Record all graphs and sessions that a `with` block builds, opens and runs.

    Returns:
      A context manager; `with` assigns a `GraphLog`, which is closed at the end of the
      block.

    Example:
      >>> with watch_graphs() as log:
      ...     with tf.Graph().as_default(), tf.Session() as sess:
      ...         y = tf.square(3.0)
      ...         _ = [sess.run(y) for _ in range(5)]
      >>> log.graphs[0].ops_built, log.sessions[0].runs
      (2, 5)
      >>> log.verdict.kind
      'clean'
    """
    log = GraphLog()
    with recording(log):
        yield log


@contextmanager
def recording(log: GraphLog) -> Iterator[None]:
    """Let a log record, in a `with` block; then close it."""
    try:
        with observe_all(log.first_event), observe_lifetimes(log.lived):
            yield
    finally:
        log.close()
