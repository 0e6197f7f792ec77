"""Python's logger "tensorflow", to which this package and `tf.logging` write.

Source: python/platform/tf_logging.py, get_logger.
"""

from __future__ import annotations

import logging
import sys
from typing import Any


class _Stream:
    """The stream with a name in `sys`, looked up on each use: notebooks replace it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(getattr(sys, self._name), attribute)


_configured = False


def get_logger() -> logging.Logger:
    """Python's logger "tensorflow", with a handler after the first call.

    Messages go to stderr; in a notebook or at a prompt to stdout, from level INFO on.
    If the program has given the root logger a handler, that one is used.
    """
    global _configured
    logger = logging.getLogger("tensorflow")
    if not _configured:
        _configured = True
        if not logging.getLogger().handlers:
            interactive = bool(getattr(sys, "ps1", sys.flags.interactive))
            if interactive:
                logger.setLevel(logging.INFO)
            target: Any = _Stream("stdout" if interactive else "stderr")
            handler = logging.StreamHandler(target)
            handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
            logger.addHandler(handler)
    return logger
