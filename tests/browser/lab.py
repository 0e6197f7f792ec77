"""A real JupyterLab in headless Chromium, driven from a test.

`Server` is one `jupyter lab` process that no user setting reaches; `Lab` is one browser
page on it. Read conftest.py for the fixtures, test_lab.py for how they are used.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import ConsoleMessage, Error, Locator, Page, Request

from tests.browser.kernel_forks import KernelForks
from tests.free_ports import free_ports

LESSONS = Path(__file__).resolve().parents[2] / "notebooks"

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # What a page asks of any other host fails at once instead of leaving the machine.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]

SETTINGS = {
    # Without it a news pop-up covers the notebook.
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    # Cells out of sight must be in the page too, or no test can find them.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}

# Each frame, the default, has the page drawn while a kernel needs the CPU.
POLLING_MS = 30

PANEL = "window.jupyterapp.shell.currentWidget"

READY = f"""async () => {{
    const context = {PANEL}?.sessionContext;
    if (!context) return false;
    await context.ready;
    const kernel = context.session?.kernel;
    return kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
}}"""

# A cell that waits for its turn shows "*" as well, so this is no cell's business left.
QUIET = f"""() => {{
    const panel = {PANEL};
    const kernel = panel?.sessionContext?.session?.kernel;
    const waiting = [...panel.node.querySelectorAll('.jp-InputPrompt')].some(
        (prompt) => prompt.textContent.includes('*'));
    return !waiting && kernel?.status === 'idle';
}}"""


class Server:
    """One `jupyter lab` on a free port, serving `root`, with a home of its own."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        [self.port] = free_ports(1)
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home / "jupyterlab.log"
        environment = private_environment(home)
        write_settings(Path(environment["JUPYTERLAB_SETTINGS_DIR"]))
        with self.log.open("wb") as log:
            self.kernels = KernelForks(home, environment, log)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", *self.flags()],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def flags(self) -> list[str]:
        return [
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
            "--IdentityProvider.token=",
            "--ServerApp.password=",
            "--ServerApp.disable_check_xsrf=True",
            f"--ServerApp.root_dir={self.root}",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.extension_manager=readonly",
            "--expose-app-in-browser",  # window.jupyterapp, used all over this file
            # The same server has Notebook 7, at /notebooks instead of /lab/tree.
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]

    def wait_until_up(self, timeout_s: float = 90) -> None:
        """Return once it answers; raise with its log if it ends or stays silent."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/api/status", timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.2)
        raise RuntimeError(f"JupyterLab did not come up:\n{self.log.read_text()}")

    def stop(self) -> None:
        """End the server, and with it the kernels."""
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.kernels.stop()


class Lab:
    """One page of JupyterLab with one notebook in front."""

    def __init__(self, page: Page, server: Server, shots: Path) -> None:
        self.page = page
        self.server = server
        self.shots = shots
        self.page_errors: list[str] = []
        self.console_errors: list[str] = []
        self.foreign_requests: list[str] = []
        self._has_opened = False
        page.on("pageerror", self._note_error)
        page.on("console", self._note_console)
        page.on("request", self._note_request)

    def _note_error(self, error: Error) -> None:
        # JupyterLab's own, when the notebook before has ended its kernel.
        if "Canceled future for" in str(error):
            return
        # anywidget's own, when a busy page takes a view 2 s to start: it starts later.
        if "[anywidget] Failed to initialize model." in str(error):
            return
        self.page_errors.append(f"{error} {error.stack}")

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console_errors.append(message.text)

    def _note_request(self, request: Request) -> None:
        inside = (self.server.url, self.server.url.replace("http", "ws", 1))
        if not request.url.startswith((*inside, "data:", "blob:", "about:")):
            self.foreign_requests.append(request.url)

    def open_cells(self, name: str, *cells: str, app: str = "lab/tree") -> None:
        """Write code cells as a new notebook and open it, its kernel ready."""
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(notebook, self.server.root / name)
        self.open(name, app)

    def open_lesson(self, name: str) -> None:
        """Open a copy of notebooks/NAME with what it needs: no lesson changes."""
        shutil.copytree(
            LESSONS,
            self.server.root,
            ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".*"),
            dirs_exist_ok=True,
        )
        shutil.copy(LESSONS / name, self.server.root / name)
        self.open(name)

    def open(self, path: str, app: str = "lab/tree") -> None:
        """Open a notebook that lies under the server's root, its kernel ready.

        Args:
          path: from the root.
          app: "lab/tree" for JupyterLab, "notebooks" for Notebook 7.
        """
        left = self.page.url.startswith(f"{self.server.url}/lab")
        if app == "lab/tree" and left and not self._has_opened:
            self.page.evaluate(  # left by the test before, see `leave`
                """async (path) => {
                    const {commands} = window.jupyterapp;
                    await commands.execute('docmanager:open', {path});
                }""",
                path,
            )
        else:  # a second notebook of one test gets a page that knows nothing
            self.page.goto(f"{self.server.url}/{app}/{path}?reset")
        self._has_opened = True
        self.page.locator(".jp-NotebookPanel").wait_for()
        self.page.wait_for_function(READY, polling=POLLING_MS)
        if self.page.locator("body[data-jp-theme-light=false]").count():
            self.set_theme("JupyterLab Light")  # a test before has left it dark

    def run_all(self, *, wait: bool = True, timeout_s: float = 120) -> None:
        """Run every cell; with wait=False return while they run (to see growth)."""
        self.page.evaluate(
            "() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
        )
        self.page.locator(".jp-InputPrompt", has_text="*").or_(
            self.page.locator(".jp-InputPrompt", has_text="1")
        ).first.wait_for()
        if wait:
            self.wait_idle(timeout_s)

    def run_cell(self, index: int, *, timeout_s: float = 60) -> None:
        """Run one cell, as Ctrl+Enter does, and wait for it."""
        self.page.evaluate(
            f"""async (index) => {{
                {PANEL}.content.activeCellIndex = index;
                await window.jupyterapp.commands.execute('notebook:run-cell');
            }}""",
            index,
        )
        self.wait_idle(timeout_s)

    def wait_idle(self, timeout_s: float = 60) -> None:
        """Return when no cell runs or waits and the kernel is idle."""
        self.page.wait_for_function(QUIET, polling=POLLING_MS, timeout=timeout_s * 1000)

    def cell(self, index: int) -> Locator:
        """The cell of that number, as an element."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, index: int) -> Locator:
        """The outputs of the cell of that number."""
        return self.cell(index).locator(".jp-OutputArea-output")

    def as_notebook(self) -> dict[str, Any]:
        """The notebook as Lab would save it."""
        notebook: dict[str, Any] = self.page.evaluate(
            f"() => {PANEL}.content.model.toJSON()"
        )
        return notebook

    def cell_errors(self) -> list[str]:
        """The last line of every traceback that the cells show."""
        return [
            f"{output['ename']}: {output['evalue']}"
            for cell in self.as_notebook()["cells"]
            for output in cell.get("outputs", [])
            if output["output_type"] == "error"
        ]

    def save_and_end_kernel(self) -> None:
        """Save the notebook; whoever opens it next finds no kernel that ran it."""
        self.page.evaluate(
            f"""async () => {{
                await window.jupyterapp.commands.execute('docmanager:save');
                await {PANEL}.sessionContext.shutdown();
            }}"""
        )

    def set_theme(self, theme: str) -> None:
        """Change to "JupyterLab Light" or "JupyterLab Dark"."""
        self.page.evaluate(
            """async (theme) => {
                await window.jupyterapp.commands.execute(
                    'apputils:change-theme', {theme});
            }""",
            theme,
        )
        # Lab fails if the next change comes while the curtain of this one still fades.
        sheet = f"link[href*='{theme.lower().replace('jupyterlab ', '/theme-')}']"
        self.page.locator(sheet).wait_for(state="attached")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def new_view_for_output(self, cell: int) -> Locator:
        """Lab's "Create New View for Output" of a cell: the panel beside."""
        self.page.evaluate(
            """async (index) => {
                const content = window.jupyterapp.shell.currentWidget.content;
                content.activeCellIndex = index;
                const {commands} = window.jupyterapp;
                await commands.execute('notebook:create-output-view');
            }""",
            cell,
        )
        return self.page.locator(".jp-LinkedOutputView")

    def screenshot(self, name: str, part: Locator | None = None) -> Path:
        """Save NAME.png, of the page or one part, where `shots` says; its path."""
        path = self.shots / f"{name}.png"
        (self.page if part is None else part).screenshot(path=path)
        return path

    def leave(self) -> bool:
        """End the notebook's kernel; True if the next test can take the page."""
        page = self.page
        page.remove_listener("pageerror", self._note_error)
        page.remove_listener("console", self._note_console)
        page.remove_listener("request", self._note_request)
        if not page.url.startswith(f"{self.server.url}/lab"):
            return False
        page.emulate_media(reduced_motion="no-preference")
        page.mouse.move(0, 0)
        left: int = page.evaluate(
            f"""async () => {{
                await {PANEL}?.sessionContext?.shutdown();
                const main = [...window.jupyterapp.shell.widgets('main')];
                for (const widget of main) {{
                    const model = widget.context?.model;
                    if (model) model.dirty = false;  // or it would ask
                    widget.close();
                }}
                await new Promise((done) => setTimeout(done));
                const left = '.jp-NotebookPanel, .jp-Dialog, .tft-full';
                return document.querySelectorAll(left).length;
            }}"""
        )
        return left == 0 and self.page_errors == []

    def close(self) -> None:
        """End the notebook's kernel and leave the page."""
        self.page.evaluate(
            f"async () => {{ if (window.jupyterapp) await "
            f"{PANEL}?.sessionContext?.shutdown(); }}"
        )
        self.page.close()


def private_environment(home: Path) -> dict[str, str]:
    """This environment with every directory that Jupyter reads or writes in `home`."""
    places = {
        "HOME": "home",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
    }
    environment = dict(os.environ)
    for name, folder in places.items():
        (home / folder).mkdir(parents=True, exist_ok=True)
        environment[name] = str(home / folder)
    return environment


def write_settings(directory: Path) -> None:
    """Store SETTINGS as the user's settings of Lab."""
    for plugin, values in SETTINGS.items():
        path = directory / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
