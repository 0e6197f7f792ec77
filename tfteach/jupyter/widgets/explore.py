"""`explore`: all views of one graph in a panel with tabs."""

from __future__ import annotations

import html
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets

from tfteach.engine.session.base_session import BaseSession
from tfteach.explain.building.growth import Growth
from tfteach.explain.profiling.timing import StepTimes, times_and_stats
from tfteach.explain.steps.recording import Recording
from tfteach.explain.steps.step_recorder import When
from tfteach.explain.steps.stepping import record
from tfteach.framework.defaults import get_default_graph, get_default_session
from tfteach.framework.graph import Graph, SessionRun
from tfteach.jupyter.cell_events import at_cell_end, weakly
from tfteach.jupyter.saved_page import Part
from tfteach.jupyter.widgets.collections import CollectionsView
from tfteach.jupyter.widgets.graph import GraphView, Names, names_of
from tfteach.jupyter.widgets.growth import GrowthView
from tfteach.jupyter.widgets.memory import MemoryView
from tfteach.jupyter.widgets.optimizing import OptimizingView
from tfteach.jupyter.widgets.placement import PlacementView
from tfteach.jupyter.widgets.run import RunView
from tfteach.jupyter.widgets.schedule import ScheduleView
from tfteach.jupyter.widgets.sessions import SessionsView
from tfteach.jupyter.widgets.sharing import SharingView
from tfteach.jupyter.widgets.step import StepView
from tfteach.jupyter.widgets.timeline import TimelineView
from tfteach.jupyter.widgets.view_base import Shown

SHARED = ("selected", "fetches", "feeds")
OPENING = "Opening; while a cell runs, the kernel has to finish that first."
NO_STEPS = """\
<p><b>No run has been written down yet.</b> In any cell:</p>
<pre>panel.step(loss, {x: batch})</pre>
<p>where <code>panel = explore(sess)</code>. It is a real run, op by op.</p>"""
NO_TRACE = """\
<p><b>No run has been traced yet.</b> Trace one, in any cell:</p>
<pre>panel.trace(train_op, {x: batch})</pre>
<p>where <code>panel = explore(sess)</code>; or run it with full tracing yourself:</p>
<pre>sess.run(train_op, {x: batch}, run_metadata=tf.RunMetadata(),
         options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))</pre>
<p>When the cell has ended, the run is here.</p>"""


