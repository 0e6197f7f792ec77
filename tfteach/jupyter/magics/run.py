"""`%%run` and `%why`: which ops the session runs of a cell needed, and why."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.clusters.task_reasons import explain_task, is_on_cluster
from tfteach.explain.profiling.critical_path import critical_path_of
from tfteach.explain.profiling.timing import last_times
from tfteach.explain.runs.folding import (
    NOTHING,
    Folded,
    explain_folding,
    session_of_graph,
    unfolded,
)
from tfteach.explain.runs.pruning import RunNeeds, explain_run
from tfteach.explain.runs.runs import Run, Runs, watch_runs
from tfteach.framework.graph import Graph, Operation
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics
from tfteach.jupyter.magics.eager_hints import HERE, check_has_graph, runs_eagerly
from tfteach.jupyter.magics.names import element_of, session_of
from tfteach.jupyter.magics.options import (
    DEPTH,
    FEED,
    FEED_DICT,
    FETCH,
    GRAPH_OF_SESSION,
    RUN_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    UNFOLDED,
    check_depth,
    magic_arguments,
    parsed,
    show_as_asked,
)
from tfteach.jupyter.magics.run_request import (
    check_feeds,
    graph_asked,
    request_of,
)


@magics_class
class RunMagics(CompletedMagics):
    """Shows runs, and keeps the last one for `%why`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.last: Run | None = None

    @magic_arguments()
    @RUN_OF_SESSION
    @UNFOLDED
    @DEPTH
    @STATIC
    @SAVE
    @TEXT
    @cell_magic
    def run(self, line: str, cell: str) -> None:
        """Run the cell, then show which ops each `Session.run` in it executed.

        Runs of the same fetches and feeds from the same line count as one, and so do
        graphs of the same ops with the same runs, built by the same lines. The cell
        runs in your own namespace, as any cell does. Afterwards, `%why` refers to the
        last run.

        Example:

            %%run
            for _ in range(100):
                sess.run(train_op, {x: batch})
            sess.run(loss, {x: batch})
        """
        args = parsed(self.run, line, is_cell=True)
        check_depth(args)
        with unfolded(args.unfolded), watch_runs() as seen:
            try:
                run_cell(self.shell, cell, "%%run")
            finally:
                self._show(seen, args)

    def _show(self, seen: Runs, args: Any) -> None:
        from tfteach.jupyter.widgets.run import RunView

        of = ""
        if args.session:
            try:
                session = session_of(self.shell, args.session, True)
            except UsageError as error:  # not an error: the cell has run
                print(error)
            else:
                of = f" of {args.session}"
                seen.runs = [run for run in seen.runs if run.session == session.number]
        if not seen.runs:
            also = f" {HERE}" if runs_eagerly() and not of else ""
            print(f"No Session.run{of} in this cell.{also}")
            return
        started = [run for run in seen.runs if not run.refused]
        self.last = started[-1] if started else self.last
        for family in seen.families():
            view = RunView(family[0], runs=seen, depth=args.depth)
            show_as_asked(view, args)
            if len(family) > 1:
                print(
                    f"These runs took place in {len(family):,} graphs of the same ops; "
                    "the first is shown. %%lazy shows them all over time."
                )

    @magic_arguments()
    @argument("node", help="the op to explain: its name, or a Python name.")
    @FETCH
    @FEED
    @FEED_DICT
    @GRAPH_OF_SESSION
    @UNFOLDED
    @TEXT
    @line_magic
    def why(self, line: str) -> None:  # fmt: skip
        """Explain why a run executes an op, or skips it.

        It is the run that `--fetch` names, or else the last run of a `%%run` cell. On a
        cluster also: on which task the op is and why, what it waits for, what it sends.
        After `%timeline` also whether the op is on the critical path of that run.

        Examples:

            %why layer1/weights --fetch loss --feed x
            %why w                                   # in the last run of a %%run cell
        """
        args = parsed(self.why, line)
        needs, folded = self._asked(args)
        graph = needs.fetches[0].graph
        element = element_of(graph, self.shell.user_ns, args.node)
        op = element if isinstance(element, Operation) else element.op
        found = needs.why(op)
        if found.runs and not args.unfolded:
            found = found._replace(folded=folded.why(op))
        print(found)
        times = last_times(graph) if found.runs else None
        if times is not None and (said := critical_path_of(times).why(op.name)):
            print(said)
        where = self._session_of(graph, args)
        where = graph if where is None or where._closed else where
        if found.runs and is_on_cluster(where):
            print(explain_task(where, op, needs.fetches, needs.feeds))

    def _session_of(self, graph: Graph, args: Any) -> Any:
        """The session of `--session`, else that which would run the graph, or None."""
        if args.session:
            return session_of(self.shell, args.session, may_be_closed=True)
        return session_of_graph(graph)

    def _asked(self, args: Any) -> tuple[RunNeeds, Folded]:
        """The run to explain, and what its session leaves out of it."""
        if args.fetch:
            graph, fetches, _ = asked = request_of(self.shell, args)
            needs = explain_run(graph, fetches, asked.fed)
            session = self._session_of(graph, args)
            if session is None:
                return needs, NOTHING
            return needs, explain_folding(session, fetches, asked.fed)
        check_feeds(args)
        if self.last is None:
            check_has_graph(args.node, self.shell.user_ns.get(args.node))
            raise UsageError(
                "%why: which run? Say --fetch NAME, or run a cell with %%run first"
            )
        if graph_asked(self.shell, args.session) not in (None, self.last.graph):
            raise UsageError(
                f"%why: the last run in a %%run cell was not of {args.session}; say "
                "--fetch NAME"
            )
        run = self.last
        return run.needs(), NOTHING if run.unfolded else run.folded
