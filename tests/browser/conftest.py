"""Fixtures: one JupyterLab and one Chromium for all browser tests, a page for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    expect,
    sync_playwright,
)

from tests.browser.lab import CHROMIUM_FLAGS, Lab, Server

PATIENCE_MS = 60_000  # CI's machines can be slow and busy
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab whose root is an empty folder: put notebooks into `.root`."""
    server = Server(
        root=tmp_path_factory.mktemp("lab_root"),
        home=tmp_path_factory.mktemp("lab_home"),
    )
    try:
        server.wait_until_up()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=CHROMIUM_FLAGS
        )
        yield browser
        browser.close()


class Pages:
    """The pages of all tests, which share what the browser has loaded and compiled.

    Loading JupyterLab takes seconds, opening one more notebook in it none: tests take
    the same page, one after the other.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self._clean: Page | None = None

    def take(self) -> Page:
        """A page in which no notebook is open."""
        page, self._clean = self._clean, None
        return self.context.new_page() if page is None else page

    def give_back(self, page: Page, is_clean: bool) -> None:
        if is_clean and self._clean is None:
            self._clean = page
        else:
            page.close()


@pytest.fixture(scope="session")
def pages(browser: Browser) -> Iterator[Pages]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE_MS)
    yield Pages(context)
    context.close()


@pytest.fixture
def lab(lab_server: Server, pages: Pages, tmp_path: Path) -> Iterator[Lab]:
    """A notebook of its own; afterwards, nothing may have gone wrong in it unseen."""
    page = pages.take()
    with open_lab(lab_server, page, tmp_path) as lab:
        yield lab
        pages.give_back(page, lab.leave())


@pytest.fixture(scope="module")
def module_lab(
    lab_server: Server, pages: Pages, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """The same for tests that look at one notebook together, on a page of its own."""
    page = pages.context.new_page()
    with open_lab(lab_server, page, tmp_path_factory.mktemp("shots")) as lab:
        yield lab
        lab.close()


@contextmanager
def open_lab(server: Server, page: Page, shots: Path) -> Iterator[Lab]:
    """JupyterLab in a page; afterwards there must have been no error in it.

    Screenshots go to $TFTEACH_SCREENSHOTS, or to `shots`.
    """
    shots = Path(os.environ.get("TFTEACH_SCREENSHOTS", shots))
    shots.mkdir(parents=True, exist_ok=True)
    lab = Lab(page, server, shots)
    yield lab
    assert lab.page_errors == []
    assert lab.foreign_requests == []
