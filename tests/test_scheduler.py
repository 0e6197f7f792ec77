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
    """Runs a test when it is asked to, if it knows the next or that none will come."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.shutting_down = False
        self.left: list[int] = []
        self.files: list[str] = []
        self.ran: list[str] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.left += indices
        self.files.append(TESTS[indices[0]].split("::")[0])
        assert {TESTS[i].split("::")[0] for i in indices} == {self.files[-1]}

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def is_ready(self) -> bool:
        return len(self.left) > 1 or (self.shutting_down and bool(self.left))


class Run:
    """Workers that have collected all tests."""

    def __init__(self, count: int) -> None:
        config: Any = SimpleNamespace(
            getvalue={"tx": ["popen"] * count}.__getitem__,
            option=SimpleNamespace(loadscopereorder=True, debug=False),
        )
        self.scheduler = Scheduler(config)
        self.workers: list[Any] = [self.add() for _ in range(count)]
        for worker in self.workers:
            self.scheduler.add_node_collection(worker, TESTS)
        self.scheduler.schedule()

    def add(self) -> Any:
        worker: Any = Worker("gw")
        self.scheduler.add_node(worker)
        return worker

    def step(self, worker: Any) -> None:
        worker.ran.append(TESTS[worker.left[0]])
        self.scheduler.mark_test_complete(worker, worker.left.pop(0))

    def finish(self) -> list[Worker]:
        """All workers, those that died as well, when each in turn has run tests."""
        while ready := [worker for worker in self.workers if worker.is_ready]:
            for worker in ready:
                self.step(worker)
        assert self.scheduler.tests_finished
        assert not self.scheduler.has_pending
        assert all(worker.shutting_down for worker in self.workers)
        return self.workers


def run(count: int) -> list[Worker]:
    return Run(count).finish()


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_file_runs_once(count: int) -> None:
    workers = run(count)
    assert sorted(file for worker in workers for file in worker.files) == sorted(FILES)
    assert sorted(test for worker in workers for test in worker.ran) == sorted(TESTS)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("ran", range(len(TESTS)))
def test_what_a_worker_that_dies_had_left_is_run(ran: int, count: int) -> None:
    """... by the others and its successor, but for the test that it ran."""
    runs = Run(count)
    workers, scheduler = runs.workers, runs.scheduler
    for i in range(ran):
        if workers[i % count].is_ready:
            runs.step(workers[i % count])
    dead = workers[ran % count]
    running = TESTS[dead.left[0]] if dead.left else None
    assert scheduler.remove_node(dead) == running
    dead.left, dead.shutting_down = [], True
    survivor = workers[(ran + 1) % count]
    if survivor.is_ready:
        runs.step(survivor)
    workers.append(runs.add())
    if survivor.is_ready:
        runs.step(survivor)
    scheduler.add_node_collection(workers[-1], TESTS)
    scheduler.schedule()
    done = [test for worker in runs.finish() for test in worker.ran]
    assert sorted([*done, running] if running else done) == sorted(TESTS)


def test_a_worker_that_finds_other_tests_runs_none() -> None:
    runs = Run(1)
    other = runs.add()
    runs.scheduler.add_node_collection(other, TESTS[1:])
    runs.scheduler.schedule()
    assert other.shutting_down
    runs.finish()
    assert other.ran == []


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
