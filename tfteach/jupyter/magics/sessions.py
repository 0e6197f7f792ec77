"""`%sessions`: the sessions on one graph, and the values of their variables."""

from __future__ import annotations

from typing import ClassVar

from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import open_sessions
from tfteach.explain.runs.sessions import default_name
from tfteach.framework.graph import Graph
from tfteach.jupyter.magics.completion import CompletedMagics, Words, session_words
from tfteach.jupyter.magics.eager_hints import no_session
from tfteach.jupyter.magics.names import session_of, sessions_in
from tfteach.jupyter.magics.options import (
    SAVE,
    STATIC,
    TEXT,
    magic_arguments,
    parsed,
    show_as_asked,
)


@magics_class
class SessionsMagics(CompletedMagics):
    """Shows sessions."""

    takes: ClassVar[dict[str, Words]] = {"sessions": session_words}

    @magic_arguments()
    @argument(
        "sessions",
        nargs="*",
        help="Python names of sessions; by default all that have one, and the other "
        "sessions of their graphs.",
    )
    @argument(
        "--session",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="more sessions, named as in the other magics.",
    )
    @STATIC
    @SAVE
    @TEXT
    @line_magic
    def sessions(self, line: str) -> None:  # fmt: skip
        """Show sessions side by side: what their variables hold, run by run.

        Runs are recorded from here on, in this cell and all later ones. Each graph that
        has sessions gets a view.

        Examples:

            %sessions
            %sessions sess_a sess_b
        """
        args = parsed(self.sessions, line)
        from tfteach.jupyter.widgets.sessions import SessionsView

        for named in self._by_graph([*args.sessions, *args.session]).values():
            view = SessionsView(named)
            show_as_asked(view, args)

    def _by_graph(self, words: list[str]) -> dict[Graph, dict[str, BaseSession]]:
        if words:
            chosen = {word: session_of(self.shell, word, True) for word in words}
        else:
            names: dict[BaseSession, str] = {}
            for name, session in sessions_in(self.shell.user_ns).items():
                names.setdefault(session, name)
            # Leave out unnamed sessions of other graphs, left over from earlier
            # cells; %tfteach lists them.
            graphs = {session.graph for session in names}
            meant = [s for s in open_sessions() if not graphs or s.graph in graphs]
            chosen = {names.get(s) or default_name(s): s for s in meant}
        if not chosen:
            raise no_session()
        found: dict[Graph, dict[str, BaseSession]] = {}
        for name, session in chosen.items():
            found.setdefault(session.graph, {})[name] = session
        return found
