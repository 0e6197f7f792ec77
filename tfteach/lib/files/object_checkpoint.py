"""`tf.train.Checkpoint`: saves and restores objects with their variables.

Source: python/training/tracking/util.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tfteach.framework.dtypes import int64, string
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import pool
from tfteach.framework.trackable import (
    Trackable,
    no_automatic_dependency_tracking_scope,
)
from tfteach.framework.type_aliases import PathLike, SessionLike
from tfteach.lib.files import checkpoint_management as management
from tfteach.lib.files.checkpoint_reader import OBJECT_GRAPH_KEY
from tfteach.lib.files.data_structures import NoDependency
from tfteach.lib.files.functional_saver import save
from tfteach.lib.files.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    LoadStatus,
    NameBasedSaverStatus,
    default_session,
)
from tfteach.lib.files.object_graph import ObjectGraph, SaveableCache
from tfteach.lib.files.python_state import NoRestoreSaveable, PythonStateSaveable
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.lib.files.saver import Saver
from tfteach.lib.files.trackable import AutoTrackable
from tfteach.lib.functions.function import PolymorphicFunction
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.placeholder import placeholder
from tfteach.variables.base import Variable


@export("train.Checkpoint", "contrib.eager.Checkpoint", v2="train.Checkpoint")
class Checkpoint(AutoTrackable):
    """Saves and restores objects with their variables.

    Variables are found by the way that leads to them, such as `model/kernel` for
    `Checkpoint(model=layer)`, and not by their names, which may change.

    Args:
      **kwargs: variables, layers, optimizers, tables, other Checkpoints, and for
        `tf.saved_model.save` functions, which become attributes.  Lists and dicts of
        them can be set as attributes later.

    Attributes:
      save_counter: an int64 variable, incremented by `save`.

    Raises:
      ValueError: an object is none of these.

    Example:
      >>> layer = tf.layers.Dense(1)
      >>> optimizer = tf.train.AdamOptimizer(0.1)
      >>> train = optimizer.minimize(tf.reduce_sum(layer(tf.ones([1, 2]))))
      >>> checkpoint = tf.train.Checkpoint(model=layer, optimizer=optimizer)
      >>> with tf.Session() as session:
      ...     status = checkpoint.restore(tf.train.latest_checkpoint("objects"))
      ...     status.initialize_or_restore()
      ...     _ = session.run(train)
      ...     print(checkpoint.save("objects/model"))
      objects/model-1

    Source: python/training/tracking/util.py.
    """

    def __init__(self, **kwargs: Any) -> None:
        for name, item in sorted(kwargs.items()):
            if not isinstance(item, Trackable | PolymorphicFunction):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived "
                    f"from `TrackableBase`), got {item}. If you believe this object "
                    "should be trackable (i.e. it is part of the TensorFlow Python API "
                    "and manages state), please open an issue."
                )
            setattr(self, name, item)
        with no_automatic_dependency_tracking_scope(self):
            self._counter: Any = None
            self._increment: Any = None
            # Nodes are added once for the same objects, not at every call.
            self._savers: dict[Any, tuple[Saver, Any]] = {}
            self._cache = SaveableCache()

    @property
    def save_counter(self) -> Any:
        """An int64 variable: how often `save` was called."""
        if self._counter is None:
            make: Any = Variable  # its metaclass accepts the arguments
            restored = self._preload_simple_restoration("save_counter")
            with get_default_graph().device("/device:CPU:0"):
                made = make(
                    0 if restored is None else restored,
                    trainable=False,
                    name="save_counter",
                    dtype=int64,
                    use_resource=True,
                )
            self._counter = NoDependency(made)
            self._track_trackable(made, "save_counter")
        return self._counter

    def write(self, file_prefix: PathLike, session: SessionLike | None = None) -> str:
        """Write a checkpoint of exactly this path; see `save`.

        Args:
          file_prefix: the path.
          session: the session; the default session if None.  An eager program needs
            none.

        Returns:
          The path; in the body of a function a string Tensor.

        Raises:
          FailedPreconditionError: a variable is not initialized.
        """
        path = os.fsdecode(file_prefix)
        folder = file_system.dirname(path)
        if folder:
            file_system.makedirs(folder)
        if _runs_at_once():
            now: str = write_now(ObjectGraph(self), path)
            return now
        proto, saveables = ObjectGraph(self).saved(self._cache)
        data = proto.SerializeToString(deterministic=True)
        key = get_default_graph(), data
        if key not in self._savers:
            self._savers[key] = _saver(saveables)
        saver, held = self._savers[key]
        return _run(saver, {held: data}, saveables, path, session)

    def save(self, file_prefix: PathLike, session: SessionLike | None = None) -> str:
        """Write a checkpoint with the next number, and the file that lists it.

        Args:
          file_prefix: the path, to which "-1", "-2", ... is added.
          session: the session; the default session if None.

        Returns:
          The checkpoint's path, as `restore` accepts it.

        Raises:
          FailedPreconditionError: a variable is not initialized.

        Example:
          >>> checkpoint.save("logs/model", session)

        Source: python/training/tracking/util.py.
        """
        prefix = os.fsdecode(file_prefix)
        if get_default_graph().building_function:
            raise NotImplementedError(
                "Calling tf.train.Checkpoint.save() from a function is not supported, "
                "as save() modifies saving metadata in ways not supported by "
                "TensorFlow Operations. Consider using tf.train.Checkpoint.write(), a "
                "lower-level API which does not update metadata. "
                "tf.train.latest_checkpoint and related APIs will not see this "
                "checkpoint."
            )
        number = self.next_number(session)
        path = self.write(f"{prefix}-{number}", session)
        folder = file_system.dirname(prefix)
        management.write_checkpoint_state(folder, path, [path], None, True)
        return path

    def next_number(self, session: SessionLike | None) -> int:
        """Increment the counter, which is initialized if it is new."""
        if get_default_graph().is_eager:
            return int(self.save_counter.assign_add(1).numpy())
        session = default_session(session)
        if self._counter is None:
            session.run(self.save_counter.initializer)
        if self._increment is None:
            with get_default_graph().colocate_with(self._counter.op):
                self._increment = NoDependency(self._counter.assign_add(1))
        return int(session.run(self._increment))

    def restore(self, save_path: PathLike | None) -> LoadStatus:
        """Find the objects of a checkpoint among those of the program.

        In an eager program variables get their values at once; those that are made
        later, when they are made.  In a graph nothing is read into variables before
        `run_restore_ops` or `initialize_or_restore` of the result is called.

        Args:
          save_path: the path that `save` returned; None if there is none yet; or a
            `Saver`'s checkpoint, where variables are found by their names.

        Returns:
          A status with the methods `assert_consumed()`,
          `assert_existing_objects_matched()`, `assert_nontrivial_match()`,
          `run_restore_ops(session)`, `initialize_or_restore(session)` and
          `expect_partial()`.  When it is deleted, and nothing of the checkpoint can be
          found any more, a warning names what was not, unless `expect_partial()` was
          called.

        Raises:
          NotFoundError: there is no such checkpoint.

        Example:
          >>> status = checkpoint.restore(tf.train.latest_checkpoint("logs"))
          >>> status.assert_consumed().run_restore_ops(session)

        Source: python/training/tracking/util.py.
        """
        if save_path is None:
            _ = self.save_counter
            return InitializationOnlyStatus(self)
        path = os.fsdecode(save_path)
        data = read_checkpoint(path, _object_graph)
        status: LoadStatus
        if data is None:
            status = NameBasedSaverStatus(self, path)
        else:
            graph = pool.message("TrackableObjectGraph").FromString(data)
            status = CheckpointLoadStatus(self, path, graph)
        _ = self.save_counter
        return status


def _object_graph(reader: Any) -> bytes | None:
    if OBJECT_GRAPH_KEY not in reader:
        return None
    found: bytes = reader.read(OBJECT_GRAPH_KEY)[()]
    return found


def _runs_at_once() -> bool:
    """Whether ops run at once, or in a function's body."""
    graph = get_default_graph()
    return graph.is_eager or graph.building_function


