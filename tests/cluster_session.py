"""A session on servers of this process, for tests of what shows its runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import free_addresses


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """That of worker:0; ps:0 and worker:0 are servers of this process."""
    ps, worker = free_addresses(2)
    cluster = {"ps": [ps], "worker": [worker]}
    servers = [tf.train.Server(cluster, job) for job in ("ps", "worker")]
    yield servers[1].target.decode()
    for server in servers:
        server._stop()


@pytest.fixture
def session(target: str) -> Iterator[tf.Session]:
    tf.Session.reset(target, [""])
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            tf.get_variable("unset", [2], use_resource=True)
            tf.get_variable("large", [200, 100])
        with tf.device("/job:worker/task:0"):
            x = tf.placeholder(tf.float32, [2], name="x")
            tf.multiply(w, x, name="y")
        with tf.Session(target) as session:
            session.run(w.initializer)
            yield session
