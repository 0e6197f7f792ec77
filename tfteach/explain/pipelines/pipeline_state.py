"""Pipelines as they are now, without a watched run: stages, queues, threads, waits."""

from __future__ import annotations

from typing import Any

from tfteach.engine.session.base_session import BaseSession
from tfteach.explain.pipelines.pipelines import explain_pipelines
from tfteach.explain.pipelines.queue_waits import queue_states, waits_for
from tfteach.explain.pipelines.rivers import River, StageRate, StepRate

__all__ = ["pipelines_now"]


def pipelines_now(where: Any = None) -> list[River]:
    """The pipelines of a graph or session, with what their queues hold now.

    Args:
      where: a session, whose queues and threads are looked at; or a `tf.Graph`, of
        which only the stages are known. By default the default graph.

    Returns:
      A list of `River` without rates.

    Example:
      >>> queue = tf.FIFOQueue(10, tf.float32, [[]])
      >>> add, take = queue.enqueue(1.0), queue.dequeue()
      >>> with tf.Session() as sess:
      ...     sess.run(add)
      ...     (river,) = pipelines_now(sess)
      >>> print(river.queues["fifo_queue"])
      fifo_queue: 1 of 10
    """
    session = where if isinstance(where, BaseSession) else None
    queues = {} if session is None else queue_states(session)
    waits = [] if session is None else waits_for(session)
    found = []
    for pipeline in explain_pipelines(where):
        keys = {stage.key for stage in pipeline.stages}
        ours = {name: state for name, state in queues.items() if name in keys}
        rates = {
            name: StageRate(held=state.size, capacity=state.capacity)
            for name, state in ours.items()
        }
        found.append(
            River(
                pipeline,
                StepRate(),
                rates,
                ours,
                [wait for wait in waits if wait.queue in keys],
            )
        )
    return found
