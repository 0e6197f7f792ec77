"""What the ends of an edge call an iteration of a loop."""

from types import SimpleNamespace

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import free_addresses
from tfteach.engine.flow.flow_nodes import place_of_call
from tfteach.framework import protos
from tfteach.lib.distributed_runtime import cluster as cluster_tasks
from tfteach.lib.distributed_runtime import transfer_ops
from tfteach.lib.distributed_runtime.transfer_ops import at_place

ROOT = SimpleNamespace(parent=None)
OUTER = SimpleNamespace(parent=ROOT, parent_iteration=0, name="while_1/while_context")


def inner(iteration):
    name = "while_1/while/while_context"
    return SimpleNamespace(parent=OUTER, parent_iteration=iteration, name=name)


@pytest.mark.parametrize(
    ("frame", "number"),
    [
        # As TensorFlow 2.21 asked for them.
        (OUTER, 1297487728751926515),
        (inner(0), 7908215679257286958),
        (inner(1), 7908215679257285933),
        (inner(3), 7908215679257283887),
        (ROOT, 0),
    ],
)
def test_frames_of_tensorflow_2(frame, number):
    session = SimpleNamespace(exchanges_with_tensorflow_2=lambda key: True)
    token = place_of_call.set((frame, 4 if frame.parent else 0))
    try:
        iteration = 4 if frame.parent else 0
        assert at_place("a;1;b;edge;0:0", session) == f"a;1;b;edge;{number}:{iteration}"
    finally:
        place_of_call.reset(token)


@pytest.mark.parametrize(("number", "is_2"), [(b"", False), (b"\x40\x01", True)])
def test_whose_frames(monkeypatch, number, is_2):
    """A loop of two tasks, which take each other for TensorFlow 2, or not."""
    addresses = free_addresses(2)
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    servers = [tf.train.Server(cluster, job) for job in cluster]
    seen = set()

    def at_place_seen(key, session):
        seen.add(session.exchanges_with_tensorflow_2(key))
        return at_place(key, session)

    def with_number(self, task, timeout_s):
        return [
            protos.DeviceAttributes.FromString(device.SerializeToString() + number)
            for device in devices_of(self, task, timeout_s)
        ]

    devices_of = cluster_tasks.Cluster.devices_of
    monkeypatch.setattr(cluster_tasks.Cluster, "devices_of", with_number)
    monkeypatch.setattr(transfer_ops, "at_place", at_place_seen)

    def body(i, x):
        with tf.device("/job:ps/task:0"):
            y = x * 2.0
        return i + 1, y + 1.0

    try:
        with tf.Graph().as_default(), tf.Session(servers[1].target) as session:
            with tf.device("/job:worker/task:0"):
                _, end = tf.while_loop(lambda i, x: i < 5, body, [0, 1.0])
            options = tf.RunOptions(timeout_in_ms=60_000)
            assert session.run(end, options=options) == 63
    finally:
        for server in servers:
            server._stop()
    assert seen == {is_2}
