"""`tf.logging`: Python's logger "tensorflow", in TensorFlow 1's format.

    INFO:tensorflow:step 100

Messages go to stderr, from level WARN upwards; in a notebook or at a prompt to stdout,
from INFO upwards.  If the program has configured the root logger, that configuration is
used.  Source: python/platform/tf_logging.py (API and format).
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from tfteach.framework.export import export, export_value
from tfteach.framework.logger import get_logger

DEBUG, INFO, WARN, ERROR, FATAL = (
    logging.DEBUG,
    logging.INFO,
    logging.WARNING,
    logging.ERROR,
    logging.FATAL,
)
export_value(
    __name__,
    DEBUG="logging.DEBUG",
    INFO="logging.INFO",
    WARN="logging.WARN",
    ERROR="logging.ERROR",
    FATAL="logging.FATAL",
    get_logger="get_logger",
)


@export("logging.log")
def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at `level`.

    Example:
      >>> tf.logging.set_verbosity(tf.logging.INFO)
      >>> tf.logging.log(tf.logging.INFO, "step %d", 100)
    """
    get_logger().log(level, msg, *args, **_here(kwargs))


@export("logging.vlog")
def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """`tf.logging.log` by another name."""
    get_logger().log(level, msg, *args, **_here(kwargs))


@export("logging.debug")
def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at level DEBUG."""
    get_logger().debug(msg, *args, **_here(kwargs))


@export("logging.info")
def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at level INFO.

    Example:
      >>> tf.logging.info("loss %.3f", 0.25)
      INFO:tensorflow:loss 0.250
    """
    get_logger().info(msg, *args, **_here(kwargs))


@export("logging.warn", "logging.warning")
def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at level WARN."""
    get_logger().warning(msg, *args, **_here(kwargs))


@export("logging.error")
def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at level ERROR."""
    get_logger().error(msg, *args, **_here(kwargs))


@export("logging.fatal")
def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at level FATAL.  The program continues, as in TensorFlow."""
    get_logger().fatal(msg, *args, **_here(kwargs))


@export("logging.TaskLevelStatusMessage")
def task_level_status_message(msg: Any) -> None:
    """Log `msg` at level ERROR."""
    error(msg)


@export("logging.flush")
def flush() -> None:
    """Raises NotImplementedError, as TensorFlow's does."""
    raise NotImplementedError(
        "tf.logging.flush: TensorFlow does not implement it either. Each message is "
        "written when it is logged."
    )


def _here(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The position of the logging call: the caller of the function in this module."""
    return {"stacklevel": 2, **kwargs}


# ---- repeated messages


_counts: dict[tuple[str, int, str], int] = {}


def _calls_before(function: str) -> int:
    """The number of earlier calls from the line that called `function`."""
    frame = sys._getframe(2)
    key = (frame.f_code.co_filename, frame.f_lineno, function)
    count = _counts.get(key, 0)
    _counts[key] = count + 1
    return count


@export("logging.log_if")
def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Log `msg % args` at `level` if `condition` holds."""
    if condition:
        get_logger().log(level, msg, *args, stacklevel=2)


@export("logging.log_every_n")
def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log `msg % args` at `level`: the 1st, (n+1)th, (2n+1)th ... call of this line.

    TensorFlow 1.15 has one counter for all lines of a program; here each line has one,
    as TensorFlow documents it.
    """
    if _calls_before("every") % n == 0:
        get_logger().log(level, msg, *args, stacklevel=2)


@export("logging.log_first_n")
def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log `msg % args` at `level` the first `n` times that this line is called."""
    if _calls_before("first") < n:
        get_logger().log(level, msg, *args, stacklevel=2)


# ---- verbosity


@export("logging.get_verbosity")
def get_verbosity() -> int:
    """The lowest level of messages that are shown."""
    return get_logger().getEffectiveLevel()


@export("logging.set_verbosity")
def set_verbosity(v: int) -> None:
    """Show messages of level `v` and above.

    Args:
      v: `tf.logging.DEBUG`, `INFO`, `WARN`, `ERROR` or `FATAL`.
    """
    get_logger().setLevel(v)