def _saver(saveables: Sequence[SaveableObject]) -> tuple[Saver, Tensor]:
    """A Saver, and the placeholder for the graph of the objects."""
    held = placeholder(string, [], name="object_graph")
    held_graph = NoRestoreSaveable(held, OBJECT_GRAPH_KEY)
    return Saver([*saveables, held_graph], max_to_keep=None), held


def _run(
    saver: Saver,
    feeds: dict[Any, Any],
    saveables: Sequence[SaveableObject],
    path: str,
    session: SessionLike | None,
) -> str:
    names: Any = saver.as_saver_def()
    feeds[names.filename_tensor_name] = path
    for saveable in saveables:
        if isinstance(saveable, PythonStateSaveable):
            feeds.update(saveable.feed_dict_additions())
    written: bytes = default_session(session).run(names.save_tensor_name, feeds)
    return written.decode()


def write_objects(objects: ObjectGraph, path: str) -> None:
    """Write a checkpoint of objects; in a graph, the default session's values.

    Args:
      objects: the objects.
      path: the checkpoint's.
    """
    if _runs_at_once():
        write_now(objects, path)
        return
    proto, saveables = objects.saved(SaveableCache())
    data = proto.SerializeToString(deterministic=True)
    saver, held = _saver(saveables)
    _run(saver, {held: data}, saveables, path, None)


def write_now(objects: ObjectGraph, path: str) -> Any:
    """Write a checkpoint of objects by ops that run at once, or in a function's body.

    Args:
      objects: the objects.
      path: the checkpoint's.

    Returns:
      The path; in the body of a function a string Tensor.
    """
    graph = get_default_graph()
    with graph.device("/cpu:0"):
        prefix = constant(path)
    proto, made = objects.saved(SaveableCache())
    saveables = [s.freeze() if isinstance(s, PythonStateSaveable) else s for s in made]
    with graph.device("/cpu:0"):
        data = constant(proto.SerializeToString(deterministic=True))
    saved = save(prefix, [*saveables, NoRestoreSaveable(data, OBJECT_GRAPH_KEY)])
    with graph.device("/cpu:0"), graph.control_dependencies([saved]):
        written = identity(prefix)
    return path if graph.is_eager else written
