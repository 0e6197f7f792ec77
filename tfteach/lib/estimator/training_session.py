"""The session that trains an Estimator's model, with its hooks.

Source: tensorflow_estimator/python/estimator/estimator.py.
"""

from __future__ import annotations

from typing import Any, Protocol

from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import add_to_collection, get_collection
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.estimator.cluster_settings import TaskType
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.files.checkpoint_management import latest_checkpoint
from tfteach.lib.files.checkpoint_reader import load_variable
from tfteach.lib.files.saver import Saver
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.checkpoints import (
    CheckpointSaverHook,
    CheckpointSaverListener,
)
from tfteach.lib.training.hooks.logged_values import LoggingTensorHook, StepCounterHook
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.hooks.stopping import NanTensorHook
from tfteach.lib.training.hooks.summaries import SummarySaverHook
from tfteach.lib.training.monitored_training_session import MonitoredTrainingSession
from tfteach.ops.debug.summary_functions import scalar


class TrainedOps(Protocol):
    """What the training loop needs of a model's ops."""

    @property
    def loss(self) -> Any:
        """The loss, a scalar Tensor."""

    @property
    def train_op(self) -> Any:
        """What a step runs."""

    @property
    def scaffold(self) -> Any:
        """The Scaffold."""

    @property
    def training_hooks(self) -> Any:
        """Hooks of the training."""

    @property
    def training_chief_hooks(self) -> Any:
        """Hooks of the chief's training."""


def global_step_of(folder: PathLike) -> int:
    """The global step of the newest checkpoint in a directory; 0 without one."""
    path = latest_checkpoint(folder)
    return 0 if path is None else int(load_variable(path, GraphKeys.GLOBAL_STEP))


def train_by_spec(
    spec: EstimatorSpec,
    config: RunConfig,
    model_dir: str,
    session_config: Proto,
    hooks: list[SessionRunHook],
    listeners: list[CheckpointSaverListener],
) -> Any:
    """Run the train op until a hook or the input's end stops it: the last loss."""
    if not any(s.op.name == "loss" for s in get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    return train_by_ops(
        spec,
        config,
        model_dir,
        session_config,
        hooks,
        listeners,
        config.log_step_count_steps,
        config.log_step_count_steps,
    )


def train_by_ops(
    spec: TrainedOps,
    config: RunConfig,
    model_dir: str,
    session_config: Proto,
    hooks: list[SessionRunHook],
    listeners: list[CheckpointSaverListener],
    shown_every_steps: int | None,
    speed_every_steps: int | None,
) -> Any:
    """`train_by_spec` of any ops, which logs loss and speed at its own intervals."""
    add_to_collection(GraphKeys.LOSSES, spec.loss)
    every = [*hooks, NanTensorHook(spec.loss)]
    if shown_every_steps is not None:
        shown = {"loss": spec.loss, "step": get_global_step()}
        every.append(LoggingTensorHook(shown, every_n_iter=shown_every_steps))
    every.extend(spec.training_hooks)
    if spec.scaffold.saver is None and not get_collection(GraphKeys.SAVERS):
        saver = Saver(
            sharded=True,
            max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        add_to_collection(GraphKeys.SAVERS, saver)
    summary_steps = config.save_summary_steps
    if _has_master_and_workers(config):  # the master's evaluations would delay them
        every.extend(_first_workers_hooks(spec, config))
        summary_steps, speed_every_steps = 0, None
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=model_dir,
        scaffold=spec.scaffold,
        hooks=every,
        chief_only_hooks=[
            *_saving_hooks(spec, config, model_dir, every, listeners),
            *spec.training_chief_hooks,
        ],
        save_checkpoint_secs=0,  # a hook of its own does it
        save_summaries_steps=summary_steps,
        config=session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=speed_every_steps,
    ) as session:
        loss, ran = None, False
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
            ran = True
    if not ran:
        get_logger().warning(
            "Training with estimator made no steps. Perhaps input is empty or "
            "misspecified."
        )
    return loss


def _has_master_and_workers(config: RunConfig) -> bool:
    return {TaskType.MASTER, TaskType.WORKER} <= set(config.cluster_spec.jobs)


def _first_workers_hooks(spec: TrainedOps, config: RunConfig) -> list[SessionRunHook]:
    """What writes summaries and speed where the master evaluates."""
    hooks: list[SessionRunHook] = []
    if config.task_type != TaskType.WORKER or config.task_id != 0:
        return hooks
    folder = config.model_dir
    if config.save_summary_steps:
        hooks.append(
            SummarySaverHook(
                save_steps=config.save_summary_steps,
                output_dir=folder,
                scaffold=spec.scaffold,
            )
        )
    if config.log_step_count_steps:
        hooks.append(
            StepCounterHook(
                every_n_steps=config.log_step_count_steps, output_dir=folder
            )
        )
    return hooks


def _saving_hooks(
    spec: TrainedOps,
    config: RunConfig,
    model_dir: str,
    hooks: list[SessionRunHook],
    listeners: list[CheckpointSaverListener],
) -> list[SessionRunHook]:
    """The hook that saves, unless the caller has one; listeners go to the first."""
    every = [*hooks, *spec.training_chief_hooks]
    saving = [hook for hook in every if isinstance(hook, CheckpointSaverHook)]
    added: list[SessionRunHook] = []
    steps, secs = config.save_checkpoints_steps, config.save_checkpoints_secs
    if not saving and (steps or secs):
        hook = CheckpointSaverHook(
            model_dir, save_secs=secs, save_steps=steps, scaffold=spec.scaffold
        )
        added, saving = [hook], [hook]
    if listeners and not saving:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set "
            "one of the RunConfig.save_checkpoints_steps or "
            "RunConfig.save_checkpoints_secs."
        )
    if listeners:
        known = saving[0]._listeners
        saving[0]._listeners = [*known, *(i for i in listeners if i not in known)]
    return added
