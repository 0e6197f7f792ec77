"""TensorFlow 1.15's switches between its two behaviors; only TF 1's exists here.

Source: python/compat/v2_compat.py, python/framework/ops.py (names).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.compat.renamed import missing
from tfteach.compat.top_level import top_level
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export, export_value
from tfteach.framework.scope import open_init_scope
from tfteach.variables.creation import disable_resource_variables


@export("init_scope")
@contextmanager
def init_scope() -> Iterator[None]:
    """A block outside all functions, control dependencies, branches and loops.

    In an eager program ops in it run at once, even while a function is traced.
    """
    with open_init_scope(get_default_graph()):
        yield


@export("disable_v2_behavior")
def disable_v2_behavior() -> None:
    """Switches of TensorFlow 1's behavior: always on, except resource variables."""
    disable_resource_variables()


@export("disable_tensor_equality")
def disable_tensor_equality() -> None:
    """No effect: `==` on Tensors compares identity."""


@export("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """No effect: the sizes in a `TensorShape` are `Dimension`s."""


def _refusal(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"tf.{name}: tfteach has TensorFlow 1's graphs and sessions only. Build the "
        "graph, then run it in a tf.Session."
    )


@export("enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Raises NotImplementedError."""
    raise _refusal("enable_v2_behavior")


@export("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """Raises NotImplementedError."""
    raise _refusal("enable_tensor_equality")


@export("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """Raises NotImplementedError."""
    raise _refusal("enable_v2_tensorshape")


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
