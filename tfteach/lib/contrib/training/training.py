"""`tf.contrib.training.train`: the usual loop in one call.

Source: contrib/training/python/training/training.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.framework.export import export
from tfteach.framework.type_aliases import (
    FetchedValues,
    Fetches,
    PathLike,
    Proto,
)
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.monitored_training_session import MonitoredTrainingSession
from tfteach.lib.training.scaffold import Scaffold


@export("contrib.training.train")
def train(
    train_op: Fetches,
    logdir: PathLike | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Proto | None = None,
    max_wait_secs: float = 7200,
    run_metadata: Proto | None = None,
) -> FetchedValues:
    """Run a train op in a MonitoredTrainingSession until a hook stops it.

    Args:
      train_op: what to run, such as the result of
        `tf.contrib.training.create_train_op`.
      logdir: the directory of checkpoints and summaries; None for no files.
      master, is_chief, scaffold, hooks, chief_only_hooks, save_checkpoint_secs,
        save_summaries_steps, config, max_wait_secs: as in
        `tf.train.MonitoredTrainingSession`.
      run_metadata: a RunMetadata proto that is filled in by each run.

    Returns:
      The value of `train_op` in the last run; None if there was none.

    Raises:
      ValueError: there is no directory, but something to save.

    Example:
      >>> hooks = [tf.train.StopAtStepHook(num_steps=1000)]
      >>> loss = tf.contrib.training.train(train_op, "logs", hooks=hooks)

    Source: contrib/training/python/training/training.py.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError(
                "logdir cannot be None when save_summaries_steps is not None"
            )
        if save_checkpoint_secs:
            raise ValueError(
                "logdir cannot be None when save_checkpoint_secs is not None"
            )
    loss = None
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
