"""`%sharing` and `%collections`: what a graph's variables and collections are for."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.jupyter.magics.completion import CompletedMagics
from tfteach.jupyter.magics.names import element_of, graph_of, session_of
from tfteach.jupyter.magics.options import (
    GRAPH_OF_SESSION,
    SAVE,
    STATIC,
    TEXT,
    magic_arguments,
    parsed,
    show_as_asked,
)


@magics_class
class SharingMagics(CompletedMagics):
    """Shows variables with their calls, and collections."""

    @magic_arguments()
    @argument(
        "name",
        nargs="?",
        help="a variable or op whose name is explained: its name, or a Python name.",
    )
    @GRAPH_OF_SESSION
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def sharing(self, line: str) -> None:  # fmt: skip
        """Show which calls created and shared each variable, and explain names.

        Examples:

            %sharing
            %sharing layer/weights --text
        """
        args = parsed(self.sharing, line)
        names = [args.name] if args.name else []
        graph = self._graph(args, names)
        element = element_of(graph, self.shell.user_ns, args.name) if names else None
        if element is not None and args.text:
            from tfteach.explain.graphs.names import explain_name

            print(explain_name(element, graph))
            return
        op: Any = getattr(element, "op", element)

        from tfteach.jupyter.widgets.sharing import SharingView

        show_as_asked(SharingView(graph, "" if op is None else op.name), args)

    @magic_arguments()
    @GRAPH_OF_SESSION
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def collections(self, line: str) -> None:  # fmt: skip
        """Show who puts what into the graph's collections, and who takes it out.

        Examples:

            %collections
            %collections --session sess --text
        """
        args = parsed(self.collections, line)

        from tfteach.jupyter.widgets.collections import CollectionsView

        show_as_asked(CollectionsView(self._graph(args, [])), args)

    def _graph(self, args: Any, names: list[str]) -> Any:
        if args.session:
            return session_of(self.shell, args.session).graph
        return graph_of(self.shell.user_ns, names)
