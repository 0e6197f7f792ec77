"""Tasks with several devices: the master divides a step among tasks, not devices."""

import subprocess

import numpy as np
import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import free_addresses
from tfteach.lib.distributed_runtime.partition_session import PartitionSession

MASTER, OTHER = "/job:worker/task:0", "/job:worker/task:1"


@pytest.fixture(scope="module")
def target():
    addresses = free_addresses(2)
    config = tf.ConfigProto(device_count={"CPU": 2, "GPU": 0})
    made = [
        tf.train.Server({"worker": addresses}, "worker", index, config=config)
        for index in range(2)
    ]
    yield made[0].target
    for server in made:
        server._stop()


@pytest.fixture
def parts(monkeypatch):
    """The op types of each part that a task runs."""
    found = []
    imported = PartitionSession._import

    def recorded(self, graph_def):
        found.append([node.op for node in graph_def.node])
        imported(self, graph_def)

    monkeypatch.setattr(PartitionSession, "_import", recorded)
    return found


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("task", [MASTER, OTHER])
def test_edges_between_devices_of_a_task_are_not_cut(target, graph, parts, task):
    x = tf.placeholder(tf.float32, [])
    y = x
    for i in range(4):
        with tf.device(f"{task}/cpu:{i % 2}"):
            y = tf.sqrt(y)
    with tf.Session(target) as session:
        assert session.run(y, {x: 65536.0}) == 2.0
        (part,) = parts
        assert sorted(part) == ["Sqrt"] * 4 + ["_Recv", "_Send"]


def test_devices_of_two_tasks(target, graph):
    with tf.device(f"{OTHER}/cpu:1"):
        a = tf.constant(17.0)
    with tf.device(f"{MASTER}/cpu:1"):
        b = tf.constant(3.0)
    with tf.device(f"{OTHER}/cpu:0"):
        first = a + b
    with tf.device(f"{MASTER}/cpu:1"):
        second = b + a
    with tf.device(f"{MASTER}/cpu:0"), tf.control_dependencies([a]):
        both = first + second
    with tf.Session(target) as session:
        assert session.run([first, second, both]) == [20.0, 20.0, 40.0]


def loop():
    """1 -> 2 * 1 + 1 -> ..., three times, on both devices of the other task."""

    def body(i, x):
        with tf.device(f"{OTHER}/cpu:0"):
            x = x * 2.0
        with tf.device(f"{OTHER}/cpu:1"):
            return i + 1, x + 1.0

    with tf.device(f"{MASTER}/cpu:1"):
        return tf.while_loop(lambda i, x: i < 3, body, [0, 1.0])[1]


def test_branches_and_loops_on_the_devices_of_tasks(target, graph, parts):
    chosen = tf.placeholder(tf.bool, [])
    found = loop()
    with tf.device(f"{OTHER}/cpu:1"):
        found = tf.cond(chosen, lambda: found + 1.0, lambda: found - 1.0)
    with tf.Session(target) as session:
        assert session.run(found, {chosen: True}) == 16.0
        assert session.run(found, {chosen: False}) == 14.0
        # A control loop on each device, as TensorFlow's workers require.
        assert sorted(part.count("Enter") for part in parts) == [2, 3]


SERVER = """
import sys
import tensorflow as tf
config = tf.ConfigProto(device_count={"CPU": 2})
server = tf.train.Server({"worker": sys.argv[1:]}, "worker", 1, config=config)
print("listens", flush=True)
sys.stdin.read()
"""


@pytest.mark.oracle
def test_a_worker_of_tensorflow(oracle, graph):
    addresses = free_addresses(2)
    config = tf.ConfigProto(device_count={"CPU": 2})
    found = loop()
    with subprocess.Popen(
        [oracle, "-c", SERVER, *addresses],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as other:
        server = tf.train.Server({"worker": addresses}, "worker", 0, config=config)
        try:
            assert other.stdout.readline() == "listens\n"
            limit = tf.ConfigProto(operation_timeout_in_ms=30_000)
            with tf.Session(server.target, config=limit) as session:
                assert session.run(found) == 15.0
        finally:
            server._stop()
            other.kill()


def test_variables_on_the_second_device_of_a_parameter_server(target, graph):
    with tf.device(f"{OTHER}/cpu:1"):
        w = tf.get_variable("w", initializer=np.ones([2, 2], np.float32))
    x = tf.placeholder(tf.float32, [None, 2])
    losses = []
    for i in range(2):
        with tf.device(f"{MASTER}/cpu:{i}"):
            losses.append(tf.reduce_sum(tf.matmul(x[i::2], w)))
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    train = optimizer.minimize(tf.add_n(losses), colocate_gradients_with_ops=True)
    with tf.Session(target) as session:
        session.run(w.initializer)
        session.run(train, {x: [[1, 2], [3, 4]]})
        assert session.run(w).tolist() == [[-1, -1], [-2, -2]]


def test_a_later_op_named_as_a_scope(target, graph):
    with tf.Session(target) as session:
        assert session.run(tf.constant(1.0, name="c/inner")) == 1.0
        assert session.run(tf.constant(2.0, name="c")) == 2.0
