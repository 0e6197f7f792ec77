"""`%placement`: where each op is placed, why, and what is copied."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.names import element_of, session_of
from tfteach.jupyter.magics.options import (
    DEPTH,
    FEED,
    SESSION,
    STATIC,
    check_depth,
    show_as_asked,
)


@magics_class
class PlacementMagics(Magics):
    """Shows placements."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.placement)

    @magic_arguments()
    @argument(
        "fetch",
        nargs="*",
        help="what would be fetched: names of ops, or Python names; by default the "
        "whole graph is placed.",
    )
    @FEED
    @SESSION
    @DEPTH
    @STATIC
    @argument(
        "--text", action="store_true", help="print TensorFlow's log, with reasons."
    )
    @line_magic
    def placement(self, line: str) -> None:  # fmt: skip
        """Show where each op is placed, why, and what is copied between devices.

        Nothing is executed. Devices belong to a session, so there must be one.

        Examples:

            %placement train_op --session sess
            %placement loss --feed images --text
        """
        args = parse_argstring(self.placement, line)
        check_depth(args)
        session = session_of(self.shell, args.session)
        graph, names = session.graph, self.shell.user_ns
        fetches = [element_of(graph, names, name) for name in args.fetch]
        feeds = [element_of(graph, names, name) for name in args.feed]

        from tfteach.jupyter.widgets.placement import PlacementView

        view = PlacementView(session, fetches, feeds, depth=args.depth)
        show_as_asked(view, args)
