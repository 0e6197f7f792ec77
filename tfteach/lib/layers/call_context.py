"""Which layer's `call` this thread is in: layers that it calls inherit from it.

Source: python/keras/engine/base_layer_utils.py, CallContext.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _CallContext(threading.local):
    """The innermost call.

    Attributes:
      is_open: whether there is one.
      is_frozen: whether a layer that is not trainable is among the open ones.
      training: the call's argument `training`; None if it has none.
    """

    is_open = False
    is_frozen = False
    training: Any = None


call_context = _CallContext()


@contextmanager
def entered(trainable: bool, training: Any) -> Iterator[None]:
    """A block that runs the `call` of a layer.

    Args:
      trainable: whether the layer is.
      training: the argument of that name, for layers called without one; or None.
    """
    context = call_context
    outer = context.is_open, context.is_frozen, context.training
    context.is_open, context.training = True, training
    context.is_frozen = context.is_frozen or not trainable
    try:
        yield
    finally:
        context.is_open, context.is_frozen, context.training = outer
