"""`%graph` and `%%graph`: show a graph, or build one in a cell and watch it grow."""

from __future__ import annotations

from typing import Any, ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import line_cell_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.eager.eager_recording import EagerRecording, record_eager
from tfteach.explain.runs.folding import explain_folding, session_of_graph
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph import Graph
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics, Words, graph_words
from tfteach.jupyter.magics.eager_hints import check_has_graph, check_is_graph
from tfteach.jupyter.magics.names import did_you_mean, graphs_in
from tfteach.jupyter.magics.options import (
    DEPTH,
    FEED,
    FEED_DICT,
    FETCH,
    GRAPH_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    check_depth,
    finish_as_asked,
    magic_arguments,
    parsed,
    show_as_asked,
    unquoted,
)
from tfteach.jupyter.magics.run_request import (
    check_feeds,
    elements_of,
    feeds_of,
    graph_asked,
)


@magics_class
class GraphMagics(CompletedMagics):
    """The magics, with the graphs named by `--keep`."""

    takes: ClassVar[dict[str, Words]] = {"graph": graph_words}

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.kept: dict[str, Graph] = {}

    @magic_arguments()
    @argument(
        "graph",
        nargs="*",
        help="%%%%graph: a Python name for the new graph, or for the recording of "
        "--trace. %%graph: the graph or recording to show, an expression such as "
        "sess.graph; by default the default graph.",
    )
    @FETCH
    @FEED
    @FEED_DICT
    @GRAPH_OF_SESSION
    @DEPTH
    @STATIC
    @SAVE
    @TEXT
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
    @argument(
        "--trace",
        action="store_true",
        help="run the cell eagerly, and show what it computes as a graph beside its "
        "lines.",
    )
    @line_cell_magic
    def graph(self, line: str, cell: str | None = None) -> None:  # fmt: skip
        """Show a graph; `%%graph` runs the cell in a new tf.Graph and shows it grow.

        The cell runs in your own namespace, as any cell does, so its variables remain.
        Only the default graph differs while it runs. After an exception the view shows
        the part of the graph that was built. With `--fetch` and `--feed`, what such a
        run needs is highlighted, and if all of it is constant in an open session, a
        line below says so.

        With `--trace` the cell runs eagerly, also in a program that builds graphs: the
        picture has a node for each op that ran, with its values, the tapes that
        recorded it, and its line.

        Examples:

            %%graph --fetch total --depth 2
            a = tf.constant(2.0, name="a")
            total = tf.add(a, 3.0, name="total")

            %%graph g
            x = tf.placeholder(tf.float32)     # afterwards `g` is the tf.Graph

            %graph sess.graph --save page.html

            %%graph --trace
            with tf.GradientTape() as tape:
                y = tf.square(w)
            tape.gradient(y, w)
        """
        args = parsed(self.graph, line, cell is not None)
        check_depth(args)
        check_feeds(args)
        if cell is None:
            self._show(args)
        elif args.trace:
            self._run_eagerly(args, cell)
        else:
            self._run(args, cell)

    def _show(self, args: Any) -> None:
        if args.keep or args.default or args.trace:
            raise UsageError(
                "--keep, --default and --trace belong to %%graph, not to %graph"
            )
        expression = " ".join(args.graph)
        graph = graph_asked(self.shell, args.session)
        if graph is not None and expression:
            raise UsageError(
                f"%graph: which, {expression} or the graph of --session {args.session}?"
            )
        if graph is None:
            graph = (
                self._evaluated(expression)
                if expression
                else check_is_graph(get_default_graph())
            )
        view = self._view(graph, args)
        try:
            self._mark_run(view, args)
        except UsageError:
            view.close()
            raise
        text = self._folded(view)
        show_as_asked(view, args)
        if text:
            print(text)

    def _folded(self, view: Any) -> str:
        """What to say of a highlighted run that a session would not run at all."""
        graph, fetches = view.graph, view.fetches
        session = session_of_graph(graph) if isinstance(graph, Graph) else None
        if session is None or not fetches:
            return ""
        folded = explain_folding(session, fetches, view.feeds)
        return folded.sentence() if folded.is_whole else ""

    def _evaluated(self, expression: str) -> Any:
        try:
            value = self.shell.ev(expression)
        except Exception as error:
            near = did_you_mean(expression, graphs_in(self.shell.user_ns))
            raise UsageError(
                f"%graph {expression}: {str(error).rstrip('.')}.{near}"
            ) from None
        if isinstance(value, EagerRecording):
            return value
        check_has_graph(expression, value)
        graph = getattr(value, "graph", value)  # also a session or a tensor
        if isinstance(graph, str):
            raise UsageError(f"%graph shows a graph, not the string {graph!r}")
        return graph

    def _run(self, args: Any, cell: str) -> None:
        from tfteach.jupyter import display

        name = self._name(args)
        graph = self._graph(args)
        if name is not None:
            self.shell.user_ns[name] = graph
        view = self._view(graph, args)
        is_live = not args.static and not args.text
        if is_live:
            display.show_live(view)  # before the cell runs, to show growth live
        try:
            with graph.as_default():
                run_cell(self.shell, cell, "%%graph")
            try:
                self._mark_run(view, args)
                if text := self._folded(view):
                    print(text)
            except UsageError as error:  # not an error: the cell has run
                print(error)
        except BaseException as error:
            view.stopped_at = display.where_stopped(error)
            raise
        finally:
            finish_as_asked(view, args)

    def _run_eagerly(self, args: Any, cell: str) -> None:
        """Run the cell eagerly, and draw its ops as they run."""
        from tfteach.jupyter import display

        if args.keep or args.default or args.session:
            raise UsageError("--trace has a graph of its own, with what the cell runs")
        name = self._name(args)
        is_live = not args.static and not args.text
        view: Any = None
        try:
            with record_eager() as program:
                if name is not None:
                    self.shell.user_ns[name] = program
                view = self._view(program, args)
                if is_live:
                    display.show_live(view)
                run_cell(self.shell, cell, "%%graph")
        except BaseException as error:
            if view is not None:
                view.stopped_at = display.where_stopped(error)
            raise
        finally:
            if view is not None:
                finish_as_asked(view, args)

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
        if sum(map(bool, (args.keep, args.default, args.session))) > 1:
            raise UsageError("--keep, --default and --session exclude each other")
        graph = graph_asked(self.shell, args.session)
        if graph is not None:
            return graph
        if args.default:
            return check_is_graph(get_default_graph())
        if args.keep:
            return self.kept.setdefault(args.keep, Graph())
        return Graph()

    def _view(self, graph: Any, args: Any) -> Any:
        from tfteach.jupyter.widgets.eager import EagerView
        from tfteach.jupyter.widgets.graph import GraphView

        if isinstance(graph, EagerRecording):
            if args.fetch or args.feed or args.feed_dict:
                raise UsageError("eager code has run: nothing can be fetched or fed")
            return EagerView(graph, depth=max(2, args.depth))
        if args.feed_dict and not isinstance(graph, Graph):
            raise UsageError(
                "--feed-dict: a GraphDef has no tensors; --feed names them"
            )
        feeds = [unquoted(word).partition("=")[0] for word in args.feed]
        try:
            return GraphView(graph, map(unquoted, args.fetch), feeds, args.depth)
        except TypeError as error:
            raise UsageError(str(error)) from None

    def _mark_run(self, view: Any, args: Any) -> None:
        """Show the run that the options name, now that the graph has its ops.

        Raises:
          UsageError: a name is not in the graph.
        """
        if isinstance(view.graph, Graph) and args.fetch:
            view.fetches = elements_of(self.shell, view.graph, args)
            view.feeds = feeds_of(self.shell, view.graph, args)
