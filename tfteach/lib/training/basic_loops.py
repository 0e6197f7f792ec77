"""`tf.train.basic_train_loop`: a Supervisor's loop.

Source: python/training/basic_loops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfteach.framework.errors import AbortedError
from tfteach.framework.export import export
from tfteach.lib.training.supervisor import Supervisor


@export("train.basic_train_loop")
def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Call a function until the supervisor stops; after an AbortedError start anew.

    Args:
      supervisor: the Supervisor.
      train_step_fn: called with the session and the following arguments; may call
        `supervisor.request_stop()`.
      args, kwargs: its further arguments.
      master: the sessions' target.

    Raises:
      Exception: that of the function; not OutOfRangeError, which ends the loop.

    Example:
      >>> tf.train.basic_train_loop(supervisor, lambda session: session.run(train))

    Source: python/training/basic_loops.py.
    """
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except AbortedError:
            continue  # in a new session, from the last checkpoint
