"""What `tf.train.Checkpoint.restore` returns: checks of what matches, and restoring.

In an eager program values are restored as soon as an object is found, and nothing is
left to do for the methods that restore.

Source: python/training/tracking/util.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from tfteach.framework.defaults import get_default_session
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.files.data_structures import TrackableDataStructure
from tfteach.lib.files.name_restoration import NameRestoration
from tfteach.lib.files.object_graph import ObjectGraph
from tfteach.lib.files.object_matches import Matches
from tfteach.lib.files.restoration import Restoration, without_python_state
from tfteach.lib.files.saveable_variables import saveables_of
from tfteach.lib.files.saver import Saver

if TYPE_CHECKING:
    from tfteach.lib.files.object_checkpoint import Checkpoint


def default_session(given: SessionLike | None) -> SessionLike:
    """A session, or if it is None the one that is entered."""
    session = get_default_session() if given is None else given
    if session is None:
        raise ValueError(
            "No session: pass one, or call this inside `with tf.Session():`"
        )
    return session


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
        """The status; no warnings of what in the checkpoint is not restored."""
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
        self._restoration = Restoration(root, graph, path, root._cache)

    def _matches(self) -> Matches:
        # Anew: objects may have been created since.
        matches = self._restoration.matched()
        assert matches is not None
        return matches

    def _unmatched(self, matches: Matches) -> list[Any]:
        """The program's objects that the checkpoint lacks."""
        matched = {id(item) for item in matches.by_node.values()}
        return [
            item
            for item in ObjectGraph(self._root).items()
            if id(item) not in matched and not _is_empty(item)
        ]

    def assert_consumed(self) -> Self:
        self.assert_existing_objects_matched()
        matches = self._matches()
        for number, node in enumerate(self._graph.nodes):
            if number not in matches.by_node:
                raise AssertionError(
                    f"Unresolved object in checkpoint {matches.names.get(number)}: "
                    f"{node}"
                )
        if matches.unused:
            lines = [
                f"{matches.names[number]} ({matches.by_node[number]}): {names}"
                for number, names in matches.unused.items()
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
        if get_default_graph().is_eager:
            return
        session = default_session(session)
        saveables = without_python_state(self._matches().saveables(self._root._cache))
        key = [(s.name, id(s.op)) for s in saveables]
        if self._saver[0] != key:
            with get_default_graph().device("/device:CPU:0"):
                self._saver = key, Saver(saveables, allow_empty=True)
        saver = self._saver[1]
        assert saver is not None
        saver.restore(session, self._path)

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        if get_default_graph().is_eager:
            return
        session = default_session(session)
        unmatched = self._unmatched(self._matches())
        self.run_restore_ops(session)
        session.run(_initializers(unmatched))

    def expect_partial(self) -> Self:
        self._restoration.is_partial_expected = True
        return self


def _is_empty(item: Any) -> bool:
    """Whether an object is a list or dict of nothing that is saved."""
    is_structure = isinstance(item, TrackableDataStructure)
    return is_structure and not item._checkpoint_dependencies


def _initializers(items: Sequence[Any]) -> list[Any]:
    found = [getattr(item, "initializer", None) for item in items]
    return [initializer for initializer in found if initializer is not None]


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
        if get_default_graph().is_eager:
            return
        items = ObjectGraph(self._root).items()
        default_session(session).run(_initializers(items))


class NameBasedSaverStatus(LoadStatus):
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
        self._restoration: NameRestoration | None = None
        if get_default_graph().is_eager:
            self._restoration = NameRestoration(root, path)

    def _items(self) -> list[Any]:
        """The variables and tables, but the counter, which a Saver does not know."""
        return [
            item
            for item in ObjectGraph(self._root).items()
            if item is not self._root.save_counter
            and item._gather_saveables_for_checkpoint()
        ]

    def assert_consumed(self) -> Self:
        if self._restoration is not None:
            self._restoration.assert_consumed()
            return self
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
        if get_default_graph().is_eager:
            return
        session = default_session(session)
        with get_default_graph().device("/device:CPU:0"):
            saver = Saver(self._items(), allow_empty=True)
        saver.restore(session, self._path)
        session.run(self._root.save_counter.initializer)

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        self.run_restore_ops(session)
