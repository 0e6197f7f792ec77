"""`%diff` and `%%diff`: how two graphs differ, or what a cell adds to one."""

from __future__ import annotations

from typing import Any, ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import line_cell_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.framework import protos
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph import Graph
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics, Words, graph_words
from tfteach.jupyter.magics.names import did_you_mean, graphs_in
from tfteach.jupyter.magics.options import (
    GRAPH_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    magic_arguments,
    parsed,
    show_as_asked,
)
from tfteach.jupyter.magics.run_request import graph_asked

GRAPHS = (Graph, protos.GraphDef)


@magics_class
class DiffMagics(CompletedMagics):
    """Compares graphs."""

    takes: ClassVar[dict[str, Words]] = {"diff": graph_words}

    @magic_arguments()
    @argument(
        "graph",
        nargs="*",
        help="%%diff: the graphs before and after; the second is optional, and by "
        "default the default graph. %%%%diff: the graph that the cell changes; by "
        "default the default graph. With --session its graph takes the place of the "
        "default graph. Each is a Python name (or an expression without "
        "spaces) of a tf.Graph, a GraphDef, a session or a tensor.",
    )
    @GRAPH_OF_SESSION
    @STATIC
    @SAVE
    @TEXT
    @line_cell_magic
    def diff(self, line: str, cell: str | None = None) -> None:  # fmt: skip
        """Show two graphs side by side; `%%diff` shows what the cell changes.

        Ops are matched by name. To compare a graph with its own earlier state, keep
        that as a GraphDef: `before = graph.as_graph_def()`.

        Examples:

            %diff plain_graph dropout_graph
            %diff before                       # with the default graph as it is now
            %diff before sess.graph --text

            %%diff
            train = tf.train.AdamOptimizer().minimize(loss)
        """
        args = parsed(self.diff, line, cell is not None)
        most = 2 if cell is None else 1
        if len(args.graph) > most:
            raise UsageError(
                f"{'%diff compares two graphs' if cell is None else '%%diff takes one'}"
                f", got {len(args.graph)}: {' '.join(args.graph)}"
            )
        if args.session and len(args.graph) == most:
            raise UsageError(
                f"%diff: which is the graph {'after' if most == 2 else 'before'}, "
                f"{args.graph[-1]} or that of --session {args.session}?"
            )
        if args.session and len(args.graph) == most:
            raise UsageError(
                f"%diff: which is the graph {'after' if most == 2 else 'before'}, "
                f"{args.graph[-1]} or that of --session {args.session}?"
            )
        if cell is not None:
            self._run(args, cell)
            return
        if not args.graph:
            known = ", ".join(graphs_in(self.shell.user_ns)) or "none by name"
            raise UsageError(
                "%diff: which graphs? Say %diff BEFORE AFTER, or %diff BEFORE for the "
                f"default graph; keep one with before = graph.as_graph_def(). "
                f"There are {known}"
            )
        after = args.graph[1] if len(args.graph) > 1 else None
        self._show(self._graph(args.graph[0]), self._graph(after, args.session), args)

    def _run(self, args: Any, cell: str) -> None:
        graph = self._graph(args.graph[0] if args.graph else None, args.session)
        if not isinstance(graph, Graph):
            raise UsageError(
                f"%%diff: a cell cannot change {args.graph[0]}: a GraphDef"
            )
        before = graph.as_graph_def()
        try:
            with graph.as_default():
                run_cell(self.shell, cell, "%%diff")
        finally:
            self._show(before, graph, args)

    def _show(self, before: Any, after: Any, args: Any) -> None:
        from tfteach.jupyter.widgets.difference import GraphDiff

        show_as_asked(GraphDiff(before, after), args)

    def _graph(self, expression: str | None, session: str | None = None) -> Any:
        """The Graph or GraphDef of an expression; else that of a session.

        Raises:
          UsageError: it has none; the message suggests similar names.
        """
        if expression is None:
            return graph_asked(self.shell, session) or get_default_graph()
        try:
            value = self.shell.ev(expression)
        except Exception as error:
            near = did_you_mean(expression, graphs_in(self.shell.user_ns))
            raise UsageError(f"%diff {expression}: {error}.{near}") from None
        found = graph_in(value)
        if found is None:
            raise UsageError(
                f"%diff {expression}: expected a tf.Graph, a GraphDef, or what belongs "
                f"to a graph, got {type(value).__name__}"
            )
        return found


def graph_in(value: Any) -> Any:
    """The Graph or GraphDef of a value; None if it has none."""
    for found in (value, getattr(value, "graph", None)):
        if isinstance(found, GRAPHS):
            return found
    inside = getattr(value, "graph_def", None)  # of a MetaGraphDef
    return inside if isinstance(inside, protos.GraphDef) else None
