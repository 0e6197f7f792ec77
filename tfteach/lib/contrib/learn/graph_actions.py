"""A loop of 2016 that trains a graph: `tf.contrib.learn.train`.

`graph_evaluation.py` evaluates one, and `graph_fetches.py` runs tensors without a loop.

Source: contrib/learn/python/learn/graph_actions.py.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.engine.session.session import Session
from tfteach.framework.errors import NotFoundError, OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import (
    FeedDict,
    FetchedValues,
    Fetches,
    PathLike,
    SessionLike,
    TensorLike,
)
from tfteach.lib.contrib.framework.variables import assert_or_get_global_step
from tfteach.lib.contrib.learn.graph_fetches import (
    check_directory,
    get_summary_writer,
    sharded_saver,
)
from tfteach.lib.contrib.learn.standard_monitors import (
    NanLossDuringTrainingError,
    get_default_monitors,
)
from tfteach.lib.contrib.learn.type_aliases import FeedFn
from tfteach.lib.files.checkpoint_reader import load_variable
from tfteach.lib.training.supervisor import Supervisor
from tfteach.lib.training.supervisor_setup import (
    first_or_new,
)
from tfteach.ops.debug.summary_functions import merge_all


def _run_with_monitors(
    session: SessionLike,
    step: int,
    tensors: Sequence[Tensor | Operation],
    feed_dict: FeedDict | None,
    monitors: Sequence[Any],
) -> tuple[dict[str, Any], bool]:
    """One step: the values by the tensors' names, and whether a monitor ends it."""
    names = {wanted if isinstance(wanted, str) else wanted.name for wanted in tensors}
    for monitor in monitors:
        for wanted in monitor.step_begin(step):
            names.add(wanted if isinstance(wanted, str) else wanted.name)
    fetched = sorted(names)
    outputs = dict(zip(fetched, session.run(fetched, feed_dict=feed_dict), strict=True))
    stops = False
    for monitor in monitors:
        stops = bool(monitor.step_end(step, outputs)) or stops
    return outputs, stops


def _trained_step(folder: str, name: str) -> int:
    try:
        return int(load_variable(folder, name))
    except (NotFoundError, ValueError):
        return 0


