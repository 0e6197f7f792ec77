"""`tf.train.Checkpoint`: saves and restores objects with their variables.

Source: python/training/tracking/util.py.
"""

from __future__ import annotations

import os
from typing import Any

from tfteach.framework.dtypes import int64, string
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.graph import get_default_graph
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import PathLike, SessionLike
from tfteach.lib.files import checkpoint_management as management
from tfteach.lib.files.checkpoint_reader import OBJECT_GRAPH_KEY
from tfteach.lib.files.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    LoadStatus,
    NameBasedStatus,
    default_session,
)
from tfteach.lib.files.saver import Saver
from tfteach.lib.files.trackable import (
    AutoTrackable,
    ObjectGraph,
    ObjectGraphSaveable,
    SaveableCache,
    is_trackable,
    match_awaited,
)
from tfteach.ops.core.placeholder import placeholder
from tfteach.variables.base import Variable


@export("train.Checkpoint")
class Checkpoint(AutoTrackable):
    """Saves and restores objects with their variables.

    Variables are found by the way that leads to them, such as `model/kernel` for
    `Checkpoint(model=layer)`, and not by their names, which may change.

    Args:
      **kwargs: variables, layers, optimizers, tables and other Checkpoints, which
        become attributes.  Lists and dicts of them can be set as attributes later.

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
            if not is_trackable(item):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived "
                    f"from `TrackableBase`), got {item}. If you believe this object "
                    "should be trackable (i.e. it is part of the TensorFlow Python API "
                    "and manages state), please open an issue."
                )
            setattr(self, name, item)
        self._counter: Any = None
        self._increment: Any = None
        # Nodes are added once for the same objects, not at every call.
        self._savers: dict[Any, tuple[Saver, Any]] = {}
        self._cache = SaveableCache()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        match_awaited(self)

    def __del__(self) -> None:
        match_awaited(self)  # lists may have grown

    def _checkpoint_children(self) -> dict[str, Any]:
        own = ("_counter", "_increment", "_savers")
        found = super()._checkpoint_children()
        found = {name: item for name, item in found.items() if name not in own}
        return (
            found if self._counter is None else {**found, "save_counter": self._counter}
        )

    @property
    def save_counter(self) -> Any:
        """An int64 variable: how often `save` was called."""
        if self._counter is None:
            make: Any = Variable  # its metaclass accepts the arguments
            with get_default_graph().device("/device:CPU:0"):
                self._counter = make(
                    0,
                    trainable=False,
                    name="save_counter",
                    dtype=int64,
                    use_resource=True,
                )
        return self._counter

    def write(self, file_prefix: PathLike, session: SessionLike | None = None) -> str:
        """Write a checkpoint of exactly this path; see `save`.

        Args:
          file_prefix: the path.
          session: the session; the default session if None.

        Returns:
          The path.

        Raises:
          FailedPreconditionError: a variable is not initialized.
        """
        graph, saveables = ObjectGraph(self).saved(self._cache)
        data = graph.SerializeToString(deterministic=True)
        key = get_default_graph(), data
        if key not in self._savers:
            held = placeholder(string, [], name="object_graph")
            saveables.append(ObjectGraphSaveable(held, OBJECT_GRAPH_KEY))
            self._savers[key] = Saver(saveables, max_to_keep=None), held
        saver, held = self._savers[key]
        names: Any = saver.as_saver_def()
        feeds = {names.filename_tensor_name: os.fsdecode(file_prefix), held: data}
        written: bytes = default_session(session).run(names.save_tensor_name, feeds)
        return written.decode()

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
        number = self.next_number(default_session(session))
        path = self.write(f"{prefix}-{number}", session)
        folder = file_system.dirname(prefix)
        management.write_checkpoint_state(folder, path, [path], None, True)
        return path

    def next_number(self, session: SessionLike) -> int:
        """Increment the counter, which is initialized if it is new."""
        if self._counter is None:
            session.run(self.save_counter.initializer)
        if self._increment is None:
            with get_default_graph().colocate_with(self._counter.op):
                self._increment = self._counter.assign_add(1)
        return int(session.run(self._increment))

    def restore(self, save_path: PathLike | None) -> LoadStatus:
        """Find the objects of a checkpoint among those of the program.

        Nothing is read into variables before `run_restore_ops` or
        `initialize_or_restore` of the result is called.

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
        _ = self.save_counter
        if data is None:
            return NameBasedStatus(self, path)
        graph = pool.message("TrackableObjectGraph").FromString(data)
        return CheckpointLoadStatus(self, path, graph)


def _object_graph(reader: Any) -> bytes | None:
    if OBJECT_GRAPH_KEY not in reader:
        return None
    found: bytes = reader.read(OBJECT_GRAPH_KEY)[()]
    return found