class Views(Mapping[str, Any]):
    """The views of a panel by the names of their tabs, each created at its first use.

    Attributes:
      made: those that exist.
    """

    def __init__(self, makers: dict[str, Callable[[], Any]]) -> None:
        self._makers = makers
        self.made: dict[str, Any] = {}

    def __getitem__(self, title: str) -> Any:
        if title not in self.made:
            self.made[title] = self._makers[title]()
        return self.made[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class Explorer(Shown, ipywidgets.Tab):
    """A panel of views in tabs, which share the selection, fetches and feeds.

    A view is created when its tab is first opened, and records runs from then on.

    Args:
      graph: a `tf.Graph` or a GraphDef.
      session: the session whose devices and variables are shown, or None.
      fetches: as for `GraphView`.
      feeds: as for `GraphView`.
      run_metadata: the RunMetadata of a run with full tracing; by default that of the
        next such run.

    Attributes:
      views: a mapping from the names of tabs to views.

    Example:
      >>> loss = tf.square(tf.constant(2.0), name="loss")
      >>> panel = Explorer(loss.graph, None, fetches=[loss])
      >>> panel.views["Graph"].fetches
      ['loss:0']
    """

    def __init__(
        self,
        graph: Any,
        session: BaseSession | None,
        fetches: Names = (),
        feeds: Names = (),
        run_metadata: Any = None,
    ) -> None:
        self.session = session
        self._asked = names_of(fetches), names_of(feeds)
        self._stats: Any = run_metadata
        self._times: Any = run_metadata
        self._is_new_trace = False
        self._recording: Recording | None = None
        self._record_again: Callable[[bool], Recording] | None = None
        self._time_again: Callable[[bool], StepTimes] | None = None
        self._links: list[Any] = []
        self._replaced: list[list[Any]] = [[], []]  # by this cell, by the previous one
        self._growth: Growth | None = None
        self._subscription: Any = None
        self.graph = get_default_graph() if graph is None else graph
        if isinstance(self.graph, Graph):
            self._growth = Growth(self.graph, 0)
            weakref.finalize(self, self._growth.close)
            self._subscription = self.graph.observe(weakly(self._record))
            weakref.finalize(self, self._subscription.close)
        self.views = Views(self._makers())
        titles = list(self.views)
        self._boxes = {title: ipywidgets.VBox([_words(OPENING)]) for title in titles}
        super().__init__(
            children=list(self._boxes.values()), titles=titles, selected_index=0
        )
        self.add_class("tfteach-explore")  # for the style of the tabs, graph.css
        self._open(titles[0])
        self.observe(self._on_tab, "selected_index")
        at_cell_end(self._at_cell_end)

    def _makers(self) -> dict[str, Callable[[], Any]]:
        """The constructor of each view, in the order of the tabs."""
        graph, session = self.graph, self.session
        makers: dict[str, Callable[[], Any]] = {
            "Graph": lambda: GraphView(graph, *self._run()),
            "Run": lambda: RunView(graph, *self._run(), session=session),
        }
        if isinstance(graph, Graph):
            makers["Schedule"] = lambda: ScheduleView(session or graph, *self._run())
        if session is not None:
            makers["Step"] = self._step_view
            makers["Placement"] = lambda: PlacementView(session, *self._run())
            makers["Sessions"] = lambda: SessionsView(session)
            makers["Optimizer"] = lambda: OptimizingView(session, *self._run())
        if isinstance(graph, Graph):
            makers["Growth"] = lambda: GrowthView(self._growth)
            makers["Sharing"] = lambda: SharingView(graph)
            makers["Collections"] = lambda: CollectionsView(graph)
        if session is not None or self._stats is not None:
            makers["Timeline"] = self._timeline
            makers["Memory"] = self._memory
        return makers

    def _run(self) -> tuple[list[str], list[str]]:
        """The fetches and feeds of a run, as the first view has them now."""
        first = self.views.made.get(next(iter(self.views)))
        return self._asked if first is None else (first.fetches, first.feeds)

    def _step_view(self) -> Any:
        if self._recording is None:
            return _words(NO_STEPS, is_html=True)
        return StepView(self._recording, again=self._record_again)

    def _timeline(self) -> Any:
        if self._stats is None:
            return _words(NO_TRACE, is_html=True)
        return TimelineView(self._times, graph=self.graph, again=self._time_again)

    def _memory(self) -> Any:
        if self._stats is not None:
            return MemoryView(self._stats, self.graph)
        devices = [] if self.session is None else self.session.devices
        if any(device.ledger is not None for device in devices):
            return MemoryView(self.session)
        return _words(NO_TRACE, is_html=True)

    # ---- tabs

    def _on_tab(self, change: Any) -> None:
        if change["new"] is not None:
            self._open(self.titles[change["new"]])

    def _open(self, title: str) -> None:
        """Put the view of a tab into it, creating the view if necessary."""
        try:
            view = self.views[title]
        except Exception as error:  # otherwise the reader would not see it
            words = f"{type(error).__name__}: {error}"
            failure = _words(f"This view cannot be created. {words}")
            self._boxes[title].children = [failure]
            return
        self._boxes[title].children = [view]
        first = self.views[self.titles[0]]
        # A recorded run keeps its own fetches.
        shared = SHARED[:1] if isinstance(view, StepView) else SHARED
        self._links += [
            # Linked in the page, so that it works while the kernel is busy.
            ipywidgets.jslink((first, name), (view, name))
            for name in shared
            if view is not first and view.has_trait(name)
        ]

    def _remake(self, *titles: str) -> None:
        """Replace views that show older data."""
        for title in titles:
            old = self.views.made.pop(title, None)
            if old is not None:
                self._open(title)
                self._replaced[0].append(old)

    def _at_cell_end(self) -> None:
        """Show the last run, and close the views replaced by the previous cell.

        A view that the page is still creating must not be closed.
        """
        self._show_trace()
        self._replaced.insert(0, [])
        for old in self._replaced.pop():
            old.close()

    def _session_and(self, fetches: Any) -> tuple[BaseSession, Any]:
        """The session, and what to run in it.

        Raises:
          ValueError: there is no session, or there are no fetches.
        """
        if self.session is None:
            raise ValueError("This panel has a graph, no session: use explore(sess).")
        if fetches is None:
            fetches = self._run()[0]
        if isinstance(fetches, list) and not fetches:
            raise ValueError("Nothing is fetched: say what, as in panel.trace(loss).")
        return self.session, fetches

    # ---- runs, op by op

    def step(
        self,
        fetches: Any = None,
        feed_dict: Any = None,
        when: When | None = None,
        unfolded: bool = False,
    ) -> None:
        """Run once and record every op, for the tab "Step".

        Args:
          fetches: as for `session.run`; by default the panel's fetches.
          feed_dict: as for `session.run`.
          when: as for `tfteach.explain.record`.
          unfolded: True to run every op, constants included, without the optimizer.

        Raises:
          ValueError: the panel has no session, or there are no fetches.

        Example:
          >>> x = tf.placeholder(tf.float32, name="x")
          >>> with tf.Session() as sess:
          ...     panel = explore(sess)
          ...     panel.step(tf.square(x), {x: 2.0})
        """
        session, fetches = self._session_and(fetches)

        def run(unfolded: bool) -> Recording:
            return record(session, fetches, feed_dict, when=when, unfolded=unfolded)

        self._recording, self._record_again = run(unfolded), run
        self._remake("Step")

    # ---- traced runs

    def trace(
        self,
        fetches: Any = None,
        feed_dict: Any = None,
        runs: int = 5,
        unfolded: bool = False,
    ) -> None:
        """Run several times with full tracing, and show the fastest run.

        Args:
          fetches: as for `session.run`; by default the panel's fetches. The runs have
            their usual effects: a training op trains.
          feed_dict: as for `session.run`.
          runs: the number of timed runs; one more precedes them to warm up.
          unfolded: True to run every op, constants included, without the optimizer.

        Raises:
          ValueError: the panel has no session, or there are no fetches.

        Example:
          >>> x = tf.placeholder(tf.float32, name="x")
          >>> with tf.Session() as sess:
          ...     panel = explore(sess)
          ...     panel.trace(tf.square(x), {x: 2.0})
        """
        session, fetches = self._session_and(fetches)

        def run(unfolded: bool) -> StepTimes:
            times, stats = times_and_stats(session, fetches, feed_dict, runs, unfolded)
            self._times, self._stats, self._is_new_trace = times, stats, False
            self._time_again = run
            return times

        run(unfolded)
        self._is_new_trace = True
        self._show_trace()

    def _record(self, event: Any) -> None:
        """Keep the results of a traced run."""
        if not isinstance(event, SessionRun) or event.run_metadata is None:
            return
        if self.session is not None and event.session is not self.session:
            return

        def ended(error: BaseException | None) -> None:
            if error is None and event.run_metadata.step_stats.dev_stats:
                self._times = self._stats = event.run_metadata
                self._time_again = None
                self._is_new_trace = True

        event.at_end.append(ended)

    def _show_trace(self) -> None:
        """Show the last traced run in views that show an older one, or none."""
        if not self._is_new_trace:
            return
        self._is_new_trace = False
        self._remake("Timeline", "Memory")

    # ---- the end, and still pictures

    def close(self) -> None:
        """Remove the panel and its views."""
        for part in (self._growth, self._subscription):
            if part is not None:
                part.close()
        old = [view for views in self._replaced for view in views]
        boxes = self._boxes.values()
        for widget in (*self._links, *self.views.made.values(), *old, *boxes):
            widget.close()
        super().close()

    def saved_parts(self) -> tuple[list[Part], tuple[str, ...]]:
        """The views whose tabs were opened."""
        found: list[Part] = []
        for title, view in self.views.made.items():
            if isinstance(view, Shown):
                parts, _ = view.saved_parts()
                found += [part._replace(title=title) for part in parts]
        return found, SHARED

    def __repr__(self) -> str:
        return f"Explorer({', '.join(self.titles)})"

    def to_text(self) -> str:
        """The texts of the views that were opened, by the titles of their tabs."""
        made = self.views.made.items()
        texts = [f"{title}:\n{view}" for title, view in made if isinstance(view, Shown)]
        return "\n\n".join(texts)

    def static_bundle(self) -> dict[str, str]:
        """The static picture of the first view, as a dict from MIME types to data."""
        bundle: dict[str, str] = self.views[self.titles[0]].static_bundle()
        return bundle


def _words(text: str, is_html: bool = False) -> ipywidgets.HTML:
    """Text in place of a view."""
    return ipywidgets.HTML(text if is_html else html.escape(text))


def explore(
    target: Any = None,
    fetches: Names = (),
    feeds: Names = (),
    run_metadata: Any = None,
) -> Explorer:
    """Show all views of a graph in tabs; of a session, also its devices and runs.

    An op that is selected, fetched or fed in one tab is so in all. A view is created
    when its tab is first opened. Timeline and Memory show `run_metadata`, or else the
    last run with full tracing; `Explorer.trace` makes such a run, `Explorer.step` one
    to step through.

    Args:
      target: a session, a graph, a GraphDef or a tensor; by default the default
        session, else the default graph.
      fetches: as for `GraphView`.
      feeds: as for `GraphView`.
      run_metadata: the RunMetadata of a run with full tracing.

    Returns:
      An `Explorer`, which the cell displays.

    Raises:
      TypeError: `target` is something else.

    Example:
      >>> loss = tf.square(tf.constant(2.0), name="loss")
      >>> with tf.Session() as sess:
      ...     panel = explore(sess, fetches=[loss])
      >>> list(panel.views)[:2]
      ['Graph', 'Run']
    """
    if target is None:
        target = get_default_session()
    session = target if isinstance(target, BaseSession) else None
    graph = getattr(target, "graph", target)
    return Explorer(graph, session, fetches, feeds, run_metadata)
