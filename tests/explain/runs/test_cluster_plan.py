"""Plans for the tasks of a cluster that nobody started.

Placements and transfers are those of a real cluster of TensorFlow 1.15.5, three servers
in one process, whose `RunMetadata.partition_graphs` were read.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfteach as tf
from tfteach.explain.devices.partitions import partitions
from tfteach.explain.devices.placement import placement

PS0 = "/job:ps/replica:0/task:0/device:CPU:0"
PS1 = "/job:ps/replica:0/task:1/device:CPU:0"
WORKER = "/job:worker/replica:0/task:0/device:CPU:0"


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    """Two parameter servers, one worker, and an op that names none."""
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            w = tf.get_variable("w", [3, 2])
        with tf.device("/job:ps/task:1"):
            b = tf.get_variable("b", [2])
        with tf.device("/job:worker/task:0"):
            x = tf.placeholder(tf.float32, [4, 3], name="x")
            y = tf.matmul(x, w, name="y") + b
            loss = tf.reduce_mean(y, name="loss")
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        tf.multiply(loss, 2.0, name="free")
        yield graph


FETCHES, FEEDS = ["GradientDescent", "free:0"], ["x:0"]


def test_each_task_holds_what_the_graph_says(graph: tf.Graph) -> None:
    found = placement(graph)
    assert [device.name for device in found.devices] == [PS0, PS1, WORKER]
    held = [(d.label, d.variables, d.variable_bytes) for d in found.devices]
    assert held == [("ps:0", 1, 24), ("ps:1", 1, 8), ("worker:0", 0, 0)]
    assert "ps:0: 14 ops, 1 variable, 24 B" in str(found)
    assert found.plan in str(found)
    assert found.plan == (
        "A plan for 2 ps tasks and 1 worker task: no such cluster runs here. Feeds and "
        "fetches pass through worker:0."
    )


def test_what_names_no_task_is_placed_on_the_first(graph: tf.Graph) -> None:
    found = placement(graph, FETCHES, FEEDS)
    assert found.of("free").assigned == PS0
    assert found.of("y").assigned == WORKER
    assert found.of("GradientDescent/update_b/ApplyGradientDescent").assigned == PS1


def test_the_transfers_are_those_of_a_real_cluster(graph: tf.Graph) -> None:
    found = partitions(graph, FETCHES, FEEDS)
    assert [part.label for part in found.parts] == ["ps:0", "ps:1", "worker:0"]
    sent = {(link.tensor, link.source, link.target) for link in found.links}
    rate = "GradientDescent/learning_rate:0"
    assert sent == {
        ("w/read:0", PS0, WORKER),
        ("b/read:0", PS1, WORKER),
        (rate, WORKER, PS0),
        (rate, WORKER, PS1),
        ("gradients/y_grad/tuple/control_dependency_1:0", WORKER, PS0),
        ("gradients/add_grad/tuple/control_dependency_1:0", WORKER, PS1),
        ("loss:0", WORKER, PS0),
        ("free:0", PS0, WORKER),
        ("^w/read", PS0, WORKER),
        ("^GradientDescent/update_w/ApplyGradientDescent", PS0, WORKER),
        ("^GradientDescent/update_b/ApplyGradientDescent", PS1, WORKER),
    }
    # feeds and fetches pass through the task to which a session is connected
    types = {node.name: node.op_type for node in found.of("worker:0").nodes}
    assert types["_arg_x_0_0"] == "_Arg"
    assert types["_retval_free_0_0"] == "_Retval"


def test_a_session_still_refuses(graph: tf.Graph) -> None:
    with (
        tf.Session(graph=graph) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"),
    ):
        placement(session)


def test_a_gpu_of_a_task_has_that_task_as_its_host() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/job:worker/task:1/gpu:0"):
            shape = tf.placeholder(tf.int32, [2], name="shape")
            tf.reduce_sum(tf.fill(shape, 1.0), name="sum")
        with tf.device("/job:worker/task:0"):
            tf.no_op(name="other")
    found = partitions(graph, "sum:0", ["shape:0"])
    labels = [part.label for part in found.parts]
    assert labels == ["worker:0", "worker:1", "worker:1 GPU:0"]
    (way,) = [link for link in found.links if link.tensor == "shape:0"]
    assert way.target.endswith("/task:1/device:CPU:0")


def test_a_graph_without_tasks_has_the_local_devices() -> None:
    with tf.Graph().as_default() as graph, tf.device("/gpu:1"):
        tf.constant(1.0, name="one")
    found = placement(graph)
    assert [device.label for device in found.devices] == ["CPU:0", "GPU:1"]
