"""What a test may need beyond Python: a GPU, real TensorFlow, a browser.

The whole suite runs in several processes (see `pytest_cmdline_main`).

A test that needs one carries its marker and is skipped, with the reason, where it is
missing: once, where it has many rows. TFTEACH_REQUIRE=browser,gpu turns those skips
into failures: CI says there what it has brought, so that nothing goes untested by
accident.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# The headless shell draws the same pages as the whole browser, with less work.
CHROMIUMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


@cache
def missing_gpu() -> str | None:
    """Why there is no card to compute on; None if there is one."""
    try:
        import cupy
    except ImportError as error:
        return f"CuPy is not installed ({error}): pip install 'tfteach[gpu]'"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no usable NVIDIA card: {error}"
    return None if count else "no NVIDIA card"


@cache
def find_oracle() -> str | None:
    """The Python that has TensorFlow 1.15: $TFTEACH_ORACLE, or the usual place."""
    usual = Path.home() / ".cache" / "tfteach-oracle" / "bin" / "python"
    python = os.environ.get("TFTEACH_ORACLE", str(usual))
    return python if os.access(python, os.X_OK) else None


@cache
def find_chromium() -> str | None:
    """Chromium's path: $TFTEACH_CHROMIUM, or what PATH offers."""
    given = os.environ.get("TFTEACH_CHROMIUM")
    if given:
        return given
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


def missing_oracle() -> str | None:
    return None if find_oracle() else "no TensorFlow 1.15: set TFTEACH_ORACLE"


def missing_browser() -> str | None:
    return None if find_chromium() else "no Chromium: set TFTEACH_CHROMIUM"


NEEDS: dict[str, Callable[[], str | None]] = {
    "gpu": missing_gpu,
    "oracle": missing_oracle,
    "browser": missing_browser,
}


SHORT_S = 0.005  # what `--durations` does not list

# JupyterLab in Chromium keeps one busy for as long as three others need for the rest.
MAX_WORKERS = 4


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the option
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite runs as with `-n`, a part of it in this process.

    Each worker imports and collects all tests first, which takes longer than the tests
    of one op. An explicit `-n` counts, also `-n 0` and `-n 2 tests/ops`.
    """
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    selecting = ("keyword", "markexpr", "lf", "usepdb")
    if (
        is_whole
        and not any(config.getoption(name, None) for name in selecting)
        and config.getoption("numprocesses", 0) is None  # 0 without pytest-xdist
        and not hasattr(config, "workerinput")
    ):
        config.option.numprocesses = min(usable_cpus(), MAX_WORKERS)


def usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Unless `--dist` chooses another: see `tests/scheduler.py`."""
    if config.getoption("dist") != "load":
        return None
    from tests.scheduler import Scheduler

    return Scheduler(config, log)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        spare_messages(config)
    unknown = required() - NEEDS.keys()
    if unknown:
        raise pytest.UsageError(
            f"TFTEACH_REQUIRE names {sorted(unknown)}; it knows {sorted(NEEDS)}"
        )
    if sys.dont_write_bytecode and "PYTHONPYCACHEPREFIX" not in os.environ:
        cache_bytecode_of_children(config)
    leave_out_of_children()


def spare_messages(config: pytest.Config) -> None:
    """A worker tells no news: that tests begin, and set-ups that took no time.

    Packing and unpacking a message takes longer than many a test.
    """
    plugins = config.pluginmanager.get_plugins()
    worker: Any = next(plugin for plugin in plugins if hasattr(plugin, "sendevent"))
    send = worker.sendevent

    def send_news(name: str, **content: Any) -> None:
        report = content.get("data", {})
        no_news = (
            report.get("outcome") == "passed"
            and report.get("when") in ("setup", "teardown")
            and report["duration"] < SHORT_S
        )
        if name != "logstart" and not no_news:
            send(name, **content)

    worker.sendevent = send_news


def cache_bytecode_of_children(config: pytest.Config) -> None:
    """Workers, kernels and scripts import the package a hundred times, compiled once.

    PYTHONDONTWRITEBYTECODE keeps the tree clean, and stays in force for it: pytest's
    own cache has the bytecode, for the next run as well.
    """
    cache = getattr(config, "cache", None)  # none with -p no:cacheprovider
    if cache is None:
        return
    os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def leave_out_of_children() -> None:
    """Workers, kernels and servers import less: see `left_out`."""
    folder = str(Path(__file__).with_name("left_out"))
    paths = [
        path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path
    ]
    if folder not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([*paths, folder])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spares the garbage collector the items of all tests: they are no garbage.

    Looking through them takes it a third of the time of collecting tests, and a second
    of every test that calls `gc.collect`.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Spares it, after each file, what is left: modules, constants, pytest's reports.

    After thousands of tests a collection would take a second, in a test that collects
    garbage or whenever Python does.
    """
    if item.path.suffix == ".ipynb":
        fork_kernels(item.config)
    done = yield
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return done


def fork_kernels(config: pytest.Config) -> None:
    """The kernels of the lessons are forks, as those of the tests in the browser.

    Each spends a second or two on imports otherwise.
    """
    if not config.option.nbval_current_env:
        return  # it was called, or another kernel was asked for
    from tests.browser.kernel_forks import KernelForks

    home = Path(tempfile.mkdtemp(prefix="lessons_"))
    environment = dict(os.environ)
    with (home / "log").open("wb") as log:
        forks = KernelForks(home, environment, log)
    config.add_cleanup(lambda: shutil.rmtree(home))
    config.add_cleanup(forks.stop)
    os.environ["JUPYTER_PATH"] = environment["JUPYTER_PATH"]
    config.option.nbval_current_env = False
    config.option.nbval_kernel_name = "python3"


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leaves one row of a test that cannot run: a thousand skips hide the others."""
    seen, kept, left_out = set(), [], []
    for item in items:
        absent = [n for n, why in NEEDS.items() if item.get_closest_marker(n) and why()]
        test = item.nodeid.partition("[")[0]
        (left_out if absent and test in seen else kept).append(item)
        seen.add(test)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name, missing in NEEDS.items():
        if item.get_closest_marker(name) is None:
            continue
        why = missing()
        if why is not None and name in required():
            pytest.fail(f"TFTEACH_REQUIRE asks for {name}: {why}", pytrace=False)
        if why is not None:
            pytest.skip(why)


def required() -> set[str]:
    return set(filter(None, os.environ.get("TFTEACH_REQUIRE", "").split(",")))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts; a shell has it ignored in what it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def oracle() -> str:
    """The path of the Python that has TensorFlow 1.15; for tests marked `oracle`."""
    python = find_oracle()
    assert python is not None, "mark the test with pytest.mark.oracle"
    return python


@pytest.fixture(scope="session")
def tensorflow(oracle: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Real TensorFlow's `tests.forked_programs.Forks`; for tests marked `oracle`.

    Its import takes each program two seconds otherwise.
    """
    from tests.forked_programs import forked_programs

    folder = tmp_path_factory.mktemp("tensorflow")
    with forked_programs(folder, "import tensorflow", oracle) as forks:
        yield forks


@pytest.fixture(scope="session")
def chromium() -> str:
    """Chromium's path; for tests marked `browser`."""
    path = find_chromium()
    assert path is not None, "mark the test with pytest.mark.browser"
    return path
