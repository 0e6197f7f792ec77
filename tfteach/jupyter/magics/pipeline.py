"""`%pipeline` and `%%pipeline`: the input pipelines of a graph, and of a cell."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any, ClassVar

from IPython.core.error import UsageError
from IPython.core.magic import line_cell_magic, magics_class
from IPython.core.magic_arguments import argument

from tfteach.explain.pipelines.pipeline_rates import PipelineRun, watch_pipelines
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import DeadlineExceededError
from tfteach.jupyter import display
from tfteach.jupyter.magics.cells import run_cell
from tfteach.jupyter.magics.completion import CompletedMagics, Words, no_words
from tfteach.jupyter.magics.eager_hints import PIPELINES, check_is_graph, runs_eagerly
from tfteach.jupyter.magics.names import session_of
from tfteach.jupyter.magics.options import (
    SAVE,
    SESSION,
    STATIC,
    TEXT,
    finish_as_asked,
    magic_arguments,
    parsed,
    show_as_asked,
)


@magics_class
class PipelineMagics(CompletedMagics):
    """Watches input pipelines."""

    takes: ClassVar[dict[str, Words]] = {"pipeline": no_words}
    _last: PipelineRun | None = None  # of the last cell, to compare with

    @magic_arguments()
    @argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="end a cell whose step has waited so long while nothing moved, and show "
        "why.",
    )
    @argument(
        "--alone",
        action="store_true",
        help="do not compare with the %%%%pipeline cell that was run before.",
    )
    @SESSION
    @STATIC
    @SAVE
    @TEXT
    @line_cell_magic
    def pipeline(self, line: str, cell: str | None = None) -> None:
        """Run the cell and watch its input pipelines: tf.data's, and queues.

        The view has each stage's rate, the levels of the buffers and who waits for
        whom, live, and a verdict. Change the pipeline and run the cell again: the
        verdict says what that gained. Without a cell, %pipeline shows the stages, the
        queues and their threads as they are now.

        An iterator's stages are measured if it is initialized in the cell.

        Examples:

            %%pipeline --timeout 5
            with tf.Session() as sess:
                for _ in range(100):
                    sess.run(train_op)

            %pipeline
        """
        args = parsed(self.pipeline, line, cell is not None)
        if args.timeout is not None and (cell is None or args.timeout <= 0):
            raise UsageError("--timeout counts seconds of a %%pipeline cell, above 0")
        if cell is None:
            self._show_now(args)
        else:
            self._watch(args, cell)

    def _show_now(self, args: Any) -> None:
        from tfteach.jupyter.widgets.pipeline import PipelineView

        try:
            where = session_of(self.shell, args.session, True)
        except UsageError:
            if args.session:
                raise
            where = None
            check_is_graph(get_default_graph())
        show_as_asked(PipelineView(where), args)

    def _watch(self, args: Any, cell: str) -> None:
        watch = _Watch(args, None if args.alone else self._last)
        try:
            with watch_pipelines(watch.before, watch.sampled) as watch.run:
                watch.begin()
                run_cell(self.shell, cell, "%%pipeline")
        except KeyboardInterrupt:
            if not watch.has_expired:
                raise
            watch.finish()
            raise watch.expired() from None
        finally:
            watch.finish()
            if watch.run is not None and watch.run.rivers():
                self._last = watch.run
            elif runs_eagerly():
                print(PIPELINES)


class _Watch:
    """The run of one cell, and its view."""

    def __init__(self, args: Any, before: PipelineRun | None) -> None:
        self.args, self.before = args, before
        self.run: PipelineRun | None = None
        self.view: Any = None
        self.has_expired = False
        self._is_finished = False

    def begin(self) -> None:
        """Show the view, before the cell."""
        from tfteach.jupyter.widgets.pipeline import PipelineView

        view = PipelineView(self.run)
        if not self.args.static and not self.args.text:
            display.show_live(view)
        self.view = view  # from here on the sampling thread refreshes it

    def sampled(self) -> None:
        """Called by the watch's thread: refresh the view; end a cell that hangs."""
        if self.view is None or self.run is None:
            return
        if not self.args.static and not self.args.text:
            self.view.follow()
        limit_s = self.args.timeout
        if limit_s is not None and not self.has_expired and self.run.stuck_s > limit_s:
            self.run.sample()
            self.has_expired = True
            interrupt()

    def expired(self) -> DeadlineExceededError:
        """The error that ends a cell that hung; it is shown in one line."""
        rivers = [] if self.view is None else self.view.headlines()
        words = " ".join(
            [f"Nothing moved for {self.args.timeout:g} s, so the cell ended.", *rivers]
        )
        error: Any = DeadlineExceededError(None, None, words)
        error._render_traceback_ = lambda: [f"DeadlineExceededError: {words}"]
        found: DeadlineExceededError = error
        return found

    def finish(self) -> None:
        """Show the static picture, once."""
        if self._is_finished or self.view is None:
            return
        self._is_finished = True
        finish_as_asked(self.view, self.args)


def interrupt() -> None:
    """Interrupt the main thread, as the kernel's stop button does."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
        return
    ident = threading.main_thread().ident
    assert ident is not None
    signal.pthread_kill(ident, signal.SIGINT)
