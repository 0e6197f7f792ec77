"""Sessions, steps and parts that end early leave nothing behind at any task."""

import threading

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import eventually, free_addresses
from tfteach.framework import protos
from tfteach.framework.waiting import caller_is_gone
from tfteach.lib.distributed_runtime import cluster as cluster_tasks
from tfteach.lib.distributed_runtime import step_run
from tfteach.lib.distributed_runtime.channel import shared_channel
from tfteach.lib.distributed_runtime.cluster import Cluster
from tfteach.lib.distributed_runtime.parts import Calls, Part
from tfteach.lib.distributed_runtime.rendezvous import RendezvousTable

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


pytestmark = pytest.mark.usefixtures("by_grpc")


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def channel_to(server):
    return shared_channel(server.target.decode().partition("//")[2])


def kept(server):
    """What a server holds for sessions and steps."""
    master, worker = server._master, server._worker
    return [
        *master._sessions,
        *worker._graphs,
        *worker._sessions,
        *worker._partial_runs,
        *worker.steps._steps,
    ]


def waits_at(server):
    parts = list(server._worker._graphs.values())
    return any(p.resources.cancellation.condition_of_waits for p in parts)


def run(session, element):
    session.run(element)


def run_callable(session, element):
    session.list_devices()  # creates it
    remote = session._remote
    of = {"session_handle": remote._handle}
    made = protos.MakeCallableRequest(**of)
    made.options.fetch.append(element.name)
    answer = remote._message("MakeCallable", made, protos.MakeCallableResponse)
    step = protos.RunCallableRequest(**of, handle=answer.handle)
    remote._message("RunCallable", step, protos.RunCallableResponse)


def run_partially(session, element):
    handle = session.partial_run_setup([element], [])
    session.partial_run(handle, element)


@pytest.mark.parametrize("runs", [run, run_callable, run_partially])
@pytest.mark.parametrize("ends", ["close", "reset"])
def test_a_session_ends_in_a_step(two_servers, graph, runs, ends):
    # As in TensorFlow 1.15, whose partial runs say less.
    with tf.device(PS):
        element = tf.FIFOQueue(1, tf.float32).dequeue()
    with tf.device(WORKER):
        element = element * 2.0
    session = tf.Session(two_servers[1].target)
    found = []

    def fail():
        with pytest.raises(tf.errors.CancelledError) as caught:
            runs(session, element)
        found.append(caught.value.message)

    thread = threading.Thread(target=fail)
    thread.start()
    eventually(lambda: waits_at(two_servers[0]))
    if ends == "close":
        session.close()
    else:
        tf.Session.reset(two_servers[1].target)
    thread.join(60)
    assert found == ["Step was cancelled by an explicit call to `Session::Close()`."]
    eventually(lambda: not any(map(kept, two_servers)))


@pytest.mark.parametrize("isolated", [False, True])
def test_parts_that_the_master_forgot(two_servers, graph, monkeypatch, isolated):
    """One was evicted from its cache, of another step a task took no part."""
    config = tf.ConfigProto(isolate_session_state=isolated)
    call = Cluster.call

    def refuse(cluster, task, method, *args):
        if task.startswith("/job:worker") and method.endswith("RegisterGraph"):
            raise tf.errors.UnavailableError(None, None, "no worker")
        return call(cluster, task, method, *args)

    with tf.device(PS):
        a = tf.constant(1.0) + 1.0
    with tf.device(WORKER):
        b = a + 1.0
    with tf.Session(two_servers[1].target, config=config) as session:
        assert session.run([a, b]) == [2.0, 3.0]
        (served,) = two_servers[1]._master._sessions.values()
        served.session._parts._limit = 1
        assert session.run(a) == 2.0
        monkeypatch.setattr(Cluster, "call", refuse)
        with pytest.raises(tf.errors.UnavailableError):
            session.run(b)
        monkeypatch.setattr(Cluster, "call", call)
        assert len(two_servers[0]._worker._graphs) == 3
        # Their lines are the client's.
        parts = two_servers[0]._worker._graphs.values()
        assert not any(op.source for p in parts for op in p.graph.operations)
    eventually(lambda: not any(map(kept, two_servers)))


def test_a_step_that_is_registered_while_its_session_closes(two_servers, graph):
    with tf.Session(two_servers[1].target) as session:
        session.run(tf.constant(1.0))
        (served,) = two_servers[1]._master._sessions.values()
    eventually(lambda: not any(map(kept, two_servers)))
    elements = tuple(served.session.graph.operations)
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        served.session.parts_of(elements, ())
    assert not any(map(kept, two_servers))


@pytest.mark.parametrize("gives_up", ["before", "after"])
def test_a_client_that_gives_up_on_a_session(two_servers, monkeypatch, gives_up):
    """It waits for a task that has not started, or is late to say so."""
    ended = threading.Event()
    master = two_servers[1]._master
    make = type(master)._new_session

    def cancel():
        call.cancel()
        eventually(caller_is_gone)

    def made(*args):
        try:
            if gives_up == "before":
                monkeypatch.setattr(cluster_tasks, "_ASKS_EVERY_S", 0.01)
                absent = tf.train.ClusterSpec({"ps": free_addresses(1)})
                cluster = Cluster(absent.as_cluster_def(), "", {}, "grpc")
                cancel()
                cluster.devices_of("/job:ps/replica:0/task:0", 60.0)
            session = make(*args)
            cancel()
            sessions.append(session)
            return session
        finally:
            ended.set()

    sessions = []
    monkeypatch.setattr(type(master), "_new_session", made)
    request = protos.CreateSessionRequest().SerializeToString()
    call = channel_to(two_servers[1]).start("MasterService/CreateSession", request)
    assert ended.wait(60)
    eventually(
        lambda: all(s._closed for s in sessions) and not any(map(kept, two_servers))
    )
    assert len(sessions) == (gives_up == "after")


