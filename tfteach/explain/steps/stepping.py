"""Recording a run op by op, to step through it forward and backward.

The executor runs the step; an observer records the inputs and outputs of each op.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tfteach.engine.session.fetches import Fetches
from tfteach.engine.session.targets import NO_STEP
from tfteach.engine.session.unfolded import is_unfolded
from tfteach.engine.session.unfolded import unfolded as as_graph
from tfteach.explain.graphs.function_bodies import function_scopes
from tfteach.explain.runs.folding import folded_run
from tfteach.explain.steps.recording import LoopRun, Recording, Step
from tfteach.explain.steps.step_recorder import StepLog, StepRecorder, When
from tfteach.framework.errors import OpError
from tfteach.framework.functions.body import Body
from tfteach.framework.graph import Graph
from tfteach.framework.type_aliases import FeedDict

__all__ = ["LoopRun", "Recording", "Step", "record"]


MAX_BYTES = 64 << 20


MAX_STEPS = 100_000


def record(
    session: Any,
    fetches: Any,
    feed_dict: FeedDict | None = None,
    *,
    when: When | None = None,
    max_bytes: int = MAX_BYTES,
    max_steps: int = MAX_STEPS,
    unfolded: bool = False,
) -> Recording:
    """Run once and record every op.

    The run has its usual effects: variables change. Ops appear in the order in which
    the executor runs them; ops that were pruned, folded or merged have no step. An op
    that fails ends the recording, not the program.

    Functions that kernels call, such as those that datasets map over their elements,
    are recorded op by op, too: each call is an iteration of its scope. Elements that
    other threads prepare (`prefetch`, parallel calls) have no steps; `elements_of`
    shows them.

    Args:
      session: an open session.
      fetches: as for `session.run`.
      feed_dict: as for `session.run`.
      when: called as `when(step, *arrays)` after each op with its outputs (None for
        resources such as tables); if it returns True, the step is added to
        `Recording.stops`.
      max_bytes: the memory for copies of small arrays; beyond it only descriptions are
        kept.
      max_steps: the number of steps to record; further ones are only counted.
      unfolded: True to run every op, constants included, without the optimizer.

    Returns:
      A `Recording`.

    Raises:
      ValueError: as for `session.run`.
      TypeError: as for `session.run`.
      NotImplementedError: servers run the session's steps.
      Exception: the exception that `when` raised, after the run has ended.

    Example:
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> loss = tf.reduce_sum(tf.log(x, name="log"), name="loss")
      >>> with tf.Session() as sess:
      ...     run = record(sess, loss, {x: [1.0, 0.0]})
      >>> print(run)
         0  log   Log  [ 0., -inf]
         1  loss  Sum  -∞
      >>> run.spoilers()
      [0]
    """
    if session._remote is not None:
        raise NotImplementedError(NO_STEP)
    unfolded = unfolded or is_unfolded()
    log = StepLog(when, max_bytes, max_steps)
    recorder = StepRecorder(log)
    functions = _FunctionCalls(log, session.graph)
    result, error = None, None
    try:
        with as_graph(unfolded):
            result = session.follow(
                fetches, feed_dict, [recorder], recorder.begin, functions.observers
            )
    except OpError as raised:
        error = raised
    if log.problem is not None:
        raise log.problem
    failed = None
    if error is not None:
        failed = functions.running() or recorder.running()
    return Recording(
        log.steps,
        result,
        error,
        graph=session.graph,
        fetches=_names_in(session.graph, fetches),
        fed=tuple(recorder.fed.values()),
        functions=functions.scopes,
        failed=failed,
        stops=log.stops,
        dropped=log.dropped,
        missed=log.missed,
        folded=folded_run(session, fetches, feed_dict, unfolded),
        unfolded=unfolded,
    )


def _names_in(graph: Graph, fetches: Any) -> list[str]:
    return [element.name for element in Fetches(graph, fetches).elements]


class _FunctionCalls:
    """Recorders for the functions that kernels call, such as those of datasets.

    Their steps have the names that the functions' ops have in pictures; each call of a
    function is an iteration of its scope.
    """

    def __init__(self, log: StepLog, graph: Graph) -> None:
        self._log, self._graph = log, graph
        self._scopes: dict[str, str] | None = None
        self._calls: Counter[str] = Counter()
        self._last: StepRecorder | None = None

    def observers(self, body: Body) -> list[StepRecorder]:
        """The observers of one call."""
        if self._scopes is None:
            self._scopes = function_scopes(self._graph.as_graph_def())
        scope = self._scopes.get(body.name, f"{body.name}/")
        number = self._calls[scope]
        self._calls[scope] += 1
        self._last = StepRecorder(self._log, scope, ((scope[:-1], number),))
        return [self._last]

    @property
    def scopes(self) -> list[str]:
        """The scopes of the functions that were called."""
        return [scope[:-1] for scope in self._calls]

    def running(self) -> Step | None:
        """The op of a function that is running, as a step."""
        return None if self._last is None else self._last.running()
