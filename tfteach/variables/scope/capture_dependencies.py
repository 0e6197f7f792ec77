"""Variables made in a block, as what a template depends on.

Source: python/training/tracking/util.py, capture_dependencies.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.framework.export import export
from tfteach.variables.creation import variable_creator_scope


class _Open(threading.local):
    """The templates whose blocks this thread is in."""

    def __init__(self) -> None:
        self.templates: list[Any] = []


_open = _Open()


@export("contrib.checkpoint.capture_dependencies")
@contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """A block whose variables become dependencies of an object.

    Their names in checkpoints are those within its variable scope.  The variables of
    such a block inside this one are dependencies of its object, on which this one
    depends.

    Args:
      template: an object with dependencies and a `variable_scope`, in which the block
        runs.

    Example:
      >>> class Model(tf.contrib.eager.Checkpointable):
      ...     variable_scope = None
      >>> model = Model()
      >>> with tf.variable_scope("model") as model.variable_scope:
      ...     with tf.contrib.checkpoint.capture_dependencies(model):
      ...         w = tf.get_variable("w", [])  # w is saved with the model

    Source: python/training/tracking/util.py.
    """
    prefix = template.variable_scope.name

    def local_name(name: str) -> str:
        return name[len(prefix) + 1 :]

    def track(make: Callable[..., Any], **kwargs: Any) -> Any:
        name, inner = kwargs["name"], _open.templates[-1]
        if name is None or not name.startswith(prefix):
            return make(**kwargs)
        if inner is not template:
            own = local_name(inner.variable_scope.name)
            template._track_trackable(inner, own, overwrite=True)
            return make(**kwargs)
        own = local_name(name)
        restored = template._preload_simple_restoration(own)
        if restored is not None:
            kwargs["initial_value"] = restored
        return template._track_trackable(make(**kwargs), own, overwrite=True)

    _open.templates.append(template)
    try:
        with variable_creator_scope(track):
            yield
    finally:
        _open.templates.pop()
