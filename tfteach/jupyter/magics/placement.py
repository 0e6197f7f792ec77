"""`%placement`: where each op is placed, why, and what is copied."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.names import session_of
from tfteach.jupyter.magics.options import (
    DEPTH,
    FEED,
    FEED_DICT,
    SESSION,
    STATIC,
    TEXT,
    UNFOLDED,
    check_depth,
    magic_arguments,
    parsed,
    show_as_asked,
)
from tfteach.jupyter.magics.run_request import request_in


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
    @FEED_DICT
    @SESSION
    @UNFOLDED
    @argument(
        "--partitions",
        action="store_true",
        help="show the graph of each device, with what it sends and receives.",
    )
    @DEPTH
    @STATIC
    @TEXT
    @line_magic
    def placement(self, line: str) -> None:  # fmt: skip
        """Show where each op is placed, why, and what is copied between devices.

        Nothing is executed. Devices belong to a session, so there must be one.

        Examples:

            %placement train_op --session sess
            %placement loss --feed images --text
            %placement train_op --partitions
        """
        args = parsed(self.placement, line)
        check_depth(args)
        session = session_of(self.shell, args.session)
        asked = request_in(self.shell, session, args)

        from tfteach.jupyter.widgets.placement import PlacementView

        view = PlacementView(
            session,
            asked.fetches,
            asked.fed,
            unfolded=args.unfolded,
            partitions=args.partitions,
            depth=args.depth,
        )
        show_as_asked(view, args)
