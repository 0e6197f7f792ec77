from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from IPython.core.error import UsageError

import tfteach as tf
from tests.explain.clusters.test_clusters import StandIn
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.explain import trace_step
from tfteach.jupyter import ClusterView
from tfteach.jupyter.magics import cluster as magic


def test_tasks_and_messages_reach_the_page(session: tf.Session, target: str) -> None:
    cluster: Any = StandIn(target.removeprefix("grpc://"))
    step = trace_step(session, "y:0", {"x:0": [1.0, 2.0]})
    view = ClusterView(cluster, {"s": session}, step)
    ps, worker, _ = view._tasks
    assert (ps["name"], ps["state"], worker["sessions"]) == ("ps:0", "dead", ["s"])
    assert ps["variables"][0] == {"name": "w", "what": "float32 [2]", "size": "8 B"}
    assert [m["tensor"] for m in view._messages] == ["x:0", "w/read:0", "y:0"]
    assert view._messages[1]["received"] <= view._span
    assert [name for _, _, name in view._ran["worker:0"]] == ["y"]
    assert "w/read" in [name for _, _, name in view._ran["ps:0"]]
    cluster.tasks[0].state = "alive"
    view.refresh()
    assert view._tasks[0]["state"] == "alive"
    assert view._summary == "1 ps task and 2 worker tasks; worker:1 is slow"
    assert [m["tensor"] for m in view._messages] == ["x:0", "w/read:0", "y:0"]
    cluster.is_closed, cluster.tasks[0].state = True, "dead"
    view.refresh()
    assert view._tasks[0]["state"] == "alive"  # as it was
    view.close()


def test_a_static_picture(session: tf.Session, target: str) -> None:
    cluster: Any = StandIn(target.removeprefix("grpc://"))
    step = trace_step(session, "y:0", {"x:0": [1.0, 2.0]})
    bundle = ClusterView(cluster, {"<s>": session}, step).static_bundle()
    svg = bundle["image/svg+xml"]
    for words in (
        ">ps:0<",
        ">dead<",
        "w/read:0, 8 B",
        "master of &lt;s&gt;",
        ">client<",
    ):
        assert words in svg
    assert bundle["text/plain"].startswith("1 ps task and 2 worker tasks")
    assert "A step of y:0" in bundle["text/html"]
    alone = ClusterView(cluster, {}).static_bundle()["image/svg+xml"]
    assert "client" not in alone


def test_a_view_stays_when_its_cluster_ends(session: tf.Session) -> None:
    view = ClusterView.of(session, "y:0", {"x:0": [1.0, 2.0]})
    session.close()
    view.refresh()
    assert len(view._tasks) == 2


class Started(StandIn):
    """Records what is done to the tasks of a cluster."""

    made: ClassVar[list[Started]] = []

    def __init__(self, jobs: Any, engine: str, python: str | None) -> None:
        super().__init__()
        if engine == "tensorflow" and python is None:
            raise FileNotFoundError("TFTEACH_TENSORFLOW")
        self.jobs, self.done = jobs, []
        self.made.append(self)

    def close(self) -> None:
        self.made.remove(self)

    def kill(self, job: str, index: int) -> None:
        self.task(job, index).state = "dead"

    def stop(self, job: str, index: int) -> None:
        raise ValueError(f"{job}:{index} is dead: restart it first")


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Started]]:
    monkeypatch.setattr(magic, "LocalCluster", Started)
    monkeypatch.setattr(magic, "running_clusters", lambda: Started.made)
    with tf.Graph().as_default():
        yield Started.made
    Started.made.clear()


def test_the_magic_starts_changes_and_ends(
    shell: Any,  # noqa: F811
    running: list[Started],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(shell, "%cluster ps=1 worker=2 --text").success
    assert running[0].jobs == {"ps": 1, "worker": 2}
    assert shell.user_ns["cluster"] is running[0]
    assert "ps:0 is dead; worker:1 is slow" in capsys.readouterr().out
    assert run(shell, "%cluster worker=1 --text").success  # the first one has ended
    assert [made.jobs for made in running] == [{"worker": 1}]
    assert run(shell, "%cluster chief=1 --name other --text").success
    assert len(running) == 2
    capsys.readouterr()
    assert run(shell, "%cluster kill worker:0 worker:1 --text").success
    assert "worker:0 is dead; worker:1 is dead" in capsys.readouterr().out
    assert running[1].task("worker", 0).state == "alive"
    assert run(shell, "%cluster kill worker:0 --name nobody --text").success
    assert running[1].task("worker", 0).state == "dead"  # the newest
    assert run(shell, "%cluster end --name other").success
    assert [made.jobs for made in running] == [{"worker": 1}]
    assert run(shell, "%cluster --text").success


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ps=0", "ps=0: name jobs with the number of their tasks"),
        ("=3", "=3: name jobs"),
        ("ps=1 --engine tensorflow", "TFTEACH_TENSORFLOW"),
        ("break ps:0", "break: say kill, stop, resume, restart or end"),
        ("kill", "kill: name tasks: ps:0, worker:0, worker:1"),
        ("kill ps:1", "kill: name tasks"),
        ("stop ps:0", "ps:0 is dead: restart it first"),
        ("--feed x=1", "--feed x=1 says more of a run"),
    ],
)
def test_misuse_of_the_magic(
    shell: Any,  # noqa: F811
    running: list[Started],
    line: str,
    said: str,
) -> None:
    assert run(shell, "%cluster ps=1 worker=2 --text").success
    result = run(shell, f"%cluster {line} --text")
    assert isinstance(result.error_in_exec, UsageError)
    assert said in str(result.error_in_exec)


def test_no_cluster_runs(shell: Any, running: list[Started]) -> None:  # noqa: F811
    result = run(shell, "%cluster")
    assert "No cluster runs: start one" in str(result.error_in_exec)
