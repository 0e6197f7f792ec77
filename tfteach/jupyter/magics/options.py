"""Options that several magics share, and how their views are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from IPython.core import magic_arguments as arguments
from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument

from tfteach.jupyter import display

SESSION = argument(
    "--session",
    metavar="NAME",
    help="the session, an expression; by default the default session, or the only open "
    "one.",
)
GRAPH_OF_SESSION = argument(
    "--session",
    metavar="NAME",
    help="the session, an expression, whose graph is meant.",
)
RUN_OF_SESSION = argument(
    "--session",
    metavar="NAME",
    help="the session, an expression, whose runs are shown; by default those of all.",
)
FETCHES = argument(
    "fetch",
    nargs="+",
    help="what to fetch: names of ops, or Python names.",
)
FETCH = argument(
    "--fetch",
    nargs="+",
    action="extend",
    default=[],
    metavar="NAME",
    help="the ops or tensors that the run would fetch.",
)
FEED = argument(
    "--feed",
    nargs="+",
    action="extend",
    default=[],
    metavar="NAME",
    help="the tensors that are fed. With a value, x=batch or in quotes "
    "'x=np.ones([2, 3])', where the run takes place or its shape matters.",
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
SAVE = argument(
    "--save",
    metavar="FILE",
    help="also write the view to an HTML page that works without Python.",
)
TEXT = argument(
    "--text",
    action="store_true",
    help="print text instead of showing a view, as print(view) does.",
)

UNFOLDED = argument(
    "--unfolded",
    action="store_true",
    help="without the optimizer: every op runs, those too that compute a constant.",
)


class magic_arguments(arguments.magic_arguments):
    """IPython's decorator, with a usage in which the arguments precede the options.

    An option that takes several names would take the arguments behind it, too.
    """

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        method: Any = super().__call__(func)
        parser = method.parser
        words = [*_positional(parser), *_optional(parser)]
        parser.usage = " ".join(["%(prog)s", *words])
        method.__doc__ = parser.format_help()
        decorated: Callable[..., Any] = method
        return decorated


def _positional(parser: Any) -> Iterator[str]:
    for action in parser._actions:
        if not action.option_strings:
            many = {"*": f"[{action.dest} ...]", "?": f"[{action.dest}]"}
            one = action.dest
            yield many.get(action.nargs, f"{one} [{one} ...]" if action.nargs else one)


def _optional(parser: Any) -> Iterator[str]:
    for action in parser._actions:
        if action.option_strings:
            value = action.metavar or action.dest.upper()
            value = "" if action.nargs == 0 else f" {value}"
            more = " ..." if action.nargs == "+" else ""
            yield f"[{action.option_strings[-1]}{value}{more}]"


def parsed(magic: Any, line: str, is_cell: bool = False) -> Any:
    """The arguments of a magic's line.

    Args:
      magic: the magic's method.
      line: the rest of the line.
      is_cell: True for a cell magic.

    Raises:
      UsageError: the line is wrong; the message says how, and shows the usage.
    """
    try:
        return magic.parser.parse_argstring(line)
    except (UsageError, ValueError) as error:  # ValueError: a quote without its other
        sign = "%%" if is_cell else "%"
        usage = magic.parser.format_usage().partition("%")[2].strip()
        text = f"{sign}{magic.__name__}: {error}\nUsage: {sign}{usage}"
        raise UsageError(text) from None


def check_depth(args: Any) -> None:
    """Refuse a `--depth` below 1.

    Raises:
      UsageError: it is less than 1.
    """
    if args.depth < 1:
        raise UsageError(f"--depth counts levels from 1, got {args.depth}")


def unquoted(text: str) -> str:
    """A word of the command line without its quotes."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def show_as_asked(view: Any, args: Any) -> None:
    """Show a view live; with `--static` or `--text` show its contents and close it."""
    save_as_asked(view, args)
    if args.text:
        print(view)
    elif args.static:
        display.show_still(view)
    else:
        display.show(view)
        return
    view.close()


def finish_as_asked(view: Any, args: Any) -> None:
    """Show the contents of a view that a cell has filled, below the live one if any."""
    view.refresh()
    save_as_asked(view, args)
    if args.text:
        print(view)
    else:
        display.show_still(view)
    if args.static or args.text:
        view.close()


def save_as_asked(view: Any, args: Any) -> None:
    """Write a view to the file of `--save`, if there is one, and say so.

    Of several views of one magic, the second is written to "page_2.html".

    Raises:
      UsageError: the file cannot be written.
    """
    if args.save is None:
        return
    path = Path(unquoted(args.save)).expanduser()
    args.saved = getattr(args, "saved", 0) + 1
    if args.saved > 1:
        path = path.with_stem(f"{path.stem}_{args.saved}")
    try:
        view.save(path)
    except OSError as error:
        raise UsageError(f"--save {args.save}: {error}") from None
    print(f"Saved {path}, {path.stat().st_size / 1000:.0f} kB: open it in a browser.")