def test_a_reset_reaches_all_tasks_that_live(graph):
    dead, living = free_addresses(2)
    server = tf.train.Server({"a": [dead], "b": [living]}, "b")
    try:
        v = tf.Variable(1.0)
        config = tf.ConfigProto(device_filters=["/job:b"])
        with tf.Session(server.target, config=config) as session:
            session.run(v.initializer)
        with pytest.raises(tf.errors.UnavailableError):
            tf.Session.reset(server.target)
        with tf.Session(server.target, config=config) as session:
            assert not session.run(tf.is_variable_initialized(v))
    finally:
        server._stop()


class FakeCluster:
    """Records calls; a test answers them."""

    def __init__(self):
        self.called = []

    def start(self, task, method, request, arrived):
        self.called.append((task, arrived))
        return self

    def cancel(self):
        for _, arrived in self.called:
            arrived(
                None, tf.errors.CancelledError(None, None, "The call was cancelled")
            )

    def post(self, *args):
        pass


def step_of(*parts):
    cluster = FakeCluster()
    made = step_run.StepRun(cluster, [*parts], RendezvousTable(), 50, "")
    made.start({}, None)
    return made, cluster.called


def test_a_malformed_answer_ends_the_step():
    step, ((_, arrived),) = step_of(Part("a", protos.GraphDef()))
    arrived(b"\x0a\x7f\x01", None)
    with pytest.raises(tf.errors.InternalError, match="a answered RunGraph with a mal"):
        step.values(None)


def test_nothing_of_a_step_begins_after_its_end(monkeypatch):
    monkeypatch.setattr(step_run, "_ABORT_S", 0.0)
    first = Part("a", protos.GraphDef(), answered={"key": "key at b"})
    then = Part("b", protos.GraphDef(), calls=Calls.AFTER_ANSWERS)
    step, called = step_of(first, then)
    with pytest.raises(tf.errors.DeadlineExceededError):
        step.values(None)
    ((_, arrived),) = called
    arrived(b"", None)
    assert [task for task, _ in called] == ["a"]


def registered(server):
    """The handle of a part that feeds x to y, and the keys of both."""
    cpu = server._task.devices[0]
    part = protos.GraphDef()
    keys = []
    for op, name in (("_Recv", "x:0"), ("_Send", "y:0")):
        node = part.node.add(name=f"_{name[0]}", op=op, device=cpu.name)
        for key in ("send_device", "recv_device"):
            node.attr[key].s = cpu.name.encode()
        node.attr["send_device_incarnation"].i = cpu.incarnation
        node.attr["client_terminated"].b = True
        node.attr["tensor_name"].s = name.encode()
        node.attr["tensor_type" if op == "_Recv" else "T"].type = 1
        keys.append(f"{cpu.name};{cpu.incarnation:016x};{cpu.name};{name};0:0")
    part.node[1].input.append("_x")
    request = protos.RegisterGraphRequest(graph_def=part).SerializeToString()
    data = channel_to(server).call("WorkerService/RegisterGraph", request, 30)
    return protos.RegisterGraphResponse.FromString(data).graph_handle, keys


@pytest.mark.parametrize("is_partial", [False, True])
def test_a_call_that_arrives_after_its_step(two_servers, is_partial):
    handle, (x, y) = registered(two_servers[0])
    channel = channel_to(two_servers[0])
    cleanup = protos.CleanupGraphRequest(step_id=77).SerializeToString()
    channel.call("WorkerService/CleanupGraph", cleanup, 30)
    request = protos.RunGraphRequest(
        graph_handle=handle, step_id=77, recv_key=[y], is_partial=is_partial
    )
    request.send.add(name=x).tensor.CopyFrom(tf.make_tensor_proto(1.0))
    with pytest.raises(tf.errors.AbortedError, match="Cleanup 77"):
        channel.call("WorkerService/RunGraph", request.SerializeToString(), 30)
    request = protos.DeregisterGraphRequest(graph_handle=handle).SerializeToString()
    channel.call("WorkerService/DeregisterGraph", request, 30)
    assert not kept(two_servers[0])


def test_a_master_that_is_gone_in_a_step(two_servers):
    """It will not say that the step is over."""
    handle, (_, y) = registered(two_servers[0])
    request = protos.RunGraphRequest(
        graph_handle=handle, step_id=78, recv_key=[y], is_partial=True
    )
    call = channel_to(two_servers[0]).start(
        "WorkerService/RunGraph", request.SerializeToString()
    )
    worker = two_servers[0]._worker
    eventually(lambda: 78 in worker._partial_runs)
    call.cancel()
    eventually(lambda: not worker._partial_runs and not worker.steps._steps)
    request = protos.DeregisterGraphRequest(graph_handle=handle).SerializeToString()
    channel_to(two_servers[0]).call("WorkerService/DeregisterGraph", request, 30)
