"""What a server refuses, and that it goes on: with the classes of TensorFlow 1.15."""

import numpy as np
import pytest

import tfteach as tf
import tfteach.lib.distributed_runtime as distributed
from tfteach.framework import protos
from tfteach.framework.errors import exception_type_from_error_code
from tfteach.framework.protos.wire_format import chunk
from tfteach.lib.distributed_runtime.channel import Channel, shared_channel

OWN = "/job:local/replica:0/task:0"
FLOAT, INT32, RESOURCE = 1, 3, 20
METHODS = {
    "MasterService": """CreateSession ExtendSession RunStep PartialRunSetup CloseSession
        ListDevices Reset MakeCallable RunCallable ReleaseCallable""",
    "WorkerService": """GetStatus CreateWorkerSession DeleteWorkerSession RegisterGraph
        DeregisterGraph RunGraph CleanupGraph CleanupAll RecvTensor Logging""",
}
EVERY = [f"{s}/{name}" for s, names in METHODS.items() for name in names.split()]


@pytest.fixture(scope="module")
def channel(own_server):
    return shared_channel(own_server.target.decode().partition("//")[2])


@pytest.fixture(scope="module")
def session(channel):
    """The handle of a session with x, a float placeholder, and y, which is x."""
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, name="x"), name="y")
    request = protos.CreateSessionRequest(graph_def=graph.as_graph_def())
    data = channel.call("MasterService/CreateSession", request.SerializeToString(), 30)
    return protos.CreateSessionResponse.FromString(data).session_handle


@pytest.fixture(autouse=True)
def lives_on(channel, session):
    """The server answers as before when a test is over."""
    yield
    request = protos.RunStepRequest(session_handle=session, fetch=["y:0"])
    request.feed.add(name="x:0").tensor.CopyFrom(tensor(floats=[2.0]))
    data = channel.call("MasterService/RunStep", request.SerializeToString(), 30)
    assert protos.RunStepResponse.FromString(data).tensor[0].name == "y:0"


def tensor(dtype=FLOAT, shape=(), content=b"", floats=(), ints=()):
    made = protos.TensorProto(dtype=dtype, tensor_content=content)
    for size in shape:
        made.tensor_shape.dim.add(size=size)
    made.float_val.extend(floats)
    made.int_val.extend(ints)
    return made


def refusal(channel, method, request):
    """The class and the message of the error that a method answers."""
    if not isinstance(request, bytes):
        request = request.SerializeToString()
    with pytest.raises(tf.errors.OpError) as caught:
        channel.call(method, request, 30)
    return exception_type_from_error_code(caught.value.error_code), caught.value.message


@pytest.mark.parametrize("method", EVERY)
def test_truncated_messages(channel, method):
    kind, message = refusal(channel, method, b"\x0a\x7f\x01")
    assert kind is tf.errors.InvalidArgumentError
    assert method.partition("/")[2] in message


TENSORS = {
    "too short": tensor(shape=[3], content=b"1234"),
    "too long": tensor(shape=[1], content=b"12345678"),
    "no whole float": tensor(shape=[1], content=b"12345"),
    "a negative dimension": tensor(shape=[-1], floats=[1.0]),
    "a negative dimension of bytes": tensor(shape=[-1], content=b"1234"),
    "two negative dimensions": tensor(shape=[-2, -3], content=b"x" * 24),
    "no type": tensor(dtype=0, shape=[1], floats=[1.0]),
    "an unknown type": tensor(dtype=99, shape=[1], content=b"1234"),
    "a reference": tensor(dtype=101, shape=[1], floats=[1.0]),
    "too many elements": tensor(shape=[1 << 40, 1 << 40], floats=[1.0]),
    "too many bytes": tensor(shape=[1 << 40, 1 << 40], content=b"1234"),
}


@pytest.mark.parametrize("fed", TENSORS.values(), ids=TENSORS)
def test_malformed_tensors(channel, session, fed):
    step = protos.RunStepRequest(session_handle=session, fetch=["y:0"])
    step.feed.add(name="x:0").tensor.CopyFrom(fed)
    part = protos.RunGraphRequest(graph_handle="none")
    part.send.add(name="x").tensor.CopyFrom(fed)
    made = protos.MakeCallableRequest(session_handle=session)
    made.options.feed.append("x:0")
    made.options.fetch.append("y:0")
    data = channel.call("MasterService/MakeCallable", made.SerializeToString(), 30)
    handle = protos.MakeCallableResponse.FromString(data).handle
    call = protos.RunCallableRequest(session_handle=session, handle=handle, feed=[fed])
    for method, request in (
        ("MasterService/RunStep", step),
        ("WorkerService/RunGraph", part),
        ("MasterService/RunCallable", call),
    ):
        kind, message = refusal(channel, method, request)
        assert kind is tf.errors.InvalidArgumentError
        assert "Invalid TensorProto for feed value 0" in message


def test_a_tensor_of_another_type(channel, session):
    request = protos.RunStepRequest(session_handle=session, fetch=["y:0"])
    fed = tensor(dtype=INT32, shape=[2], ints=[1, 2])
    request.feed.add(name="x:0").tensor.CopyFrom(fed)
    assert refusal(channel, "MasterService/RunStep", request) == (
        tf.errors.InternalError,
        f"From {OWN}:\nOutput 0 of type int32 does not match declared output type "
        "float32 for node {{node x}}",
    )


