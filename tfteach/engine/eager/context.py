"""Whether ops run eagerly: the switch of a program, and blocks in either mode.

Source: python/eager/context.py, python/framework/ops.py (API and messages).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.engine.eager import placement
from tfteach.engine.eager.eager_graph import EagerGraph
from tfteach.engine.session.config import eager_settings
from tfteach.framework import defaults
from tfteach.framework.export import export, export_value
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import Proto

# How eager execution runs ops.
SYNC = 0
ASYNC = 1
GRAPH_MODE = 0
EAGER_MODE = 1
# What happens to a tensor that is on another device than the op.
DEVICE_PLACEMENT_EXPLICIT = placement.EXPLICIT
DEVICE_PLACEMENT_WARN = placement.WARN
DEVICE_PLACEMENT_SILENT = placement.SILENT
DEVICE_PLACEMENT_SILENT_FOR_INT32 = placement.SILENT_FOR_INT32

export_value(
    __name__,
    SYNC="contrib.eager.SYNC",
    ASYNC="contrib.eager.ASYNC",
    DEVICE_PLACEMENT_EXPLICIT="contrib.eager.DEVICE_PLACEMENT_EXPLICIT",
    DEVICE_PLACEMENT_WARN="contrib.eager.DEVICE_PLACEMENT_WARN",
    DEVICE_PLACEMENT_SILENT="contrib.eager.DEVICE_PLACEMENT_SILENT",
)

_lock = threading.Lock()
_graph: EagerGraph | None = None


def eager_graph(config: Any = None) -> EagerGraph:
    """The process's `EagerGraph`, made at the first call with a ConfigProto."""
    global _graph
    with _lock:
        if _graph is None:
            _graph = EagerGraph(config)
        return _graph


def forget_eager_graph() -> None:
    """End eager execution, and let go of its resources; for tests."""
    global _graph
    with _lock:
        defaults.set_outermost(None)
        _graph = None


@export(
    "executing_eagerly",
    "contrib.eager.executing_eagerly",
    "contrib.eager.in_eager_mode",
)
def executing_eagerly() -> bool:
    """Whether an op that is called now runs at once.

    Example:
      >>> tf.executing_eagerly()
      False

    Source: python/eager/context.py.
    """
    return defaults.get_default_graph().is_eager


@export("enable_eager_execution", "contrib.eager.enable_eager_execution")
def enable_eager_execution(
    config: Proto | None = None,
    device_policy: int | None = None,
    execution_mode: int | None = None,
) -> None:
    """Run ops when they are called, from now on, instead of adding them to a graph.

    Tensors then have values, and variables keep theirs without a session.  Graphs can
    still be built, in `with tf.Graph().as_default()`.

    A second call has no effect, whatever its arguments.

    Args:
      config: a ConfigProto, for the devices.
      device_policy: what happens to an op's input that is on another device, one of
        `tf.contrib.eager.DEVICE_PLACEMENT_*`: it is copied silently (None and SILENT)
        or with a warning in the log (WARN), or is refused (EXPLICIT;
        SILENT_FOR_INT32 copies int32 tensors).
      execution_mode: `tf.contrib.eager.SYNC`, ASYNC or None.  With ASYNC, too, each op
        has run when its call returns, and raises its error then: TensorFlow may raise
        it at a later op, or when a value is read.

    Raises:
      TypeError: `config` is no ConfigProto.
      ValueError: another argument is unknown, or the program has built ops already.

    Example:
      >>> tf.enable_eager_execution()  # the first lines of a program
      >>> tf.add(1, 2)
      <tf.Tensor: id=2, shape=(), dtype=int32, numpy=3>

    Source: python/framework/ops.py.
    """
    if defaults.outermost() is not None:
        return  # with the options of the first call, as in TF
    if config is not None and not isinstance(config, pool.message("ConfigProto")):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in (None, 0, 1, 2, 3):
        raise ValueError(
            "device_policy must be one of None, tf.contrib.eager.DEVICE_PLACEMENT_*"
        )
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError(
            "execution_mode must be one of None, tf.contrib.eager.SYNC, "
            "tf.contrib.eager.ASYNC"
        )
    if defaults.is_program_started():
        raise ValueError(
            "tf.enable_eager_execution must be called at program startup. Restart the "
            "kernel, and call it before anything else builds an op."
        )
    if device_policy is not None:
        eager_settings.device_policy = device_policy
    eager_settings.is_async = execution_mode == ASYNC
    defaults.set_outermost(eager_graph(config))


@export("disable_eager_execution")
def disable_eager_execution() -> None:
    """Add ops to graphs again, as at the start of a program."""
    defaults.set_outermost(None)


@contextmanager
def eager_mode() -> Iterator[None]:
    """A block whose ops run eagerly."""
    with defaults.default_graph(eager_graph()):
        yield


@contextmanager
def graph_mode() -> Iterator[None]:
    """A block whose ops are added to the default graph."""
    with defaults.default_graph(defaults.public_default_graph()):
        yield
