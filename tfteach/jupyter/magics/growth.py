"""`%%lazy`: watch a graph grow while a cell runs, and find lazy loading."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.growth import Growth
from tfteach.explain.lazy_loading import advice_of
from tfteach.framework.graph import (
    Graph,
    OpAdded,
    SessionRun,
    Subscription,
    observe_all,
)
from tfteach.jupyter import display
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.options import (
    GRAPH_OF_SESSION,
    STATIC,
    TEXT,
    magic_arguments,
    parsed,
)
from tfteach.jupyter.magics.run_request import graph_asked

MOST_VIEWS = 4  # views per cell


@magics_class
class GrowthMagics(Magics):
    """Watches graphs grow."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.lazy, lambda user_ns, line: [])

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
    @TEXT
    @cell_magic
    def lazy(self, line: str, cell: str) -> None:
        """Run the cell and watch every graph that it builds or runs.

        The view grows with the cell; afterwards the growth can be played. If ops are
        built again and again while the graph is run, the line that builds them is
        printed, with a fix. The cell runs in your own namespace, as any cell does.

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
        watch = _Watch(args, graph_asked(self.shell, args.session))
        fresh = Graph().as_default() if args.fresh else nullcontext()
        try:
            with observe_all(watch.callback), fresh:
                run_cell(self.shell, cell, "%%lazy")
        finally:
            watch.finish()


class _Watch:
    """The graphs of one cell, with a growth and a view for each."""

    def __init__(self, args: Any, only: Graph | None) -> None:
        self.args = args
        self.only = only  # None for all graphs
        self.growths: dict[Graph, Growth] = {}
        self.views: list[Any] = []
        self.thread = threading.get_ident()
        self.callback = self._record  # `self._note` is a new object at each access

    def _record(self, event: OpAdded | SessionRun) -> None:
        built = isinstance(event, OpAdded)
        graph = event.op.graph if isinstance(event, OpAdded) else event.session.graph
        # Ignore functions, and graphs that only other threads use.
        if graph in self.growths or graph.building_function:
            return
        if self.only not in (None, graph):
            return
        if threading.get_ident() != self.thread:
            return
        growth = self.growths[graph] = Growth(graph, graph.version - built)
        if not built:
            growth.note(event)
        if len(self.views) < MOST_VIEWS:
            self._show(growth)
        # The growth observes the graph itself; every observer slows every op down.
        Subscription(graph, self.callback).close()

    def _show(self, growth: Growth) -> None:
        from tfteach.jupyter.widgets.growth import GrowthView

        view = GrowthView(growth, height=self.args.height)
        self.views.append(view)
        if not self.args.static and not self.args.text:
            display.show_live(view)

    def finish(self) -> None:
        from tfteach.jupyter.widgets.growth import place

        for growth in self.growths.values():
            growth.close()
        for view in self.views:
            view.refresh()
            if self.args.text:
                print(view)
            else:
                display.show_still(view)
            if self.args.static or self.args.text:
                view.close()
        # The text of a view contains its verdict.
        told = len(self.views) if self.args.text else 0
        for growth in list(self.growths.values())[told:]:
            verdict = growth.verdict
            if verdict.is_lazy:
                print(verdict.headline(place), *advice_of(verdict, place), sep="\n")
        if not self.growths:
            print("No graph was built or run in this cell.")
