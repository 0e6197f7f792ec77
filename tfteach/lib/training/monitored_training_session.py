"""`tf.train.MonitoredTrainingSession`: a MonitoredSession with the usual hooks.

Source: python/training/monitored_session.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import (
    PathLike,
    Proto,
)
from tfteach.lib.training.hooks.checkpoints import CheckpointSaverHook
from tfteach.lib.training.hooks.logged_values import StepCounterHook
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.hooks.summaries import SummarySaverHook
from tfteach.lib.training.monitored_session import MonitoredSession
from tfteach.lib.training.scaffold import Scaffold
from tfteach.lib.training.session_creators import (
    ChiefSessionCreator,
    WorkerSessionCreator,
)

USE_DEFAULT: Any = object()


def _interval(
    steps: Any, secs: Any, default_steps: int | None, default_secs: float | None
) -> tuple[Any, Any]:
    """(steps, seconds): the default only where neither is given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    given = (None if value is USE_DEFAULT else value for value in (steps, secs))
    return next(given), next(given)


def _is_positive(value: Any) -> bool:
    return bool(value) and value > 0


@export("train.MonitoredTrainingSession")
def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: PathLike | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = USE_DEFAULT,
    save_summaries_steps: int | None = USE_DEFAULT,
    save_summaries_secs: float | None = USE_DEFAULT,
    config: Proto | None = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: int | None = USE_DEFAULT,
    summary_dir: PathLike | None = None,
) -> MonitoredSession:
    """A MonitoredSession that saves checkpoints and summaries, and logs its speed.

    It continues from the newest checkpoint in `checkpoint_dir`.

    Args:
      master: the session's target.
      is_chief: whether it initializes the variables and writes the files; otherwise it
        waits until the chief has.
      checkpoint_dir: the directory of the checkpoints; None to save none.
      scaffold: the ops that initialize and save; None for the default ones.
      hooks: SessionRunHooks.
      chief_only_hooks: more of them, if `is_chief`.
      save_checkpoint_secs: the seconds from one checkpoint to the next: 600, unless
        `save_checkpoint_steps` is given.  None or 0 for none.
      save_summaries_steps: the steps from one summary to the next: 100, unless
        `save_summaries_secs` is given.  None or 0 for none.
      save_summaries_secs: the seconds between summaries, in place of steps.
      config: the session's ConfigProto.
      stop_grace_period_secs: how long to wait for the threads when it is closed.
      log_step_count_steps: the steps from one measurement of the speed to the next;
        None or 0 for none.
      max_wait_secs: how long to wait for the chief, in seconds.
      save_checkpoint_steps: the steps between checkpoints, in place of seconds.
      summary_dir: the directory of the summaries; None for `checkpoint_dir`.

    Returns:
      The MonitoredSession.

    Raises:
      ValueError: an interval is given in steps and in seconds.
      RuntimeError: files are to be written, and the graph has no global step.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> train = tf.train.AdamOptimizer().minimize(loss, step)
      >>> with tf.train.MonitoredTrainingSession(checkpoint_dir="logs") as session:
      ...     while not session.should_stop():
      ...         session.run(train)

    Source: python/training/monitored_session.py.
    """
    summary_steps, summary_s = _interval(
        save_summaries_steps, save_summaries_secs, 100, None
    )
    checkpoint_steps, checkpoint_s = _interval(
        save_checkpoint_steps, save_checkpoint_secs, None, 600
    )
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    every = [*(chief_only_hooks or ())]
    folder = os.fspath(summary_dir or checkpoint_dir or "")
    if folder:
        if _is_positive(log_step_count_steps):
            counter = StepCounterHook(log_step_count_steps, output_dir=folder)
            every.append(counter)
        if _is_positive(summary_steps) or _is_positive(summary_s):
            every.append(
                SummarySaverHook(
                    save_steps=summary_steps,
                    save_secs=summary_s,
                    output_dir=folder,
                    scaffold=scaffold,
                )
            )
    if checkpoint_dir and (
        _is_positive(checkpoint_s) or _is_positive(checkpoint_steps)
    ):
        every.append(
            CheckpointSaverHook(
                checkpoint_dir,
                save_secs=checkpoint_s,
                save_steps=checkpoint_steps,
                scaffold=scaffold,
            )
        )
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, [*every, *(hooks or ())], stop_grace_period_secs)
