"""Fixtures: one JupyterLab and one Chromium for all browser tests, a page for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.lab import CHROMIUM_FLAGS, Lab, Server


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


@pytest.fixture
def lab(lab_server: Server, browser: Browser, tmp_path: Path) -> Iterator[Lab]:
    """A page of its own; after the test, nothing may have gone wrong in it unseen."""
    with open_lab(lab_server, browser, tmp_path) as lab:
        yield lab


@pytest.fixture(scope="module")
def module_lab(
    lab_server: Server, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """The same for tests that look at one notebook together."""
    with open_lab(lab_server, browser, tmp_path_factory.mktemp("shots")) as lab:
        yield lab


@contextmanager
def open_lab(server: Server, browser: Browser, shots: Path) -> Iterator[Lab]:
    """A page on the server.

    Screenshots go to $TFTEACH_SCREENSHOTS, or to `shots`.
    """
    shots = Path(os.environ.get("TFTEACH_SCREENSHOTS", shots))
    shots.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(60_000)  # CI's machines can be slow and busy
    lab = Lab(context.new_page(), server, shots)
    yield lab
    lab.close()
    context.close()
    assert lab.page_errors == []
    assert lab.foreign_requests == []
