"""Partial runs of several tasks; the values and errors are those of TensorFlow 1.15.

The servers run in this process, and talk by gRPC.
"""

import subprocess
import threading
import time

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import eventually, free_addresses

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
INVALID = tf.errors.InvalidArgumentError
SET_UP_FIRST = "Must run PartialRunSetup before performing partial runs"


@pytest.fixture
def session(two_servers, by_grpc):
    """A session of the worker; no task keeps anything of its partial runs."""
    with tf.Graph().as_default(), tf.Session(two_servers[1].target) as made:
        yield made
    services = [server._worker for server in two_servers]
    eventually(lambda: not any(s._partial_runs or s.steps._steps for s in services))
    eventually(lambda: not waiting_threads())


def waiting_threads():
    return [t for t in threading.enumerate() if t.name == "tfteach-waiting-op"]


class Chain:
    """Three ops that follow each other, from task to task."""

    def __init__(self):
        self.a, self.b, self.c = (
            tf.placeholder(tf.float32, [], name=name) for name in "abc"
        )
        with tf.device(PS):
            self.sum = tf.add(self.a, self.b, name="sum")
        with tf.device(WORKER):
            self.product = tf.multiply(self.sum, self.c, name="product")
        with tf.device(PS):
            self.more = tf.add(self.product, 1.0, name="more")

    def set_up(self, session):
        fetches = [self.sum, self.product, self.more]
        return session.partial_run_setup(fetches, [self.a, self.b, self.c])


def test_ops_of_two_tasks(session):
    g = Chain()
    for _ in range(2):
        handle = g.set_up(session)
        assert session.partial_run(handle, [], {g.a: 1}) == []
        assert session.partial_run(handle, g.sum, {g.b: 2}) == 3
        found = session.partial_run(handle, [g.more, g.product], {g.c: 10})
        assert found == [31, 30]
    # A run that is not partial has the same parts.
    feeds = {g.a: 1, g.b: 2, g.c: 4}
    assert session.run([g.sum, g.product, g.more], feeds) == [3, 12, 13]


def test_errors(session):
    g = Chain()
    other = g.sum * 2.0
    handle = g.set_up(session)
    with pytest.raises(INVALID, match="Fetch c:0 can't be computed from the feeds "):
        session.partial_run(handle, g.product, {g.a: 1, g.b: 2})
    session.partial_run(handle, g.sum, {g.a: 1, g.b: 2})
    for fetch, feeds, words in (
        (g.sum, {}, "The fetch sum:0 has already been fetched."),
        (g.product, {g.a: 5}, "The feed a:0 has already been fed."),
        (other, {}, "The fetch mul:0 was not specified in partial_run_setup."),
        (g.more, {g.sum: 1}, "The feed sum:0 was not specified in partial_run_setup."),
    ):
        with pytest.raises(INVALID, match=words):
            session.partial_run(handle, fetch, feeds)
    assert session.partial_run(handle, g.more, {g.c: 10}) == 31
    assert session.partial_run(handle, g.product) == 30
    for unknown in (handle, "none"):
        with pytest.raises(INVALID, match=SET_UP_FIRST):
            session.partial_run(unknown, g.product)
    with pytest.raises(INVALID, match="a:0 is both fed and fetched"):
        session.partial_run_setup(g.a, [g.a])
    with pytest.raises(INVALID, match="Must specify at least one target to fetch"):
        session.partial_run_setup([], [g.a])


def test_every_op_runs_once_and_targets_unasked(session):
    g = Chain()
    with tf.device(PS):
        v = tf.Variable(0.0, use_resource=False)
        counted = v.assign_add(1.0)
    session.run(v.initializer)
    handle = session.partial_run_setup([g.sum, counted], [g.a, g.b])
    assert session.partial_run(handle, g.sum, {g.a: 1, g.b: 2}) == 3
    assert session.partial_run(handle, counted) == 1
    handle = session.partial_run_setup([g.sum, counted.op], [g.a, g.b])
    assert session.partial_run(handle, g.sum, {g.a: 1, g.b: 2}) == 3
    assert session.run(v) == 2
    with pytest.raises(INVALID, match=SET_UP_FIRST):
        session.partial_run(handle, g.sum)


def test_the_last_call_waits_for_all_ops(session):
    g = Chain()
    ran = []

    def slow(x):
        time.sleep(0.1)
        ran.append(float(x))

    with tf.device(PS):
        target = tf.py_func(slow, [g.a], [])
    handle = session.partial_run_setup([g.sum, target], [g.a, g.b])
    assert session.partial_run(handle, g.sum, {g.a: 1, g.b: 2}) == 3
    assert ran == [1]


