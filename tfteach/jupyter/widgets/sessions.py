"""`SessionsView`: sessions on one graph, each with its own variables."""

from __future__ import annotations

import html
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import traitlets

from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.session import open_sessions
from tfteach.explain.runs.cluster_plan import label_of
from tfteach.explain.runs.sessions import (
    LoggedRun,
    SessionLog,
    State,
    default_name,
    state_of,
    variables_of,
    words,
)
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph import Graph
from tfteach.framework.shape import text as shape_text
from tfteach.jupyter import display
from tfteach.jupyter.cell_events import at_cell_end, weakly
from tfteach.jupyter.pictures.mime_bundle import static_html
from tfteach.jupyter.pictures.picture_contents import plural
from tfteach.jupyter.widgets.graph import STATIC
from tfteach.jupyter.widgets.view_base import PlainView

INTERVAL_S = 0.25
MOST_LINES = 60  # of variables, and of runs, in a saved notebook

Sessions = BaseSession | Iterable[BaseSession] | Mapping[str, BaseSession]


class SessionsView(PlainView):
    """Sessions on one graph: what the variables of each hold, run by run.

    A table with a column for each session and a row for each variable, beside the runs
    since the view was created. The slider, the arrow keys or a click on a run go back
    to the values after that run; the values that it changed are marked, with those
    before.

    Args:
      sessions: an iterable of sessions, or a dict from names to sessions; by default
        the open sessions of the default graph. Other sessions of the graph are added
        when they first run.
      height: of the table and the log, in pixels; 0 fits them, up to 420.

    Raises:
      TypeError: something is not a session.
      ValueError: the sessions belong to different graphs.

    Example:
      >>> w = tf.Variable(1.0, name="w")
      >>> with tf.Session() as a, tf.Session() as b:
      ...     view = SessionsView({"a": a, "b": b})
      ...     a.run(w.initializer)
      ...     print(view.to_text())
      2 sessions on one graph of 4 ops
         a  b
      w  1  uninitialized
      1. a.run(w/Assign)  w: uninitialized -> 1
    """

    _esm = STATIC / "sessions.js"
    _css = STATIC / "sessions.css"

    _sessions: Any = traitlets.List().tag(sync=True)
    _variables: Any = traitlets.List().tag(sync=True)
    _start: Any = traitlets.Dict().tag(sync=True)
    _log: Any = traitlets.List().tag(sync=True)
    _forgotten = traitlets.Int(0).tag(sync=True)
    _ops = traitlets.Int(0).tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)

    session_log: SessionLog

    def __init__(self, sessions: Sessions | None = None, height: int = 0) -> None:
        named = _named(sessions)
        self.graph = _graph_of(named)
        self._timer: threading.Timer | None = None
        self._sent_s = 0.0
        self._lock = threading.RLock()
        super().__init__(height=height)
        self.session_log = SessionLog(self.graph, named, weakly(self._changed))
        weakref.finalize(self, self.session_log.close)
        self.refresh()
        at_cell_end(self.refresh)

    def __repr__(self) -> str:
        names = ", ".join(self.session_log.sessions)
        return f"SessionsView({names}; {plural(len(self.session_log.runs), 'run')})"

    def close(self) -> None:
        """Stop following the sessions and remove the view."""
        if hasattr(self, "session_log"):  # unset if __init__ failed
            self.session_log.close()
        super().close()

    # ---- to the page

    def _changed(self) -> None:
        """A run has ended: tell the page, at most four times a second."""
        with self._lock:
            if self._timer is not None:
                return
            wait = INTERVAL_S - (time.monotonic() - self._sent_s)
            if wait > 0:
                self._timer = threading.Timer(wait, self._on_time)
                self._timer.daemon = True
                self._timer.start()
                return
        self.refresh()

    def _on_time(self) -> None:
        self._timer = None
        self.refresh()

    def refresh(self) -> None:
        """Send the current variables and runs to the page now."""
        with self._lock:
            self._sent_s = time.monotonic()
            log = self.session_log
            names = list(log.sessions)
            if self._is_closed:
                return
            with self.hold_sync():
                self._ops = self.graph.version
                self._variables = [
                    {"name": op.name, "type": _type_text(op)}
                    for op in variables_of(self.graph)
                ]
                self._sessions = [_session_row(n, log.sessions[n]) for n in names]
                self._start = {n: _texts(log.start[n]) for n in names}
                self._forgotten = log.forgotten
                self._log = [_run_row(run) for run in list(log.runs)]

    # ---- still

    def to_text(self, most: int | None = None) -> str:
        """A table of the variables' current values, then the runs.

        Args:
          most: the number of variables, from the first, and of runs, up to the last; by
            default all.

        Returns:
          A string of several lines.
        """
        return self.session_log.to_text(most)

    def static_bundle(self) -> dict[str, str]:
        """The text, and an HTML table, as a dict from MIME types to data."""
        return {
            "text/plain": self.to_text(MOST_LINES),
            "text/html": static_html(self._table()),
        }

    def _table(self) -> str:
        log = self.session_log
        now = {n: state_of(s) for n, s in log.sessions.items() if not s._closed}
        cell = "style='text-align:left;padding:3px 12px'"
        head = "".join(f"<th {cell}>{html.escape(n)}</th>" for n in log.sessions)
        rows = [f"<tr><th {cell}>variable</th>{head}</tr>"]
        for op in variables_of(self.graph)[:MOST_LINES]:
            row = [f"<td {cell}><code>{html.escape(op.name)}</code></td>"]
            for name in log.sessions:
                text = words(now[name].get(op.name)) if name in now else "closed"
                row.append(f"<td {cell}>{html.escape(text)}</td>")
            rows.append(f"<tr>{''.join(row)}</tr>")
        last = log.runs[-MOST_LINES:]
        runs = "".join(f"<li>{html.escape(str(run))}</li>" for run in last)
        first = log.forgotten + len(log.runs) - len(last) + 1
        return f"<table>{''.join(rows)}</table><ol start='{first}'>{runs}</ol>"


