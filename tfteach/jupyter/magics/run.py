"""`%%run` and `%why`: which ops the session runs of a cell needed, and why."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from tfteach.explain.pruning import RunNeeds, explain_run
from tfteach.explain.runs import Run, watch_runs
from tfteach.framework.graph import Operation, Tensor
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import complete
from tfteach.jupyter.magics.names import element_of, graph_of
from tfteach.jupyter.magics.options import DEPTH, STATIC, check_depth, show_as_asked


@magics_class
class RunMagics(Magics):
    """Shows runs, and keeps the last one for `%why`."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.why)
        complete(shell, self.run)
        self.last: Run | None = None

    @magic_arguments()
    @DEPTH
    @STATIC
    @cell_magic
    def run(self, line: str, cell: str) -> None:
        """Run the cell, then show which ops each `Session.run` in it executed.

        Runs of the same fetches and feeds from the same line count as one. The cell
        runs in your own namespace, as any cell does. Afterwards, `%why` refers to the
        last run.

        Example:

            %%run
            for _ in range(100):
                sess.run(train_op, {x: batch})
            sess.run(loss, {x: batch})
        """
        args = parse_argstring(self.run, line)
        check_depth(args)
        with watch_runs() as seen:
            try:
                run_cell(self.shell, cell, "%%run")
            finally:
                self.last = seen.runs[-1] if seen.runs else self.last
                if seen.runs:
                    self._show(seen, args)
        if not seen.runs:
            print("No Session.run in this cell.")

    def _show(self, seen: Any, args: Any) -> None:
        from tfteach.jupyter.widgets.run import RunView

        for graph in dict.fromkeys(run.graph for run in seen.runs):
            view = RunView(graph, runs=seen, depth=args.depth)
            show_as_asked(view, args)

    @magic_arguments()
    @argument("node", help="the op to explain: its name, or a Python name.")
    @argument(
        "--fetch",
        action="append",
        default=[],
        metavar="NAME",
        help="explain a run of this op or tensor; may be repeated. By default the last "
        "run in a %%%%run cell.",
    )
    @argument(
        "--feed",
        action="append",
        default=[],
        metavar="NAME",
        help="a tensor that this run would be fed; may be repeated.",
    )
    @line_magic
    def why(self, line: str) -> None:  # fmt: skip
        """Explain why a run executes an op, or skips it.

        Examples:

            %why layer1/weights --fetch loss --feed x
            %why w                                   # in the last run of a %%run cell
        """
        args = parse_argstring(self.why, line)
        needs = self._needs(args)
        graph = needs.fetches[0].graph
        op = element_of(graph, self.shell.user_ns, args.node)
        print(needs.why(op if isinstance(op, Operation) else op.op))

    def _needs(self, args: Any) -> RunNeeds:
        if not args.fetch:
            if args.feed:
                raise UsageError("%why: --feed says more of a run that --fetch names")
            if self.last is None:
                raise UsageError(
                    "%why: which run? Say --fetch NAME, or run a cell with %%run first"
                )
            return self.last.needs()
        names = self.shell.user_ns
        graph = graph_of(names, args.fetch)
        fetches = [element_of(graph, names, name) for name in args.fetch]
        feeds = [element_of(graph, names, name) for name in args.feed]
        tensors = [f if isinstance(f, Tensor) else f.outputs[0] for f in feeds]
        return explain_run(graph, fetches, tensors)
