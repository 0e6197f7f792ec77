"""Iterators in checkpoints.

Source: python/data/experimental/ops/iterator_ops.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import PathLike, SessionLike
from tfteach.lib.data.iterator import ITERATORS, Iterator
from tfteach.lib.data.iterator_saveable import IteratorSaveable
from tfteach.lib.files.checkpoint_management import latest_checkpoint
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.lib.files.saver import Saver
from tfteach.lib.training.hooks.checkpoints import CheckpointSaverHook
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

if TYPE_CHECKING:
    from tfteach.lib.estimator.estimator import Estimator
    from tfteach.lib.queues.coordinator import Coordinator

_LATEST = "checkpoint_input"


def _saveable(resource: Tensor) -> SaveableObject:
    return IteratorSaveable(resource, resource.name, "-state")


@export(
    "data.experimental.make_saveable_from_iterator",
    "contrib.data.make_saveable_from_iterator",
)
def make_saveable_from_iterator(iterator: Iterator) -> SaveableObject:
    """An object by which a Saver saves and restores the position of an iterator.

    A restored iterator continues behind the elements that had been drawn, also in a
    dataset that is shuffled without seed: it draws these elements again, so that the
    functions of the dataset are called again.  The iterator must be initialized first.

    Args:
      iterator: a `tf.data.Iterator`.

    Returns:
      An object for `tf.train.Saver` and for `tf.GraphKeys.SAVEABLE_OBJECTS`.

    Raises:
      tf.errors.FailedPreconditionError: when it is saved or restored: the iterator has
        not been initialized, or a function of its dataset has state, such as a
        `tf.py_func`, a variable or random numbers.

    Example:
      >>> iterator = tf.data.Dataset.range(10).make_initializable_iterator()
      >>> saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
      >>> saver = tf.train.Saver([saveable])
    """
    return _saveable(iterator._iterator_resource)


class _IteratorSaver(Saver):
    """Saves all iterators of the default graph, in checkpoints beside the model's."""

    def __init__(self) -> None:
        resources = get_default_graph().get_collection(ITERATORS)
        super().__init__([_saveable(resource) for resource in resources], sharded=True)

    def save(
        self,
        sess: SessionLike,
        save_path: PathLike,
        global_step: Any = None,
        latest_filename: str | None = None,
        *arguments: Any,
        **options: Any,
    ) -> str | None:
        return super().save(
            sess, save_path, global_step, latest_filename or _LATEST, *arguments,
            **options,
        )  # fmt: skip


@export(
    "data.experimental.CheckpointInputPipelineHook",
    "contrib.data.CheckpointInputPipelineHook",
)
class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the positions of all iterators as often as an Estimator its variables.

    Training that is taken up again continues with the elements that were not drawn.
    The checkpoints are called "input.ckpt" and have a file "checkpoint_input".

    Args:
      estimator: a `tf.estimator.Estimator`, whose directory and intervals to use.

    Raises:
      tf.errors.FailedPreconditionError: see `make_saveable_from_iterator`.

    Example:
      >>> hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
      >>> estimator.train(input_fn, hooks=[hook])
    """

    def __init__(self, estimator: Estimator) -> None:
        config = estimator.config
        name = "input"
        if config.num_worker_replicas > 1:
            name = f"input_{config.task_type}_{config.task_id}"
        self._directory = estimator.model_dir
        self._hook = CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=f"{name}.ckpt",
        )
        self._is_first = True

    def begin(self) -> None:
        """Build the ops that save and restore."""
        if self._hook._saver is None:
            self._hook._saver = _IteratorSaver()
        self._hook.begin()

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        """Wait for the first run: only now iterators are initialized."""
        self._is_first = True

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Before the first run, restore the positions, or save them."""
        if self._is_first:
            self._is_first = False
            hook, session = self._hook, run_context.session
            found = latest_checkpoint(self._directory, _LATEST)
            if found is not None:
                hook._get_saver().restore(session, found)
            else:
                step = session.run(hook._global_step_tensor)
                hook._save(session, step)
                hook._timer.update_last_triggered_step(step)
        return self._hook.before_run(run_context)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Save if it is time."""
        self._hook.after_run(run_context, run_values)

    def end(self, session: SessionLike) -> None:
        """Save the last positions."""
        self._hook.end(session)