def test_an_op_that_fails_ends_the_run(session):
    g = Chain()
    with tf.device(PS):
        bad = tf.debugging.check_numerics(tf.log(g.a - 2.0) * g.c, "bad one")
    with tf.device(WORKER):
        doubled = bad * 2.0
    handle = session.partial_run_setup([g.sum, doubled], [g.a, g.b, g.c])
    assert session.partial_run(handle, g.sum, {g.a: 1, g.b: 2}) == 3
    with pytest.raises(INVALID, match=r"(?s)/job:ps/.*bad one : Tensor had NaN values"):
        session.partial_run(handle, doubled, {g.c: 2})
    with pytest.raises(INVALID, match=SET_UP_FIRST):
        session.partial_run(handle, doubled)


def test_dead_tensors(session):
    g = Chain()
    with tf.device(PS):
        untaken = tf.raw_ops.Switch(data=g.a, pred=g.b > 0)[1]
    with tf.device(WORKER):
        untaken = tf.identity(untaken)
    handle = session.partial_run_setup([untaken, g.sum], [g.a, g.b])
    with pytest.raises(INVALID, match=r"From /job:worker(?s:.*)Identity:0;0:0 was not"):
        session.partial_run(handle, untaken, {g.a: 1, g.b: -2})


def test_loops_wait_for_what_is_fed_late(session):
    g = Chain()

    def body(i, x):
        with tf.device(PS):
            y = x * g.c
        return i + 1, y + 1.0

    with tf.device(WORKER):
        _, end = tf.while_loop(lambda i, x: i < 3, body, [0, g.sum])
    handle = session.partial_run_setup([g.sum, end], [g.a, g.b, g.c])
    assert session.partial_run(handle, g.sum, {g.a: 1, g.b: 2}) == 3
    assert session.partial_run(handle, end, {g.c: 2}) == 31


def test_a_session_that_closes_ends_its_runs(session):
    g = Chain()
    handle = g.set_up(session)
    assert session.partial_run(handle, g.sum, {g.a: 1, g.b: 2}) == 3
    eventually(waiting_threads)  # and with the fixture these end


def test_time_limit(two_servers, session):
    g = Chain()
    with tf.device(PS):
        waits = tf.FIFOQueue(1, tf.float32, [[]]).dequeue() + g.a
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    with tf.Session(two_servers[1].target, config=config) as limited:
        handle = limited.partial_run_setup(waits, [g.a])
        with pytest.raises(tf.errors.DeadlineExceededError):
            limited.partial_run(handle, waits, {g.a: 1})
        eventually(lambda: not waiting_threads())


TENSORFLOW = """
import os, sys
import tensorflow as tf
addresses = sys.argv[2:]
cluster = {"ps": addresses[:1], "worker": addresses[1:]}
server = tf.train.Server(cluster, sys.argv[1])
print("listens", flush=True)
if sys.argv[1] == "ps":
    sys.stdin.read()
a, c = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
with tf.device("/job:ps/task:0"):
    doubled = a * 2.0
with tf.device("/job:worker/task:0"):
    product = doubled * c
with tf.device("/job:ps/task:0"):
    more = product + 1.0
with tf.Session(server.target) as session:
    handle = session.partial_run_setup([doubled, more], [a, c])
    print(session.partial_run(handle, doubled, {a: 3}))
    print(session.partial_run(handle, more, {c: 10}), flush=True)
os._exit(0)
"""


@pytest.mark.oracle
def test_a_master_of_tensorflow(tensorflow):
    addresses = free_addresses(2)
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    server = tf.train.Server(cluster, "ps")
    try:
        done = tensorflow.ended(TENSORFLOW, "worker", *addresses)
    finally:
        server._stop()
    assert done.output == "listens\n6.0\n61.0\n", done.errors


@pytest.mark.oracle
def test_a_worker_of_tensorflow(oracle):
    addresses = free_addresses(2)
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    with subprocess.Popen(
        [oracle, "-c", TENSORFLOW, "ps", *addresses],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as other:
        server = tf.train.Server(cluster, "worker")
        try:
            assert other.stdout.readline() == "listens\n"
            with tf.Graph().as_default(), tf.Session(server.target) as session:
                g = Chain()
                handle = g.set_up(session)
                assert session.partial_run(handle, g.sum, {g.a: 1, g.b: 2}) == 3
                found = session.partial_run(handle, [g.more, g.product], {g.c: 10})
                assert found == [31, 30]
        finally:
            server._stop()
            other.kill()
