"""`NumpyState`: arrays in checkpoints.

Source: contrib/checkpoint/python/python_state.py.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.trackable import Trackable
from tfteach.lib.files.python_state import PythonState


class _NumpyWrapper(PythonState):
    """An array as a string of the format of `numpy.save`."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def serialize(self) -> bytes:
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


@export("contrib.checkpoint.NumpyState")
class NumpyState(Trackable):
    """An object whose attributes are arrays that checkpoints save and restore.

    They are restored at once, also in graphs.  Attributes that the checkpoint has and
    the object does not are added.

    Example:
      >>> arrays = tf.contrib.checkpoint.NumpyState()
      >>> arrays.x = np.zeros([3, 4])
      >>> checkpoint = tf.train.Checkpoint(arrays=arrays)

    Source: contrib/checkpoint/python/python_state.py.
    """

    def _lookup_dependency(self, name: str) -> Any:
        """The array of that name; an empty one, which a restore fills, if it is new."""
        found = super()._lookup_dependency(name)
        if found is None:
            found = self._dependencies[name] = _NumpyWrapper(np.array([]))
        return found

    def __getattr__(self, name: str) -> Any:
        wrapper = None if name.startswith("_") else self._dependencies.get(name)
        if wrapper is None:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}'"
            )
        return wrapper.array

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray | np.generic):
            known = self._dependencies.get(name)
            if known is None:
                self._dependencies[name] = _NumpyWrapper(value)
            else:
                known.array = value
        elif name.startswith("_"):
            super().__setattr__(name, value)
        else:
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a "
                "NumPy array. Currently mixing NumPy arrays and other trackable "
                "objects is not supported. File a feature request if this limitation "
                "bothers you."
            )
