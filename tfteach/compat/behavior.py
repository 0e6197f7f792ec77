"""TensorFlow 1.15's switches between its two behaviors.

Source: python/compat/v2_compat.py, python/framework/ops.py (names).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.compat.renamed import missing
from tfteach.compat.tensor_equality import (
    disable_tensor_equality,
    enable_tensor_equality,
)
from tfteach.compat.top_level import top_level
from tfteach.control.control_flow_v2_toggles import (
    disable_control_flow_v2,
    enable_control_flow_v2,
)
from tfteach.engine.eager.context import (
    disable_eager_execution,
    enable_eager_execution,
)
from tfteach.framework import tf2
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export, export_value
from tfteach.framework.scope import open_init_scope
from tfteach.framework.shape import TensorShape
from tfteach.variables.creation import (
    disable_resource_variables,
    enable_resource_variables,
)


@export("init_scope")
@contextmanager
def init_scope() -> Iterator[None]:
    """A block outside all functions, control dependencies, branches and loops.

    In an eager program ops in it run at once, even while a function is traced.
    """
    with open_init_scope(get_default_graph()):
        yield


@export("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """Let the sizes in a `TensorShape` be ints or None.

    Example:
      >>> tf.enable_v2_tensorshape()
      >>> tf.TensorShape([None, 2])[1]
      2

    Source: python/framework/tensor_shape.py.
    """
    TensorShape._v2_behavior = True


@export("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """Let the sizes in a `TensorShape` be `Dimension`s, the default."""
    TensorShape._v2_behavior = False


@export("enable_v2_behavior", v2="enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Let a program run as in TensorFlow 2, as far as TensorFlow 1.15 can.

    That is eager execution, resource variables, `==` by value, control flow of
    functions, and sizes of shapes that are numbers.

    Raises:
      ValueError: the program has built ops already.

    Example:
      >>> import tensorflow.compat.v2 as tf
      >>> tf.enable_v2_behavior()  # the first lines of a program

    Source: python/compat/v2_compat.py.
    """
    tf2.enable()
    enable_eager_execution()
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_tensor_equality()
    enable_control_flow_v2()


@export("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """Let a program run as in TensorFlow 1, the default; see `enable_v2_behavior`."""
    tf2.disable()
    disable_eager_execution()
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_tensor_equality()
    disable_control_flow_v2()


def _of_compat(name: str) -> Any:
    """`tf.compat.__getattr__`: `tf.compat.v1` has the names of `tf`."""
    if name == "v1":
        # If `tensorflow` is this package, its names warn; those of `compat.v1` do not.
        top = sys.modules.get("tensorflow")
        if getattr(top, "__tfteach__", False):
            return top.version_1  # type: ignore[union-attr]
        return top_level()
    raise missing("compat", name)


export_value(__name__, _of_compat="compat.__getattr__")
