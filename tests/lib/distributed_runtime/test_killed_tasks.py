"""Tasks in processes of their own that are killed, stopped or cut off during a step."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import eventually, free_addresses
from tfteach.lib.distributed_runtime import channel
from tfteach.lib.distributed_runtime.local import task_process

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


class Task:
    """The only task of a job in a process of its own, which ends with this one."""

    def __init__(self, cluster, job):
        program = [sys.executable, task_process.__file__, "tfteach"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*program, json.dumps(cluster), job, "0", ""],
            stdin=pipe,
            stdout=pipe,
            text=True,
        )
        assert self.process.stdout.readline().strip() == task_process.READY

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def cluster():
    return {job: free_addresses(1) for job in ("ps", "worker")}


@pytest.fixture
def ps(cluster):
    """The parameter server; the worker is in this process."""
    task = Task(cluster, "ps")
    yield task
    task.kill()


@pytest.fixture
def worker(cluster):
    server = tf.train.Server(cluster, "worker")
    yield server
    server._stop()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


class Step:
    """A step of both tasks that never ends: first it says that it has begun.

    Args:
      waits_at: the task that waits.
    """

    def __init__(self, waits_at):
        with tf.device(PS):
            begun = tf.FIFOQueue(9, tf.float32, [[]], shared_name="begun")
            self.v = tf.Variable(1.0)
            put = begun.enqueue(1.0)
        with tf.device(waits_at), tf.control_dependencies([put]):
            never = tf.FIFOQueue(9, tf.float32, [[]], shared_name="never")
            element = never.dequeue()
        with tf.device(PS):
            self.never = element + self.v
        with tf.device(WORKER):
            self.never = self.never * 2.0
            self.doubled = self.v * 2.0
        self.size = begun.size()
        self.errors = []

    def begin(self, session):
        """Run it on a thread, and return once it waits."""
        session.run(self.v.initializer)
        assert session.run(self.doubled) == 2
        self.thread = threading.Thread(target=self._run, args=(session,))
        self.thread.start()
        eventually(lambda: session.run(self.size) > 0)

    def _run(self, session):
        try:
            session.run(self.never)
        except tf.errors.OpError as error:
            self.errors.append(error)

    def error(self):
        """The error with which it ended."""
        self.thread.join(60)
        (error,) = self.errors
        return error


@pytest.mark.parametrize("waits_at", [PS, WORKER])
def test_a_parameter_server_killed_in_a_step(cluster, ps, worker, graph, waits_at):
    step = Step(waits_at)
    with tf.Session(worker.target) as session:
        step.begin(session)
        ps.kill()
        assert type(step.error()) is tf.errors.UnavailableError
        with pytest.raises(tf.errors.UnavailableError):
            session.run(step.doubled)
    again = Task(cluster, "ps")  # the worker uses it
    try:
        with tf.Session(worker.target) as session:
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(step.doubled)
            session.run(step.v.initializer)
            assert session.run(step.doubled) == 2
    finally:
        again.kill()


def test_a_parameter_server_that_stands_still_in_a_step(ps, worker, graph, monkeypatch):
    step = Step(PS)
    session = tf.Session(worker.target)
    monkeypatch.setattr(channel, "SILENCE_S", 0.2)
    step.begin(session)
    os.kill(ps.process.pid, signal.SIGSTOP)
    os.waitpid(ps.process.pid, os.WUNTRACED)  # until it has stopped
    monkeypatch.setattr(channel, "ALIVE_TIMEOUT_S", 0.5)
    assert type(step.error()) is tf.errors.UnavailableError
    assert "does not answer any more" in step.errors[0].message
    with tf.device(WORKER):
        one = tf.constant(1.0) + 0.0
    assert session.run(one) == 1  # the worker is still of use


def test_a_master_killed_in_a_step(cluster, graph):
    """Its client gets an error, and another master uses the task that is left."""
    server = tf.train.Server(cluster, "ps")
    step = Step(WORKER)
    master = Task(cluster, "worker")
    try:
        step.begin(tf.Session(f"grpc://{cluster['worker'][0]}"))
        master.kill()
        assert type(step.error()) is tf.errors.UnavailableError
        config = tf.ConfigProto(device_filters=["/job:ps"])
        with tf.Graph().as_default(), tf.device(PS):
            same = tf.Variable(0.0, name=step.v.op.name)
            with tf.Session(server.target, config=config) as session:
                assert session.run(same) == 1
    finally:
        master.kill()
        server._stop()


class Sessions(tf.train.SessionRunHook):
    """Counts the sessions of a MonitoredSession."""

    count = 0

    def after_create_session(self, session, coord):
        self.count += 1


def test_monitored_training_goes_on_after_a_kill(cluster, ps, worker, graph, tmp_path):
    """The parameter server loses its variables: they come from the last checkpoint."""
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
        train = tf.group(step.assign_add(1), total.assign_add(2.0))
    seen, sessions = [], Sessions()

    def values(step_context):
        return step_context.session.run((step, total))

    with tf.train.MonitoredTrainingSession(
        master=worker.target,
        checkpoint_dir=str(tmp_path),
        save_checkpoint_steps=2,
        hooks=[sessions, tf.train.StopAtStepHook(last_step=6)],
    ) as session:
        while not session.should_stop():
            session.run(train)
            seen.append(session.run_step_fn(values))
            if len(seen) == 4:
                ps.kill()
                again = Task(cluster, "ps")
    again.kill()
    steps = [int(at) for at, _ in seen]
    assert steps[:4] == [1, 2, 3, 4]
    assert steps[-1] == 6
    assert sessions.count == 2
    assert all(value == 2 * at for at, value in seen)


class Wire:
    """Forwards connections to an address, until they are cut."""

    def __init__(self, address):
        self.host, _, port = address.rpartition(":")
        self.port = int(port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.ends, self.threads = [], []
        self._start(self._accept)

    def _start(self, function, *args):
        thread = threading.Thread(target=function, args=args, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection((self.host, self.port))
            self.ends += client, server
            self._start(self._copy, client, server)
            self._start(self._copy, server, client)

    def _copy(self, source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def cut(self):
        for end in self.ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        with self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self.threads:
            thread.join()
        for end in self.ends:
            end.close()


def test_a_connection_that_is_lost_in_a_step(own_server, graph):
    """The step ends here and there; the session goes on by a new connection."""
    wire = Wire(own_server.target.decode().removeprefix("grpc://"))
    queue = tf.FIFOQueue(9, tf.float32, [[]], shared_name="cut")
    element, put, size = queue.dequeue(), queue.enqueue(7.0), queue.size()
    found = []

    def run():
        try:
            session.run(element)
        except tf.errors.OpError as error:
            found.append(error)

    with tf.Session(f"grpc://{wire.address}") as session:
        assert session.run(size) == 0
        handle = session._remote._handle.decode()
        served = own_server._master._sessions[handle].session
        waits = served.resources.cancellation.condition_of_waits
        thread = threading.Thread(target=run)
        thread.start()
        eventually(lambda: waits)
        wire.cut()
        thread.join(60)
        assert [type(error) for error in found] == [tf.errors.UnavailableError]
        eventually(lambda: not waits)
        session.run(put)
        assert session.run(element) == 7  # the step that was cut took none
    wire.close()
