"""`%placement`: where each op is placed, why, and what is copied."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import open_sessions
from tfteach.explain.runs.cluster_plan import names_tasks
from tfteach.framework.graph import Graph
from tfteach.jupyter.magics.completion import CompletedMagics
from tfteach.jupyter.magics.names import graph_of, session_of
from tfteach.jupyter.magics.options import (
    DEPTH,
    FEED,
    FEED_DICT,
    SAVE,
    SESSION,
    STATIC,
    TEXT,
    UNFOLDED,
    check_depth,
    magic_arguments,
    parsed,
    show_as_asked,
    unquoted,
)
from tfteach.jupyter.magics.run_request import request_in, request_of


@magics_class
class PlacementMagics(CompletedMagics):
    """Shows placements."""

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
    @SAVE
    @TEXT
    @line_magic
    def placement(self, line: str) -> None:  # fmt: skip
        """Show where each op is placed, why, and what is copied between devices.

        Nothing is executed. Devices belong to a session, so there must be one; but a
        graph with devices such as "/job:ps/task:0" is planned for the cluster of its
        session, and without one for the tasks that it names.

        Examples:

            %placement train_op --session sess
            %placement loss --feed images --text
            %placement train_op --partitions
        """
        args = parsed(self.placement, line)
        check_depth(args)
        planned = self._plan_of_tasks(args)
        if planned is None:
            session = session_of(self.shell, args.session)
            asked = request_in(self.shell, session, args)
        else:
            asked = request_of(self.shell, args)

        from tfteach.jupyter.widgets.placement import PlacementView

        view = PlacementView(
            session if planned is None else planned,
            asked.fetches,
            asked.fed,
            unfolded=args.unfolded,
            partitions=args.partitions,
            depth=args.depth,
        )
        show_as_asked(view, args)

    def _plan_of_tasks(self, args: Any) -> Graph | BaseSession | None:
        """What plans the graph that is meant, if its ops name tasks of a cluster."""
        if args.session:
            return None
        try:
            graph = graph_of(
                self.shell.user_ns, [unquoted(name) for name in args.fetch]
            )
        except UsageError:  # several have such an op: the session decides
            return None
        if not names_tasks(graph):
            return None
        on_servers = [s for s in open_sessions(graph) if s._remote is not None]
        return on_servers[-1] if on_servers else graph
