"""How much the views' scripts do in a page: counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page


class Work:
    """What ran; `blocks` is there when the `with` has ended."""

    def __init__(self) -> None:
        self.blocks = 0


@contextmanager
def counted_work(page: Page) -> Iterator[Work]:
    """Count the blocks of code that the views run, which no busy machine changes.

    A loop's body counts as often as it runs. Only what moves is drawn once a frame, so
    the page is to be told that nothing may.
    """
    page.emulate_media(reduced_motion="reduce")
    session = page.context.new_cdp_session(page)
    session.send("Profiler.enable")
    how = {"callCount": True, "detailed": True}
    session.send("Profiler.startPreciseCoverage", how)
    work = Work()
    yield work
    scripts = session.send("Profiler.takePreciseCoverage")["result"]
    session.send("Profiler.stopPreciseCoverage")
    session.detach()
    page.emulate_media(reduced_motion="no-preference")
    work.blocks = sum(
        block["count"]
        for script in scripts
        if script["url"].startswith("blob:")  # anywidget's way to load a view
        for function in script["functions"]
        for block in function["ranges"]
    )
