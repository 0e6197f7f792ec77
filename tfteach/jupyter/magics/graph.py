"""`%graph` and `%%graph`: show a graph, or build one in a cell and watch it grow."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph import Graph
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import complete, graph_words
from tfteach.jupyter.magics.names import did_you_mean, graphs_in, has_op
from tfteach.jupyter.magics.options import DEPTH, STATIC, check_depth, show_as_asked


@magics_class
class GraphMagics(Magics):
    """The magics, with the graphs named by `--keep`."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        complete(shell, self.graph, graph_words)
        self.kept: dict[str, Graph] = {}

    @magic_arguments()
    @argument(
        "graph",
        nargs="*",
        help="%%%%graph: a Python name for the new graph. %%graph: the graph to show, "
        "an expression such as sess.graph; by default the default graph.",
    )
    @argument(
        "--fetch",
        action="append",
        default=[],
        metavar="NAME",
        help="highlight what a run of this op or tensor needs; may be repeated.",
    )
    @argument(
        "--feed",
        action="append",
        default=[],
        metavar="NAME",
        help="a tensor that this run would be fed; may be repeated.",
    )
    @DEPTH
    @STATIC
    @argument(
        "--keep",
        metavar="NAME",
        help="continue the graph kept under this name by earlier cells, or begin it.",
    )
    @argument(
        "--default",
        action="store_true",
        help="add to the default graph instead of a new one.",
    )
    @line_cell_magic
    def graph(self, line: str, cell: str | None = None) -> None:  # fmt: skip
        """Show a graph; `%%graph` runs the cell in a new tf.Graph and shows it grow.

        The cell runs in your own namespace, as any cell does, so its variables remain.
        Only the default graph differs while it runs. After an exception the view shows
        the part of the graph that was built.

        Examples:

            %%graph --fetch total --depth 2
            a = tf.constant(2.0, name="a")
            total = tf.add(a, 3.0, name="total")

            %%graph g
            x = tf.placeholder(tf.float32)     # afterwards `g` is the tf.Graph

            %graph sess.graph
        """
        args = parse_argstring(self.graph, line)
        check_depth(args)
        if cell is None:
            self._show(args)
        else:
            self._run(args, cell)

    def _show(self, args: Any) -> None:
        if args.keep or args.default:
            raise UsageError("--keep and --default belong to %%graph, not to %graph")
        expression = " ".join(args.graph)
        try:
            graph = self.shell.ev(expression) if expression else get_default_graph()
        except Exception as error:
            near = did_you_mean(expression, graphs_in(self.shell.user_ns))
            raise UsageError(f"%graph {expression}: {error}.{near}") from None
        graph = getattr(graph, "graph", graph)  # also a session or a tensor
        if isinstance(graph, str):
            raise UsageError(f"%graph shows a graph, not the string {graph!r}")
        self._display(graph, args)

    def _display(self, graph: Any, args: Any) -> None:
        view = self._view(graph, args)
        unknown = _unknown(graph, args) if isinstance(graph, Graph) else ""
        if unknown:
            view.close()
            raise UsageError(unknown)
        show_as_asked(view, args)

    def _run(self, args: Any, cell: str) -> None:
        from tfteach.jupyter import display

        name = self._name(args)
        graph = self._graph(args)
        if name is not None:
            self.shell.user_ns[name] = graph
        view = self._view(graph, args)
        if not args.static:
            display.show_live(view)  # before the cell runs, to show growth live
        try:
            with graph.as_default():
                run_cell(self.shell, cell, "%%graph")
            unknown = _unknown(graph, args)
            if unknown:  # not an error: the cell has run
                print(unknown)
        except BaseException as error:
            view.stopped_at = display.where_stopped(error)
            raise
        finally:
            view.refresh()
            display.show_still(view)
            if args.static:
                view.close()

    def _name(self, args: Any) -> str | None:
        if not args.graph:
            return None
        name = args.graph[0]
        if len(args.graph) > 1 or not name.isidentifier():
            raise UsageError(
                f"%%graph {' '.join(args.graph)}: expected one Python name for it"
            )
        return str(name)

    def _graph(self, args: Any) -> Graph:
        if args.keep and args.default:
            raise UsageError("--keep and --default exclude each other")
        if args.default:
            return get_default_graph()
        if args.keep:
            return self.kept.setdefault(args.keep, Graph())
        return Graph()

    def _view(self, graph: Any, args: Any) -> Any:
        from tfteach.jupyter.widgets.graph import GraphView

        try:
            return GraphView(graph, args.fetch, args.feed, args.depth)
        except TypeError as error:
            raise UsageError(str(error)) from None


def _unknown(graph: Graph, args: Any) -> str:
    """A message about the first option that names nothing of the graph, or ""."""
    for option, names in (("--fetch", args.fetch), ("--feed", args.feed)):
        for name in names:
            if not has_op(graph, name.lstrip("^").partition(":")[0]):
                near = did_you_mean(name, (op.name for op in graph.get_operations()))
                return f"{option} {name}: the graph has no such op.{near}"
    return ""
