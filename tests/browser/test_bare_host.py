"""Every view in a host that is only an anywidget host, as VS Code, Colab, marimo are.

No JupyterLab: a page with a strict Content-Security-Policy, a model with what anywidget
promises and no more, two views of one model, one of them in a shadow root, none of
Jupyter's CSS variables. The models' state is that of the real widgets.
"""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    expect,
)

import tfteach as tf
from tests.browser import views
from tfteach.jupyter import GraphView, PlacementView

pytestmark = pytest.mark.browser

PAGE = Path(__file__).with_name("bare_host.html").read_bytes()

# VS Code's policy for notebooks, without its own addresses and without `eval`. A module
# has to come from somewhere: anywidget makes it a blob, marimo a data address.
POLICY = (
    "default-src 'none'; script-src 'nonce-host' blob: data:; "
    "style-src 'unsafe-inline'; img-src data:; worker-src 'none'; connect-src 'none'"
)

# What to click, and what is there then; of other views a button is pressed.
BOX = ('.tft-node[data-id="x"]', ".tft-details h3:visible:has-text('x')")
CLICKS = {
    "CheckpointView": (".tft-saved-tree summary", "details:not([open])"),
    "EagerView": (
        '.tft-node[data-id="kept/"]',
        ".tft-details h3:visible:has-text('kept')",
    ),
    "GraphDiff": BOX,
    "GraphView": BOX,
    "GrowthView": (".tft-growth-bar button", "text=Pause"),
    "MemoryView": (".tft-plot", ".tft-cursor-dot"),
    "ModelView": BOX,
    "PlacementView": (".tft-device", '.tft-device[aria-pressed="true"]'),
    "RunView": BOX,
    "SessionsView": ('button:has-text("◀")', ".tft-when:has-text('1')"),
    "TimelineView": (".tft-bar-op", ".tft-bar-op.tft-chosen"),
    "TraceView": ("button.tft-call", '.tft-moment:has-text("Call 1")'),
}


PLACES = ("plain", "shadow")


class Handler(BaseHTTPRequestHandler):
    """Gives the one page."""

    def do_GET(self) -> None:
        found = self.path == "/"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(PAGE if found else b"")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    """What the first cell of views.py leaves in a notebook."""
    found: dict[str, Any] = {}
    exec(views.SETUP.replace("%load_ext tfteach", ""), found)
    yield found
    found["sess"].close()
    tf.simulate_gpus(0)


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """The tests load the host in one tab: a new one is a process."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(address: str, tab: Page) -> Iterator[Page]:
    """The page; afterwards nothing may have gone wrong in it unseen."""
    errors: list[str] = []
    requests: list[str] = []
    with watched(tab, errors, requests, texts=("error", "warning")):
        tab.goto(address)
        yield tab
        errors += tab.evaluate("host.left.errors")
    tab.emulate_media(color_scheme="light")
    assert errors == []
    abroad = [
        url for url in requests if not url.startswith((address, "blob:", "data:"))
    ]
    assert abroad == []


@contextmanager
def watched(
    page: Page, errors: list[str], requests: list[str], texts: tuple[str, ...] = ()
) -> Iterator[None]:
    """Collect what goes wrong in a page, and the addresses that it asks.

    Args:
      page: which page.
      errors: gets the errors, and what the console prints.
      requests: gets the addresses.
      texts: the kinds of messages of the console to collect; all if empty.
    """

    def note_error(error: Error) -> None:
        errors.append(f"{error} {error.stack}")

    def note(message: ConsoleMessage) -> None:
        if not texts or message.type in texts:
            errors.append(message.text)

    def note_request(request: Request) -> None:
        requests.append(request.url)

    listeners = ("pageerror", note_error), ("console", note), ("request", note_request)
    for event, listener in listeners:
        page.on(event, listener)
    try:
        yield
    finally:
        for event, listener in listeners:
            page.remove_listener(event, listener)


def widget_of(name: str, names: dict[str, Any]) -> Any:
    """The widget that the view's cell in views.py ends with."""
    tree = ast.parse(views.CELLS[name])
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, name, "exec"), names)
    widget = eval(compile(ast.Expression(last.value), name, "eval"), names)
    if hasattr(widget, "refresh"):
        widget.refresh()  # a notebook does at the end of the cell
    return widget


def show(page: Page, widget: Any, *places: str) -> list[Locator]:
    """The widget's views in these places of the page."""
    widget.live_bundle()  # a host displays it: from now on it is told of changes
    state = widget.get_state()
    given = {
        "esm": state.pop("_esm"),
        "css": state.pop("_css"),
        "state": {k: v for k, v in state.items() if k not in ("layout", "comm")},
    }
    page.evaluate("([given, places]) => host.show(given, places)", [given, places])
    return [page.locator(f"#{place} [class^='tfteach-']").first for place in places]


def click(name: str, root: Locator) -> None:
    """Do something to a view that shows."""
    if name in CLICKS:
        press, shows = CLICKS[name]
        root.locator(press).first.click()
        root.locator(shows).first.wait_for()
        return
    before = root.inner_html()
    for button in root.get_by_role("button").all():
        if button.is_visible() and button.is_enabled():
            button.click()
            if root.inner_html() != before:
                return
    raise AssertionError(f"no button of {name} does anything")


