"""What AutoGraph says about its work.

Source: python/autograph/utils/ag_logging.py.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger

# What the program has chosen; programs set these, too.
verbosity_level: int | None = None  # None: as the environment says
echo_log_to_stdout = hasattr(sys, "ps1")  # at a prompt


@export("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Choose how much AutoGraph logs.

    Args:
      level: 0 for warnings only; 1 names what is converted, 2 shows the code. The
        environment variable AUTOGRAPH_VERBOSITY has the same effect.
      alsologtostdout: whether to print the messages, too.

    Example:
      >>> tf.autograph.set_verbosity(0)

    Source: python/autograph/utils/ag_logging.py.
    """
    global verbosity_level, echo_log_to_stdout
    verbosity_level = level
    echo_log_to_stdout = alsologtostdout


@export("autograph.trace")
def trace(*args: Any) -> None:
    """Print values while a function is traced; Tensors have none then.

    Args:
      *args: what to print.

    Example:
      >>> tf.autograph.trace("tracing")
      tracing

    Source: python/autograph/utils/ag_logging.py.
    """
    print(*args)


def has_verbosity(level: int) -> bool:
    """Whether messages of a level are logged."""
    chosen = verbosity_level
    if chosen is None:
        chosen = int(os.environ.get("AUTOGRAPH_VERBOSITY", 0))
    return chosen >= level


def log(level: int, message: str, *args: Any, shows_error: bool = False) -> None:
    """Log a message of a level, perhaps with the error that is being handled."""
    if not has_verbosity(level):
        return
    get_logger().info(message, *args, exc_info=shows_error)
    if echo_log_to_stdout:
        print(message % args)
        if shows_error:
            traceback.print_exc(file=sys.stdout)


def warn(message: str, *args: Any) -> None:
    """Log a warning."""
    get_logger().warning(message, *args)
    if echo_log_to_stdout:
        print("WARNING: " + message % args)
