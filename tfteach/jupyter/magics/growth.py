"""`%%lazy`: watch a graph grow while a cell runs, and find lazy loading."""

from __future__ import annotations

from contextlib import nullcontext
from textwrap import wrap
from typing import Any, ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.engine.eager.context import executing_eagerly
from tfteach.explain.building.graph_lives import times
from tfteach.explain.building.graph_log import GraphLog, recording
from tfteach.explain.building.growth import Growth
from tfteach.explain.building.lazy_loading import advice_of
from tfteach.explain.building.rebuilding import findings_of
from tfteach.explain.building.rebuilding_text import family_text, finding_lines
from tfteach.explain.eager.eager_growth import EagerGrowth, watch_eager
from tfteach.framework.graph import Graph
from tfteach.jupyter import display
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics, Words, no_words
from tfteach.jupyter.magics.options import (
    GRAPH_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    finish_as_asked,
    magic_arguments,
    parsed,
)
from tfteach.jupyter.magics.run_request import graph_asked

MOST_LISTED = 5  # families that are not drawn


@magics_class
class GrowthMagics(CompletedMagics):
    """Watches graphs grow."""

    takes: ClassVar[dict[str, Words]] = {"lazy": no_words}

    @magic_arguments()
    @argument(
        "--fresh",
        action="store_true",
        help="run the cell with a new tf.Graph as the default graph, so that it can be "
        "run again.",
    )
    @argument(
        "--height",
        type=int,
        default=0,
        help="height of the graph in pixels; 0 fits.",
    )
    @GRAPH_OF_SESSION
    @STATIC
    @SAVE
    @TEXT
    @cell_magic
    def lazy(self, line: str, cell: str) -> None:
        """Run the cell and watch every graph that it builds or runs.

        The view grows with the cell; afterwards the growth can be played. If ops are
        built again and again while the graph is run, the line that builds them is
        printed, with a fix; so is a line that makes graph after graph of the same ops,
        or session after session. The cell runs in your own namespace, as any cell does.

        In an eager program the picture comes when the cell has run: what ran eagerly,
        iteration by iteration, beside the graph that the cell built, if any.

        Example:

            %%lazy --fresh
            x = tf.Variable(10)
            y = tf.Variable(20)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(10):
                    sess.run(tf.add(x, y))
        """
        args = parsed(self.lazy, line, is_cell=True)
        if args.height < 0:
            raise UsageError(f"--height counts pixels, got {args.height}")
        only = graph_asked(self.shell, args.session)
        fresh = Graph().as_default() if args.fresh else nullcontext()
        is_eager = executing_eagerly() and only is None and not args.fresh
        watching = watch_eager() if is_eager else nullcontext()
        with watching as eager:
            watch = _Watch(args, only, eager)
            try:
                with recording(watch.log), fresh:
                    run_cell(self.shell, cell, "%%lazy")
            finally:
                watch.finish()


class _Watch:
    """The graphs and sessions of one cell, and a view for each kind of graph.

    In an eager program the views wait for the end of the cell: then it is known whether
    ops ran eagerly, whose growth stands beside that of the first graph.
    """

    def __init__(
        self, args: Any, only: Graph | None, eager: EagerGrowth | None
    ) -> None:
        self.args = args
        self.eager = eager
        self.began_eagerly = executing_eagerly()
        self.waiting: list[Growth] | None = None if eager is None else []
        self.views: list[Any] = []
        self.log = GraphLog(self._show, self._changed, only)

    def _show(self, growth: Growth) -> None:
        """Show a graph as soon as something happens; the first view has all graphs."""
        from tfteach.jupyter.shown_growth import shown_growth_of
        from tfteach.jupyter.widgets.growth import GrowthView

        if self.waiting is not None:
            self.waiting.append(growth)
            return
        height = self.args.height
        if self.eager is not None and not self.views:
            view = GrowthView(eager=self.eager, graph=self.log, height=height)
        elif self.views:
            number = next(n for n, g in self.log.growths.items() if g is growth)
            view = GrowthView(shown_growth_of("", self.log, number), height=height)
        else:
            view = GrowthView(self.log, height=height)
        self._add(view)

    def _show_eager(self) -> None:
        """Show what an eager program did, beside the graphs that it built."""
        from tfteach.jupyter.widgets.growth import GrowthView

        waiting, self.waiting = self.waiting or [], None
        if self.eager is not None:
            self.eager.close()
            if not self.eager.ops_ran:
                self.eager = None
            elif not waiting:
                self._add(GrowthView(self.eager, height=self.args.height))
        for growth in waiting:
            self._show(growth)

    def _add(self, view: Any) -> None:
        self.views.append(view)
        if not self.args.static and not self.args.text:
            display.show_live(view)

    def _changed(self) -> None:
        for view in self.views:
            view.lives_changed()

    def finish(self) -> None:
        """Show the static pictures, and print the verdicts."""
        self._show_eager()
        for view in self.views:
            finish_as_asked(view, self.args)
        if not self.args.text:  # the text of a view contains its verdict
            self._tell()
        self._tell_the_rest()

    def _tell(self) -> None:
        """Print the verdicts."""
        from tfteach.jupyter.display import place

        for growth in self.log.growths.values():
            verdict = growth.verdict
            if verdict.is_lazy:
                print(verdict.headline(place), *advice_of(verdict, place), sep="\n")
        if self.eager is not None and self.eager.verdict.kind == "held":
            print(*wrap(self.eager.verdict.fix(place), 79), sep="\n")
        for finding in findings_of(self.log.graphs):
            if finding.is_waste or finding.kind == "kept":
                print(*finding_lines(finding, place, costs=False), sep="\n")

    def _tell_the_rest(self) -> None:
        """Say which graphs have no view of their own."""
        from tfteach.jupyter.display import place

        rest = self.log.not_grown
        if rest:
            count = sum(len(family.graphs) for family in rest)
            print(f"Not drawn: {times(count, 'graph')} more.")
        for family in rest[:MOST_LISTED]:
            print(f"  {family_text(family, place)}")
        if len(rest) > MOST_LISTED:
            print(f"  and {times(len(rest) - MOST_LISTED, 'kind')} more")
        if not self.views and executing_eagerly() and not self.began_eagerly:
            print("Eager execution began in this cell: watch a later one.")
        elif not self.views:
            print("No graph was built or run in this cell.")