def _named(sessions: Sessions | None) -> dict[str, BaseSession]:
    if sessions is None:
        sessions = open_sessions(get_default_graph())
    if isinstance(sessions, BaseSession):
        sessions = [sessions]
    if not isinstance(sessions, Mapping):
        sessions = list(sessions)
        named = {
            default_name(s) if isinstance(s, BaseSession) else "": s for s in sessions
        }
    else:
        named = dict(sessions)
    for session in named.values():
        if not isinstance(session, BaseSession):
            raise TypeError(f"SessionsView shows tf.Sessions, not {session!r}")
    return named


def _graph_of(named: dict[str, BaseSession]) -> Graph:
    graphs = {id(s.graph): s.graph for s in named.values()}
    if len(graphs) > 1:
        raise ValueError(
            f"SessionsView shows sessions of one graph; these have {len(graphs)}. Make "
            "a view for each graph."
        )
    return next(iter(graphs.values()), get_default_graph())


def _type_text(op: Any) -> str:
    return f"{op.spec.dtype.base_dtype.name} {shape_text(op.spec.shape)}"


def _session_row(name: str, session: BaseSession) -> dict[str, Any]:
    devices = [
        label_of(d.name) + (" (simulated)" if d.is_simulated else "")
        for d in session.devices
    ]
    return {"name": name, "closed": session._closed, "devices": ", ".join(devices)}


def _texts(state: State) -> dict[str, str | None]:
    return {name: None if v is None else v.text for name, v in state.items()}


def _run_row(run: LoggedRun) -> dict[str, Any]:
    """A run as JSON."""
    place, line, text = "", 0, ""
    if run.source is not None:
        place, line, _, text = display.where(run.source)
    return {
        "session": run.session,
        "fetches": list(run.fetches),
        "feeds": list(run.feeds),
        "where": f"{place} line {line}" if place else "",
        "text": text.strip(),
        "error": run.error,
        "changes": {
            c.variable: None if c.after is None else c.after.text for c in run.changes
        },
    }
