"""`%placement`: which device each op goes to, why, and what is copied."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from tfteach.jupyter import display
from tfteach.jupyter.magics.names import complete_names, element_of, session_of


@magics_class
class PlacementMagics(Magics):
    """Shows placements."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete_names(shell, "%placement")

    @magic_arguments()
    @argument(
        "fetch",
        nargs="*",
        help="ops or tensors whose run is looked at: names or Python names; the whole "
        "graph without any.",
    )
    @argument(
        "--feed",
        action="append",
        default=[],
        metavar="NAME",
        help="a tensor that the run is fed; may be repeated.",
    )
    @argument(
        "--session",
        metavar="NAME",
        help="the session, an expression; without it the default session, or the only "
        "one that is open.",
    )
    @argument("--depth", type=int, default=1, help="how many levels of scopes to open.")
    @argument(
        "--static", action="store_true", help="show a still picture, no live view."
    )
    @argument(
        "--text", action="store_true", help="print TensorFlow's log, with the reasons."
    )
    @line_magic
    def placement(self, line: str) -> None:  # fmt: skip
        """Show on which device each op runs, why, and what is copied between devices.

        Nothing is run. Devices belong to a session, so there must be one.

        Examples:

            %placement train_op --session sess
            %placement loss --feed images --text
        """
        args = parse_argstring(self.placement, line)
        if args.depth < 1:
            raise UsageError(f"--depth counts levels from 1, got {args.depth}")
        session = session_of(self.shell, args.session)
        graph, names = session.graph, self.shell.user_ns
        fetches = [element_of(graph, names, name) for name in args.fetch]
        feeds = [element_of(graph, names, name) for name in args.feed]

        from tfteach.jupyter.widgets.placement import PlacementView

        view = PlacementView(session, fetches, feeds, depth=args.depth)
        if args.text:
            print(view.to_text())
        elif args.static:
            display.show_still(view)
        else:
            display.show(view)
            return
        view.close()
