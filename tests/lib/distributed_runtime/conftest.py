"""Servers for the tests of this folder."""

import subprocess
import time

import pytest

import tfteach as tf
from tests.free_ports import free_ports
from tfteach.lib.distributed_runtime import cluster as cluster_tasks

SERVER = """
import sys
import tensorflow as tf
server = tf.train.Server.create_local_server()
target = server.target
print(target.decode() if isinstance(target, bytes) else target, flush=True)
sys.stdin.read()
"""


def free_addresses(count):
    """Addresses of this machine at which nothing listens."""
    return [f"localhost:{port}" for port in free_ports(count)]


def eventually(is_so):
    """Wait until a condition holds."""
    end_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.01)


@pytest.fixture
def by_grpc(monkeypatch):
    """Tasks of one process talk as those of several do."""
    monkeypatch.setattr(cluster_tasks, "local_methods", lambda address: None)


@pytest.fixture(scope="module")
def two_servers():
    """The servers of ps:0 and worker:0."""
    addresses = free_addresses(2)
    cluster = dict(zip(("ps", "worker"), ([a] for a in addresses), strict=True))
    made = [tf.train.Server(cluster, job) for job in cluster]
    yield made
    for server in made:
        server._stop()


@pytest.fixture(scope="package")
def own_server():
    """A server of this process."""
    server = tf.train.Server.create_local_server()
    yield server
    server._stop()


@pytest.fixture(scope="package")
def tensorflow_server(oracle):
    """The target of a server of TensorFlow 1.15, in a process of its own."""
    with subprocess.Popen(
        [oracle, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