def screenshot(part: Locator, name: str) -> None:
    """For who wants to look."""
    if folder := os.environ.get("TFTEACH_SCREENSHOTS"):
        part.screenshot(path=Path(folder) / f"{name}.png")


def test_every_click_is_of_a_view() -> None:
    assert set(CLICKS) <= set(views.CELLS)


@pytest.mark.parametrize("name", views.names())
def test_a_view_needs_no_more_than_anywidget(
    name: str, names: dict[str, Any], page: Page
) -> None:
    before = page.evaluate("[document.head.innerHTML, document.body.childElementCount]")
    plain, shadow = show(page, widget_of(name, names), *PLACES)
    grounds = [page.locator(f"#{at} .tfteach-graph").first for at in PLACES]
    for root, ground in zip((plain, shadow), grounds, strict=True):
        root.wait_for()
        assert len(root.inner_text()) > 20
        box = root.bounding_box()
        assert box is not None
        assert box["height"] > 120
        expect(ground).to_have_css("color-scheme", "light")
    click(name, plain)
    screenshot(plain, f"host_{name}_light")
    # a dark page, which says so in no way but by being dark
    page.evaluate("document.body.style.background = 'oklch(0.2 0.01 250)'")
    for ground in grounds:
        expect(ground).to_have_css("color-scheme", "dark")
    screenshot(shadow, f"host_{name}_dark")
    page.evaluate("document.body.style.background = ''")
    expect(grounds[1]).to_have_css("color-scheme", "light")
    # one goes, the other stays at work
    assert page.evaluate("shown.ends[0]()") == ""
    click(name, shadow)
    assert page.evaluate("shown.ends[1]()") == ""
    assert page.evaluate("shown.model.listeners") == 0
    left = page.evaluate("host.left")
    assert left == {"listeners": 0, "observers": 0, "intervals": 0, "errors": []}
    after = page.evaluate("[document.head.innerHTML, document.body.childElementCount]")
    assert after == before


def test_without_a_kernel_no_run_is_offered(page: Page) -> None:
    """A converted page holds the last state of the views, and has no kernel."""
    with tf.Graph().as_default(), tf.Session() as session:
        two = tf.add(1.0, 1.0, name="two")
        (root,) = show(page, PlacementView(session, [two]), PLACES[0])
    notice = root.locator(".tft-folded")
    expect(notice.get_by_role("button")).to_be_disabled()
    expect(notice).to_contain_text("This needs the kernel, which has not answered")
    screenshot(root, "host_no_kernel")


def test_a_graph_grows_in_any_host(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
    widget = GraphView(graph)
    [view] = show(page, widget, "shadow")
    sent: list[Any] = []
    monkeypatch.setattr(widget, "_send", lambda message, *_: sent.append(message))
    with graph.as_default():
        tf.square(x, name="late")
    widget.refresh()
    # what a host does with a message: take over the state, then tell what changed
    for message in sent:
        page.evaluate(
            """(state) => {
                Object.assign(shown.model.state, state);
                for (const key of Object.keys(state)) {
                    shown.model.tell(`change:${key}`, state[key]);
                }
            }""",
            message["state"],
        )
    view.locator('.tft-node[data-id="late"]').wait_for()
    widget.close()


def test_a_view_fits_into_vs_code(names: dict[str, Any], page: Page) -> None:
    page.evaluate("""() => {
        document.documentElement.style.setProperty(
            '--vscode-editor-background', 'rgb(40, 42, 54)');
        document.body.className = 'vscode-dark';
        document.body.dataset.vscodeThemeKind = 'vscode-dark';
    }""")
    widget = widget_of("GraphView", names)
    [view] = show(page, widget, "plain")
    expect(view).to_have_css("color-scheme", "dark")
    expect(view).to_have_css("background-color", "rgb(40, 42, 54)")
    page.evaluate("""() => {
        document.documentElement.style.removeProperty('--vscode-editor-background');
        document.body.dataset.vscodeThemeKind = 'vscode-high-contrast-light';
    }""")
    expect(view).to_have_css("color-scheme", "light")
    # the still picture is another output of the cell, and would be a second one
    page.evaluate(
        """(html) => {
            const cell = document.createElement('div');
            cell.className = 'cell_container';
            cell.innerHTML = '<div class="output_container"></div>'.repeat(2);
            document.body.append(cell);
            cell.children[0].append(document.getElementById('plain'));
            cell.children[1].innerHTML = html;
        }""",
        widget.static_bundle()["text/html"],
    )
    expect(page.locator(".tfteach-static")).to_be_hidden()
    view.evaluate("(el) => el.remove()")
    expect(page.locator(".tfteach-static")).to_be_visible()


def test_a_page_that_paints_nothing_is_believed(
    names: dict[str, Any], page: Page
) -> None:
    [view] = show(page, widget_of("GraphView", names), "plain")
    expect(view).to_have_css("color-scheme", "light")
    page.evaluate("document.documentElement.setAttribute('theme', 'dark')")  # Colab
    expect(view).to_have_css("color-scheme", "dark")
    page.evaluate("document.documentElement.removeAttribute('theme')")
    expect(view).to_have_css("color-scheme", "light")
    page.evaluate("document.documentElement.style.colorScheme = 'light dark'")
    page.emulate_media(color_scheme="dark")
    expect(view).to_have_css("color-scheme", "dark")
