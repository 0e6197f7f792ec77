"""`%optimizing`: what the optimizer does to a run, pass by pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.names import element_of, session_of
from tfteach.jupyter.magics.options import (
    FEED,
    FEED_DICT,
    SESSION,
    STATIC,
    feed_dict_of,
    show_as_asked,
)


@magics_class
class OptimizingMagics(Magics):
    """Shows the optimizer's passes."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.optimizing)

    @magic_arguments()
    @argument(
        "fetch", nargs="+", help="what would be fetched: names of ops, or Python names."
    )
    @FEED
    @FEED_DICT
    @SESSION
    @STATIC
    @argument(
        "--text",
        action="store_true",
        help="print what each pass changes, and why.",
    )
    @line_magic
    def optimizing(self, line: str) -> None:  # fmt: skip
        """Show a run's graph before and after each pass of the optimizer, and why.

        Nothing is executed. With `--feed-dict` the shapes of the feeds are known, as
        they are to a program that has run several times, so more ops are constant.

        Examples:

            %optimizing loss --feed x
            %optimizing train_op --feed-dict {x:batch} --text
        """
        args = parse_argstring(self.optimizing, line)
        session = session_of(self.shell, args.session)
        graph, names = session.graph, self.shell.user_ns
        fetches = [element_of(graph, names, name) for name in args.fetch]
        feeds: list[Any] = [element_of(graph, names, name) for name in args.feed]
        fed = feed_dict_of(self.shell, args.feed_dict)
        shapes = None
        if fed is not None:
            # Shapes are all or none, and feeds named by `--feed` have none.
            shapes = None if feeds else [np.shape(value) for value in fed.values()]
            feeds += list(fed)

        from tfteach.jupyter.widgets.optimizing import OptimizingView

        show_as_asked(OptimizingView(session, fetches, feeds, shapes), args)
