"""`%schedule`: in which order a run can execute its ops."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.names import element_of, graph_of
from tfteach.jupyter.magics.options import FEED, STATIC, show_as_asked


@magics_class
class ScheduleMagics(Magics):
    """Shows schedules."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.schedule)

    @magic_arguments()
    @argument(
        "fetch", nargs="+", help="what would be fetched: names of ops, or Python names."
    )
    @FEED
    @STATIC
    @argument("--text", action="store_true", help="print ready sets and races.")
    @line_magic
    def schedule(self, line: str) -> None:  # fmt: skip
        """Show in which order a run can execute its ops: ready sets and races.

        Nothing is executed. Where a read and a write of a variable race, both legal
        orders are shown, with the value that is read in each.

        Examples:

            %schedule total assign_w
            %schedule train_op --feed x --text
        """
        args = parse_argstring(self.schedule, line)
        names = self.shell.user_ns
        graph = graph_of(names, args.fetch)
        fetches = [element_of(graph, names, name) for name in args.fetch]
        feeds = [element_of(graph, names, name) for name in args.feed]

        from tfteach.jupyter.widgets.schedule import ScheduleView

        show_as_asked(ScheduleView(graph, fetches, feeds), args)
