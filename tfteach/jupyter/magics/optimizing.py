"""`%optimizing`: what the optimizer does to a run, pass by pass."""

from __future__ import annotations

import numpy as np
from IPython.core.magic import line_magic, magics_class

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
from tfteach.jupyter.magics.run_request import NO_VALUE, request_in


@magics_class
class OptimizingMagics(CompletedMagics):
    """Shows the optimizer's passes."""

    @magic_arguments()
    @FETCHES
    @FEED
    @FEED_DICT
    @SESSION
    @UNFOLDED
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def optimizing(self, line: str) -> None:  # fmt: skip
        """Show a run's graph before and after each pass of the optimizer, and why.

        Nothing is executed. If all feeds have values, their shapes are known, as they
        are to a program that has run several times, so more ops are constant.

        Examples:

            %optimizing loss --feed x labels
            %optimizing train_op --feed-dict {x:batch} --text
            %optimizing loss --unfolded
        """
        args = parsed(self.optimizing, line)
        session = session_of(self.shell, args.session)
        asked = request_in(self.shell, session, args)
        # Shapes are all or none.
        values = asked.feeds.values()
        known = values and not any(value is NO_VALUE for value in values)
        shapes = [np.shape(value) for value in values] if known else None

        from tfteach.jupyter.widgets.optimizing import OptimizingView

        view = OptimizingView(session, asked.fetches, asked.fed, shapes, args.unfolded)
        show_as_asked(view, args)
