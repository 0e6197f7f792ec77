"""`tf.train.Checkpoint`: saves and restores objects with their variables.

Source: python/training/tracking/util.py.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn, Self

from tfteach.framework.defaults import get_default_session
from tfteach.framework.dtypes import int64, string
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import PathLike, SessionLike
from tfteach.lib.files import checkpoint_management as management
from tfteach.lib.files.checkpoint_reader import OBJECT_GRAPH_KEY
from tfteach.lib.files.saveable_variables import saveables_of
from tfteach.lib.files.saver import Saver
from tfteach.lib.files.trackable import (
    AutoTrackable,
    Matches,
    ObjectGraph,
    ObjectGraphSaveable,
    SaveableCache,
    is_trackable,
)
from tfteach.ops.core.placeholder import placeholder
from tfteach.variables.base import Variable


def _session(given: SessionLike | None) -> SessionLike:
    session = get_default_session() if given is None else given
    if session is None:
        raise ValueError(
            "No session: pass one, or call this inside `with tf.Session():`"
        )
    return session


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
        written: bytes = _session(session).run(names.save_tensor_name, feeds)
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
        number = self.next_number(_session(session))
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
          `expect_partial()`.

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


class LoadStatus:
    """What became of a restore; each method that returns the status can be chained."""

    def __init__(self, root: Checkpoint) -> None:
        self._root = root

    def assert_consumed(self) -> Self:
        """Raise AssertionError unless program and checkpoint have the same objects."""
        raise NotImplementedError

    def assert_existing_objects_matched(self) -> Self:
        """Raise AssertionError if the checkpoint lacks an object of the program."""
        raise NotImplementedError

    def assert_nontrivial_match(self) -> Self:
        """Raise AssertionError if nothing in the checkpoint is in the program, too."""
        raise NotImplementedError

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        """Set the variables to their values in the checkpoint."""
        raise NotImplementedError

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        """Set the variables to their values in the checkpoint, or initialize them."""
        raise NotImplementedError

    def expect_partial(self) -> Self:
        """The status: that a part is not restored is never warned of here."""
        return self


class CheckpointLoadStatus(LoadStatus):
    """The status of a checkpoint of `tf.train.Checkpoint`.

    Args:
      root: the object that it was restored to.
      path: the checkpoint.
      graph: its TrackableObjectGraph.
    """

    def __init__(self, root: Checkpoint, path: str, graph: Any) -> None:
        super().__init__(root)
        self._path, self._graph = path, graph
        self._saver: tuple[Any, Saver | None] = ((), None)

    def _matches(self) -> Matches:
        # Anew: objects may have been created since.
        return Matches(self._root, self._graph)

    def _unmatched(self, matches: Matches) -> list[Any]:
        """The program's objects that the checkpoint lacks."""
        matched = {id(item) for item in matches.by_node.values()}
        items = ObjectGraph(self._root).items()
        plain = [i for i in items if id(i) not in matched]
        return [i for i in plain if i or not isinstance(i, list | dict)]

    def assert_consumed(self) -> Self:
        matches = self._matches()
        self.assert_existing_objects_matched()
        for number, node in enumerate(self._graph.nodes):
            if number not in matches.by_node:
                raise AssertionError(
                    f"Unresolved object in checkpoint {matches.names.get(number)}: "
                    f"{node}"
                )
        _, unused = matches.saveables(self._root._cache)
        if unused:
            lines = [
                f"{matches.names[number]} ({matches.by_node[number]}): {name}"
                for number, name in unused.items()
            ]
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the "
                "checkpoint but were not restored):\n" + "\n".join(lines)
            )
        return self

    def assert_existing_objects_matched(self) -> Self:
        unmatched = self._unmatched(self._matches())
        if unmatched:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due "
                f"to changes in the Python program: {unmatched}"
            )
        return self

    def assert_nontrivial_match(self) -> Self:
        matches = self._matches()
        if len(matches.by_node) > 1:
            return self
        unmatched = self._unmatched(matches)
        if not unmatched:
            raise AssertionError(
                f"Nothing to load. No dependencies have been added to {self._root} yet."
            )
        raise AssertionError(
            "Nothing except the root object matched a checkpointed value. Typically "
            "this means that the checkpoint does not match the Python program. The "
            f"following objects have no matching checkpointed value: {unmatched}"
        )

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        session = _session(session)
        saveables, _ = self._matches().saveables(self._root._cache)
        key = [(s.name, id(s.op)) for s in saveables]
        if self._saver[0] != key:
            with get_default_graph().device("/device:CPU:0"):
                self._saver = key, Saver(saveables, allow_empty=True)
        saver = self._saver[1]
        assert saver is not None
        saver.restore(session, self._path)

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        session = _session(session)
        unmatched = self._unmatched(self._matches())
        self.run_restore_ops(session)
        session.run([i.initializer for i in unmatched if hasattr(i, "initializer")])


class InitializationOnlyStatus(LoadStatus):
    """The status of `restore(None)`: there was no checkpoint."""

    def _refuse(self) -> NoReturn:
        raise AssertionError(
            "No checkpoint specified (save_path=None); nothing is being restored."
        )

    def assert_consumed(self) -> Self:
        self._refuse()

    def assert_existing_objects_matched(self) -> Self:
        self._refuse()

    def assert_nontrivial_match(self) -> Self:
        self._refuse()

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None "
            "to Saver.restore)."
        )

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        items = ObjectGraph(self._root).items()
        inits = [i.initializer for i in items if hasattr(i, "initializer")]
        _session(session).run([init for init in inits if init is not None])


class NameBasedStatus(LoadStatus):
    """The status of a `Saver`'s checkpoint: variables are found by their names.

    Args:
      root: the object that it was restored to.
      path: the checkpoint.
    """

    def __init__(self, root: Checkpoint, path: str) -> None:
        super().__init__(root)
        self._path = path
        get_logger().warning(
            f"{path} is a checkpoint of tf.train.Saver: variables are found by their "
            "names. Save it again with tf.train.Checkpoint, which does not depend on "
            "them."
        )

    def _items(self) -> list[Any]:
        """The variables and tables, but the counter, which a Saver does not know."""
        return [
            item
            for item in ObjectGraph(self._root).items()
            if item is not self._root.save_counter
            and (
                isinstance(item, Variable)
                or hasattr(item, "_gather_saveables_for_checkpoint")
            )
        ]

    def assert_consumed(self) -> Self:
        names = read_checkpoint(self._path, lambda reader: {*reader.types_and_shapes()})
        for saveable in saveables_of(self._items()):
            if not names.issuperset(spec.name for spec in saveable.specs):
                raise AssertionError(f"Object not restored: {saveable.name}")
        return self

    def assert_existing_objects_matched(self) -> Self:
        return self.assert_consumed()

    def assert_nontrivial_match(self) -> Self:
        return self.assert_consumed()

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        session = _session(session)
        with get_default_graph().device("/device:CPU:0"):
            saver = Saver(self._items(), allow_empty=True)
        saver.restore(session, self._path)
        session.run(self._root.save_counter.initializer)

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        self.run_restore_ops(session)
