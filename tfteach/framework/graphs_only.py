"""What exists in graphs only, and is refused where ops run eagerly."""

from __future__ import annotations

from tfteach.framework.defaults import get_default_graph


def require_graph(message: str, error: type[Exception] = RuntimeError) -> None:
    """Raise an error where ops run eagerly.

    Args:
      message: TensorFlow's message.
      error: the error's class.
    """
    if get_default_graph().is_eager:
        raise error(message)
