"""`%timeline`: where the time of a run goes, and its memory."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.profiling.timing import StepTimes, timed, times_and_stats
from tfteach.jupyter.magics.completion import CompletedMagics
from tfteach.jupyter.magics.names import session_of
from tfteach.jupyter.magics.options import (
    FEED,
    FEED_DICT,
    FETCHES,
    SAVE,
    SESSION,
    STATIC,
    TEXT,
    UNFOLDED,
    magic_arguments,
    parsed,
    show_as_asked,
)
from tfteach.jupyter.magics.run_request import request_in


@magics_class
class TimelineMagics(CompletedMagics):
    """Shows timed runs."""

    @magic_arguments()
    @FETCHES
    @FEED
    @FEED_DICT
    @SESSION
    @argument(
        "--runs",
        type=int,
        default=5,
        help="the number of timed runs, after one to warm up; the fastest is shown.",
    )
    @argument("--memory", action="store_true", help="also show the memory of the run.")
    @UNFOLDED
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def timeline(self, line: str) -> None:  # fmt: skip
        """Run several times, and show when each op ran and for how long.

        The runs have their usual effects: a training op trains.

        Examples:

            %timeline train_op --feed x=images labels=digits
            %timeline loss --feed-dict {x:batch} --runs 20 --text
        """
        args = parsed(self.timeline, line)
        if args.runs < 1:
            raise UsageError(f"--runs counts from 1, got {args.runs}")
        session = session_of(self.shell, args.session)
        asked = request_in(self.shell, session, args)
        run = asked.fetches, asked.feed_dict, args.runs
        times, stats = times_and_stats(session, *run, args.unfolded)

        from tfteach.jupyter.widgets.memory import MemoryView
        from tfteach.jupyter.widgets.timeline import TimelineView

        def again(unfolded: bool) -> StepTimes:
            return timed(session, *run, unfolded)

        views: list[Any] = [TimelineView(times, graph=session.graph, again=again)]
        if args.memory:
            views.append(MemoryView(stats, session.graph))
        for view in views:
            show_as_asked(view, args)
