"""Clients that give up, and servers that are killed or stop answering."""

import os
import signal
import subprocess
import sys

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import eventually
from tfteach.framework import protos
from tfteach.lib.distributed_runtime import channel
from tfteach.lib.distributed_runtime.channel import shared_channel

SERVER = """
import sys
import tfteach as tf
tf.compat.v1.logging.set_verbosity("ERROR")
print(tf.train.Server.create_local_server().target.decode(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def process():
    """A server in a process of its own, which ends with this one."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            process.target = process.stdout.readline().strip()
            yield process
        finally:
            process.kill()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_killed_server(process, graph):
    one = tf.constant(1)
    element = tf.FIFOQueue(1, tf.int32).dequeue()
    session = tf.Session(process.target)
    assert session.run(one) == 1
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(tf.errors.UnavailableError):
        session.run(element)
    with pytest.raises(tf.errors.UnavailableError):
        session.close()
    with tf.Session() as session:
        assert session.run(one) == 1


def test_a_server_that_stops_answering(process, graph, monkeypatch):
    one = tf.constant(1)
    with tf.Session(process.target) as session:
        assert session.run(one) == 1
        os.kill(process.pid, signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # until it has stopped
        monkeypatch.setattr(channel, "SILENCE_S", 0.2)
        monkeypatch.setattr(channel, "ALIVE_TIMEOUT_S", 0.5)
        with pytest.raises(tf.errors.UnavailableError, match="does not answer any mo"):
            session.run(one)
        monkeypatch.undo()
        os.kill(process.pid, signal.SIGCONT)
        assert session.run(one) == 1


def test_a_slow_step_is_no_silent_server(own_server, graph, monkeypatch):
    monkeypatch.setattr(channel, "SILENCE_S", 0.05)
    config = tf.ConfigProto(operation_timeout_in_ms=1000)
    config.rpc_options.use_rpc_for_inprocess_master = True
    element = tf.FIFOQueue(1, tf.int32, shared_name="slow").dequeue()
    with (
        tf.Session(own_server.target, config=config) as session,
        pytest.raises(tf.errors.DeadlineExceededError),
    ):
        session.run(element)


def test_a_client_that_gave_up_takes_no_element(own_server, graph):
    queue = tf.FIFOQueue(1, tf.int32, shared_name="wanted", name="wanted")
    element, put = queue.dequeue(name="element"), queue.enqueue(7)
    size = queue.size()
    with tf.Session(own_server.target) as session:
        session.run(size)
        handle = session._remote._handle.decode()
        request = protos.RunStepRequest(session_handle=handle, fetch=["element:0"])
        served = own_server._master._sessions[handle].session
        waits = served.resources.cancellation.condition_of_waits
        server = shared_channel(own_server.target.decode().removeprefix("grpc://"))
        call = server.start("MasterService/RunStep", request.SerializeToString())
        eventually(lambda: waits)
        call.cancel()
        eventually(lambda: not waits)
        session.run(put)
        assert session.run(element) == 7
