"""`tf.app`: the entry point of a script.

Source: python/platform/app.py (API).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from tfteach.compat.platform.flags import FLAGS, in_kernel
from tfteach.engine.eager.context import enable_eager_execution
from tfteach.framework.export import export


@export("app.run")
def run(
    main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None
) -> NoReturn:
    """Parse the flags, call `main` with the remaining arguments, and exit.

    Undefined flags remain among the arguments.  The process exits with the return value
    of `main` as its exit status (`sys.exit`); in a notebook that ends only the cell.

    Args:
      main: function of the list [program, argument, ...]; by default the `main` of
        the script.
      argv: such a list; by default `sys.argv`.  In a notebook the kernel's arguments
        are not the program's: `main` receives `sys.argv[:1]`.

    Example:
      >>> def main(argv):
      ...   print(tf.app.flags.FLAGS.learning_rate)
      >>> if __name__ == "__main__":
      ...   tf.app.run()
    """
    if main is None:
        script = sys.modules["__main__"]
        main = getattr(script, "main", None)
        if main is None:
            raise AttributeError(
                "module '__main__' has no attribute 'main': define main(argv) before "
                "tf.app.run(), or pass a function."
            )
    from absl import app

    root = logging.getLogger()
    handlers = list(root.handlers)

    def parse(arguments: list[str]) -> list[str]:
        # absl has just put its handler on the root logger: each message of tf.logging
        # would be logged twice, as in TensorFlow 1.15.
        root.handlers[:] = handlers
        left = FLAGS(arguments, known_only=True)
        return left[:1] if argv is None and in_kernel() else left

    app.run(main=main, argv=argv, flags_parser=parse)
    raise AssertionError("absl's run ends with sys.exit")


@export("contrib.eager.run")
def eager_run(
    main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None
) -> NoReturn:
    """`tf.app.run` in an eager program.

    Args:
      main, argv: as for `tf.app.run`.

    Example:
      >>> def main(_):
      ...     print(tf.add(1, 2).numpy())
      >>> tf.contrib.eager.run(main)

    Source: python/framework/ops.py, eager_run.
    """
    enable_eager_execution()
    run(main, argv)
