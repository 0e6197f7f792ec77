"""The warning that TensorFlow logs at each call of an experimental function.

Source: contrib/framework/python/framework/experimental.py.
"""

from __future__ import annotations

from tfteach.framework.logger import get_logger


def warn_experimental(name: str, module: str) -> None:
    """Log that a function may change.

    Args:
      name: the function's name.
      module: TensorFlow's path of its module, below `tensorflow.contrib`.
    """
    get_logger().warning(
        "%s (from tensorflow.contrib.%s) is experimental and may change or be removed "
        "at any time, and without warning.",
        name,
        module,
    )
