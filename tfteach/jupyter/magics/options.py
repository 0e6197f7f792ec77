"""What several magics have in common: options, what is fed, and how a view is shown."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument

from tfteach.jupyter import display

SESSION = argument(
    "--session",
    metavar="NAME",
    help="the session, an expression; without it the default session, or the only one "
    "that is open.",
)
FEED = argument(
    "--feed",
    action="append",
    default=[],
    metavar="NAME",
    help="a tensor that the run is fed; may be repeated.",
)
FEED_DICT = argument(
    "--feed-dict",
    metavar="EXPRESSION",
    help="what to feed: the Python name of a dict, or {x:batch} without spaces.",
)
DEPTH = argument(
    "--depth", type=int, default=1, help="how many levels of scopes to open."
)
STATIC = argument(
    "--static", action="store_true", help="show a still picture, no live view."
)


def check_depth(args: Any) -> None:
    """Refuse a `--depth` that opens nothing.

    Raises:
      UsageError: it is less than 1.
    """
    if args.depth < 1:
        raise UsageError(f"--depth counts levels from 1, got {args.depth}")


def feed_dict_of(shell: Any, expression: str | None) -> dict[Any, Any] | None:
    """The dict that `--feed-dict` gives.

    Raises:
      UsageError: it gives none.
    """
    if not expression:
        return None
    try:
        feed = shell.ev(expression)
    except Exception as error:
        raise UsageError(f"--feed-dict {expression}: {error}") from None
    if not isinstance(feed, dict):
        raise UsageError(f"--feed-dict {expression} is no dict, but {feed!r}")
    return feed


def show_as_asked(view: Any, args: Any) -> None:
    """Show a view live, or as `--static` or `--text` ask for it; then it is closed."""
    if getattr(args, "text", False):
        print(view.to_text())
    elif args.static:
        display.show_still(view)
    else:
        display.show(view)
        return
    view.close()
