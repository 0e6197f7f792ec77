"""Facts about clusters: tasks, what they hold, and the messages of a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf
from tests.explain.profiling.test_task_stats import OWN, TENSORFLOW, stats_of
from tfteach.explain import explain_cluster, messages_of, trace_step
from tfteach.explain.clusters import clusters as module
from tfteach.explain.clusters.cluster_step import ClusterStep, Message
from tfteach.explain.profiling.timing import times_of
from tfteach.framework import protos


class StandIn:
    """A `LocalCluster` whose tasks are no processes."""

    engine = "tfteach"
    is_closed = False

    class Task:
        starts, output = 2, ("Started",)

        def __init__(self, job: str, index: int, state: str, address: str) -> None:
            self.job, self.index, self.state = job, index, state
            self.name, self.address = f"{job}:{index}", address
            self.target = f"grpc://{address}"

    def __init__(self, address: str = "localhost:2") -> None:
        self.tasks = [
            self.Task("ps", 0, "dead", "localhost:1"),
            self.Task("worker", 0, "alive", address),
            self.Task("worker", 1, "slow", "localhost:3"),
        ]

    def task(self, job: str, index: int) -> Any:
        return next(t for t in self.tasks if (t.job, t.index) == (job, index))


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            tf.get_variable("w", [784, 10])
            tf.get_variable("b", [10], use_resource=True)
            tf.ConditionalAccumulator(tf.float32, [2])
            tf.FIFOQueue(2, tf.float32, [2])
        with tf.device("/job:worker/task:1"):
            tf.placeholder(tf.float32, [None], name="x")
        yield graph


def test_what_each_task_holds(graph: tf.Graph) -> None:
    found = explain_cluster(StandIn(), [])
    assert found.summary == (
        "1 ps task and 2 worker tasks; ps:0 is dead; worker:1 is slow"
    )
    assert [task.name for task in found.tasks] == ["ps:0", "worker:0", "worker:1"]
    ps = found.task("ps:0")
    assert [str(variable) for variable in ps.variables] == ["w 30.62 KiB", "b 40 B"]
    assert [v.what for v in ps.variables] == ["float32 [784,10]", "float32 [10]"]
    assert (ps.state, ps.starts, ps.output) == ("dead", 2, ("Started",))
    assert ps.holds == "2 variables, 30.66 KiB"
    assert found.task("worker:0").ops == 0
    assert found.task("worker:1").op_types == (("Placeholder", 1),)
    assert ps.ops == graph.version - 1
    text = str(found)
    assert "  ps:0      dead   localhost:1  " in text
    assert "2 variables, 30.66 KiB: w 30.62 KiB, b 40 B; started 2 times" in text
    with pytest.raises(KeyError):
        found.task("ps:1")


def test_a_graph_that_cannot_be_placed_there(
    session: tf.Session,
    target: str,
) -> None:
    with tf.device("/job:chief/task:0"):
        tf.no_op(name="elsewhere")
    found = explain_cluster(StandIn(target.removeprefix("grpc://")), {"s": session})
    assert found.problem.startswith("Cannot assign a device for operation elsewhere")
    assert found.task("worker:0").sessions == ("s",)


def test_no_master_is_waited_for(
    session: tf.Session,
    target: str,
) -> None:
    cluster = StandIn(target.removeprefix("grpc://"))
    cluster.tasks[1].state = "slow"
    session._remote.list_devices = None  # a call would fail
    found = explain_cluster(cluster, {"s": session})
    assert found.task("ps:0").holds == "3 variables, 78.14 KiB"
    assert found.task("worker:0").sessions == ("s",)


def test_servers_that_another_process_started(session: tf.Session) -> None:
    found = explain_cluster(None, {"mine": session})
    assert [(task.name, task.state) for task in found.tasks] == [
        ("ps:0", "unknown"),
        ("worker:0", "unknown"),
    ]
    assert found.task("worker:0").sessions == ("mine",)
    assert found.task("ps:0").devices == ("CPU:0",)
    assert str(found).startswith("1 ps task and 1 worker task\n")


def test_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_clusters", list)
    with pytest.raises(ValueError, match="%cluster ps=1 worker=2"):
        explain_cluster(None, [])


def test_a_traced_step(session: tf.Session) -> None:
    with tf.device("/job:worker/task:0"):
        (y,) = session.graph.get_operation_by_name("y").outputs
    with tf.device("/job:ps/task:0"), tf.control_dependencies([y]):
        after = tf.constant(1.0, name="one") + 1.0
    step = trace_step(session, [y, after], {"x:0": [1.0, 2.0]})
    assert step.fetches == ("y:0", "add:0")
    ways = [(m.tensor, m.source, m.target, m.size) for m in step.messages]
    assert ways == [
        ("x:0", "client", "worker:0", "8 B"),
        ("w/read:0", "ps:0", "worker:0", "8 B"),
        ("^y", "worker:0", "ps:0", "order only"),
        ("add:0", "ps:0", "worker:0", "4 B"),
        ("y:0", "worker:0", "client", "8 B"),
        ("add:0", "worker:0", "client", "4 B"),
    ]
    assert step.messages[1].readers == ("y",)
    assert [m.is_clients for m in step.messages] == [True, *[False] * 3, True, True]
    assert all(m.sent_us <= m.received_us <= step.span_us for m in step.sent)
    assert "3 messages between tasks, 12 B" in step.summary
    assert "\n  client -> worker:0  x:0       8 B         before the step" in str(step)


def metadata(rows: Any, late_us: int = 0) -> Any:
    found = protos.RunMetadata(step_stats=stats_of(rows, late_us))
    graph = found.partition_graphs.add()
    graph.node.add(name="MatMul_1_S4", op="_Send", input=["MatMul_1:1"])
    return found


@pytest.mark.parametrize("rows", [TENSORFLOW, OWN], ids=["tensorflow", "own"])
def test_messages_of_recorded_steps(rows: Any) -> None:
    first, second = messages_of(metadata(rows))
    assert (first.tensor, first.source, first.target) == (
        "w/read:0",
        "ps:0",
        "worker:0",
    )
    assert (first.sent_us, first.readers) == (4, ("MatMul",))
    assert first.received_us == pytest.approx(469, abs=2)
    assert (second.source, second.target) == ("worker:0", "ps:0")
    assert second.tensor == "MatMul_1:1"
    assert second.why == "for update"


def test_a_moved_clock_is_said() -> None:
    times = times_of(stats_of(OWN, 1000))
    moved = {"/job:ps/replica:0/task:0": 1123.0}
    sent = Message("^a", "ps:0", "worker:0", 0, 0.0, 5.0)
    step = ClusterStep(("y:0",), times, (sent,), moved)
    assert "The clock of ps:0 was moved by 1.12 ms" in str(step)
    assert "ps:0 -> worker:0  ^a  order only  at 0.0 us, 5.0 us on its way" in str(step)


def test_only_sessions_on_servers_have_messages() -> None:
    with tf.Graph().as_default(), tf.Session() as local:
        with pytest.raises(ValueError, match=r"tf.Session\(cluster.target"):
            trace_step(local, tf.constant(1.0))
        with pytest.raises(ValueError, match="at least 1"):
            trace_step(local, tf.constant(1.0), runs=0)
