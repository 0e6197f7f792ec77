"""The devices of an eager program, and how its ops run.

Source: python/eager/context.py, python/framework/ops.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tfteach.engine.eager.context import ASYNC, SYNC, eager_graph
from tfteach.engine.session.config import eager_settings
from tfteach.framework.export import export


@export("contrib.eager.list_devices")
def list_devices() -> list[str]:
    """The names of the devices that eager ops can run on.

    Example:
      >>> tf.contrib.eager.list_devices()
      ['/job:localhost/replica:0/task:0/device:CPU:0']

    Source: python/eager/context.py.
    """
    return [device.name for device in eager_graph().runtime.devices]


@export("contrib.eager.num_gpus")
def num_gpus() -> int:
    """The number of GPUs that eager ops can run on.

    Source: python/eager/context.py.
    """
    return sum("device:GPU:" in name for name in list_devices())


@export("contrib.eager.set_execution_mode")
def set_execution_mode(mode: int | None) -> None:
    """State whether the program waits for each op.

    It does in any case: ops run in the caller's thread, and raise their errors at once.

    Args:
      mode: `tf.contrib.eager.SYNC`, ASYNC or None.

    Raises:
      ValueError: the mode is unknown.

    Source: python/eager/context.py.
    """
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")
    eager_settings.is_async = mode == ASYNC


@export("contrib.eager.execution_mode")
@contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """A block with an execution mode; see `set_execution_mode`.

    Args:
      mode: `tf.contrib.eager.SYNC`, ASYNC or None.

    Source: python/eager/context.py.
    """
    before = ASYNC if eager_settings.is_async else SYNC
    set_execution_mode(mode)
    try:
        yield
    finally:
        set_execution_mode(before)


@export("contrib.eager.async_wait")
def async_wait() -> None:
    """Wait until all ops have run: they have, as each runs before its call returns.

    Source: python/eager/context.py.
    """


@export("contrib.eager.async_clear_error")
def async_clear_error() -> None:
    """Forget the errors of ops that ran in other threads: there are none.

    Source: python/eager/context.py.
    """