@export("contrib.learn.train", "contrib.learn.graph_actions.train")
def train(
    graph: Graph,
    output_dir: PathLike,
    train_op: Tensor | Operation,
    loss_op: Tensor,
    global_step_tensor: TensorLike | None = None,
    init_op: Fetches = None,
    init_feed_dict: FeedDict | None = None,
    init_fn: Callable[[Session], Any] | None = None,
    log_every_steps: int = 10,
    supervisor_is_chief: bool = True,
    supervisor_master: str = "",
    supervisor_save_model_secs: float | None = 600,
    keep_checkpoint_max: int = 5,
    supervisor_save_summaries_steps: int = 100,
    feed_fn: FeedFn | None = None,
    steps: int | None = None,
    fail_on_nan_loss: bool = True,
    monitors: Sequence[Any] | None = None,
    max_steps: int | None = None,
) -> FetchedValues:
    """Train a model under a Supervisor, from the newest checkpoint on.

    The graph is finalized.  At the end, and also after an error, there is a checkpoint.

    Args:
      graph: the graph.
      output_dir: the directory of checkpoints and event files.
      train_op: computes a step; it increments the global step.
      loss_op: the loss, a scalar.
      global_step_tensor: the global step; None for the graph's.
      init_op: initializes the model where there is no checkpoint; None for the
        initializer of global variables.
      init_feed_dict: its feeds.
      init_fn: called with the session after `init_op`.
      log_every_steps: the steps from one line with the loss to the next.
      supervisor_is_chief: whether it initializes the model and writes files.
      supervisor_master: the session's target.
      supervisor_save_model_secs: the seconds from one checkpoint to the next; None
        for one at the end.
      keep_checkpoint_max: how many checkpoints to keep.
      supervisor_save_summaries_steps: the steps from one summary to the next.
      feed_fn: returns the feeds of each step; ends the training by StopIteration.
      steps: how many steps to train; None for no limit.
      fail_on_nan_loss: whether to fail if the loss is NaN.
      monitors: `tf.contrib.learn.monitors`, in place of those that log the loss and
        write summaries.
      max_steps: the global step at which to end; None for no limit.

    Returns:
      The last step's loss; None if there was no step.

    Raises:
      ValueError: there is no directory, training op, loss or global step, or both
        `steps` and `max_steps`.
      NanLossDuringTrainingError: the loss is NaN.

    Example:
      >>> tf.contrib.learn.train(tf.get_default_graph(), "model", step, loss, steps=99)

    Source: contrib/learn/python/learn/graph_actions.py.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    folder = check_directory(output_dir)
    if train_op is None:
        raise ValueError("Missing train_op.")
    if loss_op is None:
        raise ValueError("Missing loss_op.")
    with graph.as_default():
        step_tensor = assert_or_get_global_step(graph, global_step_tensor)
        if step_tensor is None:
            raise ValueError('No "global_step" was provided or found in the graph.')
        start = _trained_step(folder, step_tensor.name)
        last = start + steps if steps else max_steps
        # The writer exists before the first error, as in TensorFlow.
        writer = get_summary_writer(folder) if supervisor_is_chief else None
        # Built even where the program's own monitors replace those of summaries.
        summary_op = first_or_new(GraphKeys.SUMMARY_OP, _merged_summaries)
        watching = list(monitors or ())
        if not watching:
            watching = list(
                get_default_monitors(
                    loss_op=loss_op,
                    summary_op=summary_op,
                    save_summary_steps=supervisor_save_summaries_steps,
                    summary_writer=writer,
                )
            )
        if not supervisor_is_chief:
            watching = [one for one in watching if one.run_on_all_workers]
        for monitor in watching:
            monitor.begin(max_steps=last)
        supervisor = Supervisor(
            graph=graph,
            init_op=init_op or Supervisor.USE_DEFAULT,
            init_feed_dict=init_feed_dict,
            is_chief=supervisor_is_chief,
            logdir=folder,
            saver=sharded_saver(graph, keep_checkpoint_max),
            global_step=step_tensor,
            summary_op=None,
            summary_writer=writer,
            save_model_secs=supervisor_save_model_secs,  # type: ignore[arg-type]
            init_fn=init_fn,
        )
        session = supervisor.prepare_or_wait_for_session(
            supervisor_master, start_standard_services=True
        )
        loop = _TrainingLoop(
            supervisor, session, step_tensor, start, last, watching, log_every_steps
        )
        return loop.run(train_op, loss_op, feed_fn, fail_on_nan_loss)


def _merged_summaries() -> Tensor | None:
    merged: Tensor | None = merge_all(name="MergeSummary")
    return merged


class _TrainingLoop:
    """The steps of `train`, in a session."""

    def __init__(
        self,
        supervisor: Supervisor,
        session: Session,
        global_step: Any,
        start: int,
        last: int | None,
        monitors: Sequence[Any],
        log_every_steps: int,
    ) -> None:
        self._supervisor = supervisor
        self._session = session
        self._global_step = global_step
        self._step = self._logged_step = start
        self._last = last
        self._monitors = monitors
        self._log_every_steps = log_every_steps
        self._loss: Any = None

    def run(
        self,
        train_op: Tensor | Operation,
        loss_op: Tensor,
        feed_fn: FeedFn | None,
        fail_on_nan_loss: bool,
    ) -> Any:
        """Train until the last step or the input's end; returns the last loss."""
        shown = "inf" if self._last is None else self._last
        get_logger().info("Training steps [%d,%s)", self._step, shown)
        try:
            while not self._ends():
                feed_dict = feed_fn() if feed_fn is not None else None
                if self._run_step(train_op, loss_op, feed_dict, fail_on_nan_loss):
                    break
        except OutOfRangeError as error:
            get_logger().warning(
                "Got exception during tf.learn training loop possibly due to "
                "exhausted input queue %s.",
                error.message,
            )
        except StopIteration:
            get_logger().info("Exhausted input iterarator.")
        finally:
            self._finish()
        return self._loss

    def _ends(self) -> bool:
        reached = self._last is not None and self._step >= self._last
        return reached or self._supervisor.should_stop()

    def _run_step(
        self,
        train_op: Tensor | Operation,
        loss_op: Tensor,
        feed_dict: FeedDict | None,
        fail_on_nan_loss: bool,
    ) -> bool:
        """One step; returns whether a monitor ends the training."""
        begun = time.time()
        outputs, stops = _run_with_monitors(
            self._session, self._step + 1, [train_op, loss_op], feed_dict,
            self._monitors,
        )  # fmt: skip
        self._loss = outputs[loss_op.name]
        if np.isnan(self._loss):
            message = "Model diverged with loss = NaN."
            if fail_on_nan_loss:
                get_logger().error(message)
                raise NanLossDuringTrainingError
            get_logger().warning(message)
        if stops:
            return True
        step = int(self._session.run(self._global_step))
        if step <= self._step:
            get_logger().error(
                "Global step was not incremented by train op at step %s: new step %d",
                self._step,
                step,
            )
        self._step = step
        is_due = step - self._logged_step >= self._log_every_steps
        if is_due or (self._last is not None and step >= self._last):
            get_logger().info(
                "training step %d, loss = %.5f (%.3f sec/batch).",
                step,
                self._loss,
                time.time() - begun,
            )
            self._logged_step = step
        return False

    def _finish(self) -> None:
        """Stop the threads, save the model, and end the monitors."""
        supervisor = self._supervisor
        try:
            # The threads end first: one may still be saving the first checkpoint, and
            # would report it as the newest.  The input's end, which a queue's thread
            # may report, is no error.
            with contextlib.suppress(OutOfRangeError):
                supervisor.stop(close_summary_writer=False)
        finally:
            if supervisor.is_chief:
                self._save()
                for monitor in self._monitors:
                    monitor.end()
            self._session.close()

    def _save(self) -> None:
        saver, path = self._supervisor.saver, self._supervisor.save_path
        step = int(self._session.run(self._global_step))
        get_logger().info(
            "Saving checkpoint for step %d to checkpoint: %s.", step, path
        )
        saver.save(self._session, path, global_step=step)
