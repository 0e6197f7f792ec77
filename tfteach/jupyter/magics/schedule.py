"""`%schedule`: in which order a run can execute its ops."""

from __future__ import annotations

from IPython.core.magic import line_magic, magics_class

from tfteach.engine.session.base_session import BaseSession
from tfteach.framework.graph import Graph
from tfteach.jupyter.magics.completion import CompletedMagics
from tfteach.jupyter.magics.names import session_of
from tfteach.jupyter.magics.options import (
    FEED,
    FEED_DICT,
    FETCHES,
    GRAPH_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    UNFOLDED,
    magic_arguments,
    parsed,
    show_as_asked,
)
from tfteach.jupyter.magics.run_request import request_of


@magics_class
class ScheduleMagics(CompletedMagics):
    """Shows schedules."""

    @magic_arguments()
    @FETCHES
    @FEED
    @FEED_DICT
    @GRAPH_OF_SESSION
    @UNFOLDED
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def schedule(self, line: str) -> None:  # fmt: skip
        """Show in which order a run can execute its ops: ready sets and races.

        Nothing is executed. Where a read and a write of a variable race, both legal
        orders are shown, with the value that is read in each.

        Examples:

            %schedule total assign_w
            %schedule train_op --feed x --text
        """
        args = parsed(self.schedule, line)
        asked = request_of(self.shell, args)

        from tfteach.jupyter.widgets.schedule import ScheduleView

        graph: Graph | BaseSession = asked.graph
        if args.session:
            graph = session_of(self.shell, args.session, may_be_closed=True)
        view = ScheduleView(graph, asked.fetches, asked.fed, args.unfolded)
        show_as_asked(view, args)