LOST = "Session nope is not found."
RESTARTED = " Possibly, this master has restarted."
NO_GRAPH = "Graph handle is not found: nope."
NO_SESSION = f'Session handle is not found: nope. Possibly this worker ("{OWN}") just'
HANDLES = {
    "MasterService/ExtendSession": (tf.errors.AbortedError, LOST),
    "MasterService/RunStep": (tf.errors.AbortedError, LOST),
    "MasterService/PartialRunSetup": (tf.errors.AbortedError, LOST),
    "MasterService/CloseSession": (tf.errors.AbortedError, LOST + RESTARTED),
    "MasterService/ListDevices": (tf.errors.InvalidArgumentError, LOST + RESTARTED),
    "MasterService/MakeCallable": (tf.errors.AbortedError, LOST),
    "MasterService/RunCallable": (tf.errors.AbortedError, LOST),
    "MasterService/ReleaseCallable": (tf.errors.AbortedError, LOST),
    "WorkerService/DeregisterGraph": (tf.errors.AbortedError, NO_GRAPH),
    "WorkerService/RunGraph": (tf.errors.AbortedError, NO_GRAPH),
}


@pytest.mark.parametrize(("method", "expected"), HANDLES.items())
def test_unknown_handles(channel, method, expected):
    # Of sessions that were closed, too: the server forgets them.
    kind, message = refusal(channel, method, chunk(b"\x0a", b"nope"))
    assert (kind, message[: len(expected[1])]) == expected


def test_a_session_of_a_worker_that_restarted(channel):
    request = protos.RegisterGraphRequest(
        session_handle="nope", create_worker_session_called=True
    )
    kind, message = refusal(channel, "WorkerService/RegisterGraph", request)
    assert kind is tf.errors.AbortedError
    assert message.startswith(NO_SESSION)


def test_a_worker_session_that_is_not_isolated(channel, own_server):
    # TensorFlow's masters create one for each of their sessions.
    named = {"session_handle": "plain"}
    part = protos.RegisterGraphRequest(**named, create_worker_session_called=True)
    create = protos.CreateWorkerSessionRequest(**named).SerializeToString()
    delete = protos.DeleteWorkerSessionRequest(**named).SerializeToString()
    with tf.Graph().as_default(), tf.Session(own_server.target) as session:
        shared = tf.Variable(3.0, name="outlives_worker_sessions")
        session.run(shared.initializer)
        channel.call("WorkerService/CreateWorkerSession", create, 30)
        channel.call("WorkerService/RegisterGraph", part.SerializeToString(), 30)
        channel.call("WorkerService/DeleteWorkerSession", delete, 30)
        assert session.run(shared) == 3.0
    kind, _ = refusal(channel, "WorkerService/RegisterGraph", part)
    assert kind is tf.errors.AbortedError


NAMES = {
    "feed": (
        {"feed": [protos.NamedTensorProto(name="zz:0", tensor=tensor(floats=[1.0]))]},
        "FeedInputs: unable to find feed output zz:0",
    ),
    "fetch": ({"fetch": ["zz:0"]}, "FetchOutputs node zz:0: not found"),
    "target": (
        {"target": ["zz"]},
        "PruneForTargets: Some target nodes not found: zz",
    ),
}


@pytest.mark.parametrize(("fields", "message"), NAMES.values(), ids=NAMES)
def test_unknown_names(channel, session, fields, message):
    request = protos.RunStepRequest(session_handle=session, **fields)
    found = refusal(channel, "MasterService/RunStep", request)
    assert found == (tf.errors.NotFoundError, message)


@pytest.mark.parametrize(
    "key", ["", "a;b;c", f"{OWN}/device:CPU:0;zz;{OWN}/device:CPU:0;x;0:0", "a;1;b;c;d"]
)
def test_malformed_rendezvous_keys(channel, key):
    request = protos.RecvTensorRequest(step_id=1, rendezvous_key=key)
    kind, _ = refusal(channel, "WorkerService/RecvTensor", request)
    assert kind is tf.errors.InvalidArgumentError


# ---- sizes


@pytest.fixture
def limited():
    yield distributed.limit_messages
    distributed.limit_messages(None)


def test_a_server_refuses_what_is_larger_than_its_owner_allows(limited):
    limited(1000)
    server = tf.train.Server.create_local_server()
    limited(None)
    try:
        own = shared_channel(server.target.decode().partition("//")[2])
        request = protos.ResetRequest(container=["x" * 2000])
        kind, message = refusal(own, "MasterService/Reset", request)
        assert kind is tf.errors.ResourceExhaustedError
        assert "1000" in message
        assert "tfteach.distributed.limit_messages" in message
        assert own.call("MasterService/Reset", b"", 30) == b""
    finally:
        server._stop()


def test_a_client_refuses_large_answers(own_server, session, limited):
    limited(1000)
    own = Channel(own_server.target.decode().partition("//")[2])
    request = protos.RunStepRequest(session_handle=session, fetch=["y:0"])
    fed = tf.make_tensor_proto(np.zeros(1000, np.float32))
    request.feed.add(name="x:0").tensor.CopyFrom(fed)
    kind, _ = refusal(own, "MasterService/RunStep", request)
    own.close()
    assert kind is tf.errors.ResourceExhaustedError


@pytest.mark.parametrize("text", ["0", "-1", "1e6", "many"])
def test_invalid_limits(monkeypatch, text):
    monkeypatch.setenv("TFTEACH_MAX_MESSAGE_BYTES", text)
    with pytest.raises(tf.errors.InvalidArgumentError, match="TFTEACH_MAX_MESSAGE"):
        tf.train.Server.create_local_server()
    with pytest.raises(tf.errors.InvalidArgumentError, match="limit_messages"):
        distributed.limit_messages(0)
