"""Checks of the lesson on Estimators and hooks."""

from __future__ import annotations

from typing import Any

import tfteach as tf

from .verdict import report

# ---- lesson 18

LOSSES = [0.9, 0.5, 0.31, 0.29, 0.35, 0.2]
LIMIT = 0.3


def check_stopping_hook(hook_class: Any) -> None:
    """Check that the hook stops after the first run with a loss below the limit."""
    report(_problem_of_hook, hook_class)


def _problem_of_hook(hook_class: Any) -> str | None:
    expected = next(i for i, loss in enumerate(LOSSES) if loss < LIMIT) + 1
    with tf.Graph().as_default():
        count = tf.Variable(-1, name="count")
        following = tf.assign_add(count, 1)
        loss = tf.gather(tf.constant(LOSSES), following, name="loss")
        hook = hook_class(loss.name, LIMIT)
        if not isinstance(hook, tf.train.SessionRunHook):
            return "`StopBelow(...)` is not a tf.train.SessionRunHook."
        runs = 0
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop() and runs < len(LOSSES):
                made = int(session.run(following)) + 1
                runs += 1
                if made > runs:
                    return (
                        f"{runs} runs of the loop became {made}: a `session.run` in "
                        "the hook makes one more. Return tf.train.SessionRunArgs from "
                        "`before_run` instead."
                    )
    losses = f"The losses were {', '.join(map(str, LOSSES[:runs]))}."
    if runs != expected:
        when = "did not stop" if runs == len(LOSSES) else f"stopped after {runs}"
        return (
            f"with the limit {LIMIT} it {when}, and should stop after {expected} runs. "
            f"{losses} Call `context.request_stop()` in `after_run`."
        )
    if getattr(hook, "runs", None) != expected:
        return (
            f"it stops in time, but `runs` is {getattr(hook, 'runs', None)!r} and not "
            f"{expected}."
        )
    return None
