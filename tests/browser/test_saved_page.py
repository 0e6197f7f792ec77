"""Saved pages: one file, opened from the disk, without a kernel and a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import tfteach as tf
import tfteach.jupyter as tfj
from tests.browser import views
from tests.browser.test_bare_host import (
    click,
    names,  # noqa: F401
    screenshot,
    watched,
    widget_of,
)
from tests.browser.test_hostile import BAD
from tfteach.jupyter.widgets.view_base import Shown

pytestmark = pytest.mark.browser

Open = Callable[[Shown], Locator]


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """The tests open their pages in one tab: a new one is a process."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def blocked() -> list[str]:
    """What the browser may complain of, in a test that provokes it."""
    return []


@pytest.fixture
def page(tab: Page, blocked: list[str]) -> Iterator[Page]:
    """A page in which nothing goes wrong, and which asks for one file only."""
    errors: list[str] = []
    requests: list[str] = []
    with watched(tab, errors, requests):
        yield tab
        tab.goto("about:blank")  # what goes wrong as a page ends goes wrong here
    tab.emulate_media(color_scheme="light")
    assert [text for text in errors if not any(b in text for b in blocked)] == []
    own = [url for url in requests if not url.startswith(("blob:", "data:", "about:"))]
    assert {url.rpartition("/")[2] for url in own} == {"page.html"}
    assert all(url.startswith("file:") for url in own)


@pytest.fixture
def saved(page: Page, tmp_path: Path) -> Open:
    """Saves a view, and opens the page."""

    def open_page(view: Shown) -> Locator:
        view.save(tmp_path / "page.html")
        page.goto((tmp_path / "page.html").as_uri())
        return page.locator("#views [class^='tfteach-']").first

    return open_page


@pytest.mark.parametrize("name", views.names())
def test_a_saved_view_is_at_work(
    name: str,
    names: dict[str, Any],  # noqa: F811
    page: Page,
    saved: Open,
) -> None:
    root = saved(widget_of(name, names))
    root.wait_for()
    ground = page.locator("#views .tfteach-graph").first
    expect(ground).to_have_css("color-scheme", "light")
    click(name, root)
    screenshot(page.locator("body"), f"saved_{name}_light")
    page.emulate_media(color_scheme="dark")
    expect(ground).to_have_css("color-scheme", "dark")
    screenshot(page.locator("body"), f"saved_{name}_dark")
    expect(page.locator("#said")).to_be_hidden()


def test_scopes_open_and_search_finds(
    names: dict[str, Any],  # noqa: F811
    saved: Open,
) -> None:
    root = saved(widget_of("GraphView", names))
    assert root.locator('.tft-node[data-id="hidden/relu"]').count() == 0
    root.locator(".tft-search").fill("relu")
    root.locator(".tft-search").press("Enter")
    root.locator('.tft-node[data-id="hidden/relu"]').wait_for()
    root.locator(".tft-details h3:visible:has-text('relu')").wait_for()


def test_a_recorded_run_is_stepped_through(
    names: dict[str, Any],  # noqa: F811
    saved: Open,
) -> None:
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="x")
        double = tf.add(x, x, name="double")
        square = tf.square(double, name="square")
        step = tfj.StepView.of(sess, square, {x: 3.0}, at=0)
    root = saved(step)
    expect(root.get_by_text(": double, gives 6")).to_be_attached()
    root.get_by_role("button", name="Forward").first.click()
    expect(root.get_by_text(": square, gives 36")).to_be_attached()


def test_placement_has_its_answers_and_says_what_it_lacks(
    names: dict[str, Any],  # noqa: F811
    saved: Open,
) -> None:
    root = saved(widget_of("PlacementView", names))
    root.get_by_role("button", name="By device").click()
    root.locator(".tft-node[data-id*='GPU']").first.wait_for()
    root.get_by_role("button", name="One graph").click()
    log = root.get_by_role("listbox", name="Placements")
    expect(log.get_by_role("option").first).to_be_visible()
    box = root.locator('.tft-node[data-id="x"]')
    box.click()
    root.page.keyboard.press("f")  # another run, which Python would have to place
    problem = root.get_by_role("alert")
    expect(problem).to_contain_text("was saved for the run that fetches spare")
    expect(log.get_by_role("option")).to_have_count(0)
    box.click()
    root.page.keyboard.press("f")
    expect(problem).to_be_hidden()
    expect(log.get_by_role("option").first).to_be_visible()


@pytest.mark.parametrize("view", ["run", "step"])
def test_a_folded_run_is_unfolded_where_both_are_recorded(
    saved: Open, view: str
) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.multiply(x, tf.add(2.0, 3.0, name="five"), name="y")
        run = tfj.RunView(fetches=[y], feeds=[x], session=sess)
        step = tfj.StepView.of(sess, y, {x: 1.0})
        root = saved(run if view == "run" else step)
        if view == "run":
            root.get_by_role("button", name="Show unfolded").click()
            root.get_by_role("button", name="Show as the session runs it").wait_for()
            return
        again = root.get_by_role("button", name="Run again, unfolded")
        expect(again).to_be_disabled()
        expect(root.locator(".tft-folded")).to_contain_text("needs the kernel")
        step.unfolded = True
    root = saved(step)
    root.get_by_role("button", name="Show as the session runs it").click()
    root.get_by_role("button", name="Show unfolded").click()
    root.get_by_role("button", name="Show as the session runs it").wait_for()


def test_names_stay_text(page: Page, saved: Open) -> None:
    found: dict[str, Any] = {}
    exec(BAD, found)
    root = saved(tfj.GraphView(found["hostile"](), depth=3))
    root.locator(".tft-node").first.wait_for()
    for word in ("onerror", "window.hacked=2"):
        search = root.locator(".tft-search")
        search.fill(word)
        search.press("Enter")
        root.locator(".tft-details h3").wait_for()
    page.locator("summary").last.click()
    expect(page.locator("details pre")).to_contain_text("window.hacked=2")
    assert page.evaluate("window.hacked") is None
    made = "document.querySelectorAll('img, iframe, a[href], [onload], script').length"
    assert page.evaluate(made) == 2  # the scripts are the page's own


def test_no_other_script_may_run(page: Page, saved: Open, blocked: list[str]) -> None:
    with tf.Graph().as_default():
        tf.constant(1.0)
        saved(tfj.GraphView()).wait_for()
    blocked.append("violates the following Content Security Policy")
    run_script = """() => new Promise((done) => {
        addEventListener('securitypolicyviolation', (e) => done(e.violatedDirective));
        const script = document.createElement('script');
        script.textContent = 'window.hacked = 1';
        document.body.append(script);
    })"""
    assert page.evaluate(run_script) == "script-src-elem"


def test_a_panel_has_its_tabs_with_one_selection(
    names: dict[str, Any],  # noqa: F811
    page: Page,
    saved: Open,
) -> None:
    panel = tfj.explore(names["sess"], fetches=[names["loss"]])
    for title in ("Schedule", "Placement"):
        panel.views[title]
    saved(panel).wait_for()
    page.locator('#views .tft-node[data-id="x"]:visible').click()
    page.get_by_role("button", name="Placement", exact=True).click()
    page.locator('#views .tft-node.tft-selected[data-id="x"]:visible').wait_for()
    page.locator('#views .tft-node[data-id="x"]:visible').click()
    page.keyboard.press("f")
    page.get_by_role("button", name="Schedule", exact=True).click()
    page.locator("text=Another run has to be planned by Python").first.wait_for()
    panel.close()
