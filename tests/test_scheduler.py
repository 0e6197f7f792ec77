"""Which worker runs what: see scheduler.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import spare_messages
from tests.scheduler import Scheduler

FILES = {"tests/browser/test_a.py": 3, "tests/browser/test_b.py": 2}
FILES |= {f"tests/ops/test_{i}.py": 5 - i for i in range(4)}
TESTS = [f"{file}::test_{i}" for file, count in FILES.items() for i in range(count)]


class Worker:
    """Runs all that it was sent when it is asked to."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.shutting_down = False
        self.sent: list[int] = []
        self.files: list[str] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent += indices
        files = [TESTS[i].split("::")[0] for i in indices]
        assert len(files) == FILES[files[0]], "a file is in one piece"
        self.files.append(files[0])

    def shutdown(self) -> None:
        self.shutting_down = True


def run(count: int) -> list[Worker]:
    """The workers, when each in turn has run a test until all had run."""
    names = ["popen"] * count
    config: Any = SimpleNamespace(
        getvalue={"tx": names}.__getitem__,
        option=SimpleNamespace(loadscopereorder=True, debug=False),
    )
    scheduler = Scheduler(config)
    workers: list[Any] = [Worker(f"gw{i}") for i in range(count)]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, TESTS)
    scheduler.schedule()
    while any(worker.sent for worker in workers):
        for worker in workers:
            if worker.sent:
                scheduler.mark_test_complete(worker, worker.sent.pop(0))
    assert scheduler.tests_finished
    assert all(worker.shutting_down for worker in workers)
    return workers


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_file_runs_once(count: int) -> None:
    ran = [file for worker in run(count) for file in worker.files]
    assert sorted(ran) == sorted(FILES)


def test_the_first_begins_with_the_browser_and_the_second_with_all_else() -> None:
    first, second = run(2)
    assert first.files[:2] == ["tests/browser/test_a.py", "tests/browser/test_b.py"]
    assert second.files[0] == "tests/ops/test_0.py"


def test_only_two_workers_have_a_browser() -> None:
    for worker in run(4)[2:]:
        assert not any("browser" in file for file in worker.files)


def test_workers_tell_what_failed_and_what_took_time() -> None:
    sent: list[tuple[str, Any]] = []
    worker = SimpleNamespace(
        sendevent=lambda name, **content: sent.append((name, content.get("data")))
    )
    manager = SimpleNamespace(get_plugins=lambda: [object(), worker])
    config: Any = SimpleNamespace(pluginmanager=manager)
    spare_messages(config)
    worker.sendevent("logstart", nodeid="a")
    passed = {"outcome": "passed", "when": "setup", "duration": 0.001}
    worker.sendevent("testreport", data=passed)
    assert sent == []
    for change in ({"when": "call"}, {"duration": 2.0}, {"outcome": "failed"}):
        worker.sendevent("testreport", data=passed | change)
        assert sent.pop() == ("testreport", passed | change)
    worker.sendevent("logfinish", nodeid="a")
    assert sent == [("logfinish", None)]
