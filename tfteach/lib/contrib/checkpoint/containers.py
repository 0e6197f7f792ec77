"""`UniqueNameTracker`: dependencies with names that differ.

Source: contrib/checkpoint/python/containers.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from tfteach.framework.export import export
from tfteach.framework.trackable import Trackable
from tfteach.lib.files.data_structures import TrackableDataStructure

_T = TypeVar("_T")


@export("contrib.checkpoint.UniqueNameTracker")
class UniqueNameTracker(TrackableDataStructure):
    """Objects that are saved under similar names: "x", "x_1", "x_2" ...

    Example:
      >>> parts = tf.contrib.checkpoint.UniqueNameTracker()
      >>> first = parts.track(tf.Variable(1.0), "x")
      >>> second = parts.track(tf.Variable(2.0), "x")  # saved as x_1
      >>> checkpoint = tf.train.Checkpoint(parts=parts)

    Source: contrib/checkpoint/python/containers.py.
    """

    def __init__(self) -> None:
        super().__init__()
        self._name_counts: dict[str, int] = {}

    @property
    def _values(self) -> Iterable[Any]:
        return [dependency.ref for dependency in self._checkpoint_dependencies]

    def track(self, trackable: _T, base_name: str) -> _T:
        """Add an object.

        Args:
          trackable: the object.
          base_name: its name, to which a number is added if it is taken.

        Returns:
          `trackable`.

        Raises:
          ValueError: it has no state.
        """
        if not isinstance(trackable, Trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit "
                "from tf.track.Trackable."
            )
        count, name = self._name_counts.get(base_name, 0), base_name
        if count:
            name = f"{base_name}_{count}"
        while self._lookup_dependency(name) is not None:
            count += 1
            name = f"{base_name}_{count}"
        self._name_counts[base_name] = count + 1
        self._track_value(trackable, name)
        return trackable
