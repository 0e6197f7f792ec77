"""Clusters of processes: what kills them, what stops them, what they leave behind."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

import tfteach as tf
from tfteach.lib.distributed_runtime.local import local_cluster, local_task
from tfteach.lib.distributed_runtime.local.local_cluster import running_clusters

LocalCluster = tf.distributed.LocalCluster

# Two tasks, of which one stands still: also that one must end.
KERNEL = """
import time
from tfteach.distributed import LocalCluster
cluster = LocalCluster({"ps": 1, "worker": 1})
cluster.stop("ps")
print(*(task.address for task in cluster.tasks), flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster({"ps": 1, "worker": 1}) as made:
        yield made


@pytest.fixture
def patient(monkeypatch):
    """This machine may be busy: only a task that is stopped is slow."""
    monkeypatch.setattr(local_task, "PATIENCE_S", 60.0)


def states(cluster):
    return {task.name: task.state for task in cluster.tasks}


def listens(address):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", int(address.rpartition(":")[2]))) == 0


def eventually(is_so):
    end_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_a_task_dies_and_comes_back(cluster, patient):
    assert states(cluster) == {"ps:0": "alive", "worker:0": "alive"}
    assert cluster.cluster_spec.as_dict() == {
        "ps": [cluster.task("ps").address],
        "worker": [cluster.task("worker").address],
    }
    assert cluster in running_clusters()
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(3.0)
        with tf.device("/job:worker/task:0"):
            doubled = v * 2.0
        with tf.Session(cluster.target("worker", 0)) as session:
            session.run(v.initializer)
            assert session.run(doubled) == 6
        cluster.kill("ps", 0)
        assert states(cluster) == {"ps:0": "dead", "worker:0": "alive"}
        with pytest.raises(ValueError, match="ps:0 is dead"):
            cluster.stop("ps")
        old_address = cluster.task("ps").address
        cluster.restart("ps", 0)
        task = cluster.task("ps")
        assert (task.address, task.state, task.starts) == (old_address, "alive", 2)
        with (
            tf.Session(cluster.target("worker", 0)) as session,
            pytest.raises(tf.errors.FailedPreconditionError),
        ):
            session.run(doubled)


def test_a_task_that_stands_still_is_slow(cluster, patient, monkeypatch):
    cluster.stop("worker", 0)
    assert states(cluster) == {"ps:0": "alive", "worker:0": "slow"}
    cluster.resume("worker", 0)
    assert states(cluster) == {"ps:0": "alive", "worker:0": "alive"}
    # Whoever stopped it: it does not answer.
    monkeypatch.setattr(local_task, "PATIENCE_S", 0.2)
    task = cluster.task("worker")
    os.kill(task.pid, signal.SIGSTOP)
    os.waitpid(task.pid, os.WUNTRACED)
    assert task.state == "slow"
    os.kill(task.pid, signal.SIGCONT)


def test_an_unknown_task(cluster):
    with pytest.raises(ValueError, match=r"no task worker:1; it has ps:0, worker:0"):
        cluster.target("worker", 1)


def test_nothing_survives_a_killed_kernel():
    with subprocess.Popen(
        [sys.executable, "-c", KERNEL], stdout=subprocess.PIPE, text=True
    ) as kernel:
        addresses = kernel.stdout.readline().split()
        assert len(addresses) == 2
        assert all(map(listens, addresses))
        kernel.kill()
    eventually(lambda: not any(map(listens, addresses)))


def test_a_task_that_cannot_start(monkeypatch):
    """The message has what it printed; the other tasks end."""
    taken = socket.create_server(("127.0.0.1", 0))
    free_addresses = local_cluster.free_addresses

    def addresses(jobs):
        found = free_addresses(jobs)
        return found | {"worker": [f"localhost:{taken.getsockname()[1]}"]}

    monkeypatch.setattr(local_cluster, "free_addresses", addresses)
    monkeypatch.setattr(local_cluster, "_ATTEMPTS", 1)
    with taken, pytest.raises(RuntimeError) as caught:
        LocalCluster({"worker": 1})
    assert str(caught.value).startswith("worker:0 of the cluster ended before it was")
    assert "cannot listen at" in str(caught.value)


def test_a_port_that_was_taken_meanwhile(monkeypatch):
    """The next attempt has other ports."""
    started = []

    class Task(local_task.LocalTask):
        def start(self):
            started.append(self)

        def has_started(self, timeout_s):
            return len(started) > 1

    monkeypatch.setattr(local_cluster, "LocalTask", Task)
    monkeypatch.setattr(local_cluster, "_is_free", lambda task: False)
    with LocalCluster({"worker": 1}) as cluster:
        assert cluster.tasks == [started[1]]
    assert repr(cluster) == "LocalCluster(worker:0; tfteach; closed)"
    with pytest.raises(RuntimeError, match="closed"):
        cluster.restart("worker")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (({"worker": 0},), ValueError, "'worker' needs at least one task, got 0"),
        (({},), ValueError, "at least one job"),
        (({"worker": 1}, "jax"), ValueError, "one of tfteach, tensorflow, got 'jax'"),
        (({"worker": 1}, "tensorflow"), FileNotFoundError, "TFTEACH_TENSORFLOW"),
        (({"worker": 1}, "tensorflow", "/no/python"), FileNotFoundError, "/no/python"),
    ],
)
def test_wrong_arguments(arguments, error, words, monkeypatch):
    monkeypatch.delenv("TFTEACH_TENSORFLOW", raising=False)
    with pytest.raises(error, match=words):
        LocalCluster(*arguments)


@pytest.mark.oracle
def test_tasks_of_tensorflow(oracle, monkeypatch):
    monkeypatch.setenv("TFTEACH_TENSORFLOW", oracle)
    with (
        LocalCluster({"ps": 1, "worker": 1}, engine="tensorflow") as cluster,
        tf.Graph().as_default(),
    ):
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(3.0)
        with tf.device("/job:worker/task:0"):
            doubled = v * 2.0
        with tf.Session(cluster.target("worker", 0)) as session:
            session.run(v.initializer)
            assert session.run(doubled) == 6
