"""`AutoTrackable`: an object whose attributes are saved.

Source: python/training/tracking/tracking.py.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tfteach.framework.convert import convert, register_tensor_conversion_function
from tfteach.framework.dtypes import string
from tfteach.framework.export import export_value
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import open_init_scope
from tfteach.framework.trackable import Trackable, is_tracking
from tfteach.lib.files.data_structures import (
    NoDependency,
    assigned,
    functions_among,
)

_ABSENT = object()


class AutoTrackable(Trackable):
    """Base of objects whose attributes are saved: variables, layers, lists of them.

    A list or dict becomes one whose elements are saved.

    Example:
      >>> class Model(tf.contrib.eager.Checkpointable):
      ...     def __init__(self):
      ...         self.layers = [tf.layers.Dense(2), tf.layers.Dense(1)]
      >>> checkpoint = tf.train.Checkpoint(model=Model())

    Source: python/training/tracking/tracking.py.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, name, _ABSENT) is value:
            return
        if is_tracking(self):
            value = assigned(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._dependencies.pop(name, None)
        super().__delattr__(name)

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def _list_functions_for_serialization(self, serialization_cache: Any) -> Any:
        """The traced functions among the attributes and methods."""
        found = {}
        for name in dir(self):
            with suppress(Exception):  # a property may need what is not there yet
                found[name] = getattr(self, name)
        return functions_among(found.items())


class TrackableAsset(Trackable):
    """A file that a SavedModel contains.

    Args:
      path: its path, text or a string Tensor.
    """

    def __init__(self, path: Any) -> None:
        graph = get_default_graph()
        with open_init_scope(graph), graph.device("CPU"):
            self._path = convert(path, string, "asset_path")

    @property
    def asset_path(self) -> Tensor:
        """The path, a string Tensor."""
        return self._path


def _converted(
    asset: TrackableAsset,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    return convert(asset.asset_path, dtype, name)


register_tensor_conversion_function(TrackableAsset, _converted)

export_value(
    __name__,
    AutoTrackable="contrib.eager.Checkpointable contrib.checkpoint.Checkpointable",
)
