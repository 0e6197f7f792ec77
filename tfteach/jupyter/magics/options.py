"""Options that several magics share, and how their views are shown."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument

from tfteach.jupyter import display

SESSION = argument(
    "--session",
    metavar="NAME",
    help="the session, an expression; by default the default session, or the only open "
    "one.",
)
FEED = argument(
    "--feed",
    action="append",
    default=[],
    metavar="NAME",
    help="a tensor that the run would be fed; may be repeated.",
)
FEED_DICT = argument(
    "--feed-dict",
    metavar="EXPRESSION",
    help="the feeds: the Python name of a dict, or {x:batch} without spaces.",
)
DEPTH = argument(
    "--depth", type=int, default=1, help="the number of scope levels to open."
)
STATIC = argument(
    "--static",
    action="store_true",
    help="show a static picture instead of a live view.",
)


def check_depth(args: Any) -> None:
    """Refuse a `--depth` below 1.

    Raises:
      UsageError: it is less than 1.
    """
    if args.depth < 1:
        raise UsageError(f"--depth counts levels from 1, got {args.depth}")


def feed_dict_of(shell: Any, expression: str | None) -> dict[Any, Any] | None:
    """The value of `--feed-dict`.

    Raises:
      UsageError: it is not a dict.
    """
    if not expression:
        return None
    try:
        feed = shell.ev(expression)
    except Exception as error:
        raise UsageError(f"--feed-dict {expression}: {error}") from None
    if not isinstance(feed, dict):
        raise UsageError(f"--feed-dict {expression} is not a dict, but {feed!r}")
    return feed


def show_as_asked(view: Any, args: Any) -> None:
    """Show a view live; with `--static` or `--text` show its contents and close it."""
    if getattr(args, "text", False):
        print(view.to_text())
    elif args.static:
        display.show_still(view)
    else:
        display.show(view)
        return
    view.close()
