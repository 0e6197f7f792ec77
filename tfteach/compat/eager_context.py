"""Names of `tensorflow.python.eager.context`, of which only graph mode exists here.

Source: python/eager/context.py (API).
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

# How eager execution would run ops.
SYNC = 0
ASYNC = 1
GRAPH_MODE = 0
EAGER_MODE = 1


def graph_mode() -> AbstractContextManager[None]:
    """A context manager without effect: ops are always added to graphs."""
    return nullcontext()


def eager_mode() -> AbstractContextManager[None]:
    """Raises NotImplementedError."""
    raise NotImplementedError(
        "context.eager_mode: tfteach has TensorFlow 1's graphs and sessions only."
    )
