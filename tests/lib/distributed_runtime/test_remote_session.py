"""Sessions on servers: in this process, over gRPC, and of real TensorFlow 1.15."""

import threading

import numpy as np
import pytest

import tfteach as tf
from tfteach.lib.distributed_runtime import service

SERVERS = ["own", "grpc", pytest.param("tensorflow", marks=pytest.mark.oracle)]


@pytest.fixture(params=SERVERS)
def target(request, own_server, monkeypatch):
    if request.param == "tensorflow":
        found = request.getfixturevalue("tensorflow_server")
    else:
        found = own_server.target.decode()
    if request.param == "grpc":  # as if the server were in another process
        monkeypatch.delitem(service._local, found.removeprefix("grpc://"))
    tf.Session.reset(found)
    return found


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_feeds_and_fetches(target, graph):
    x = tf.placeholder(tf.float32, [None], name="x")
    v = tf.Variable([1.0, 2.0])
    with tf.Session(target) as session:
        assert session.sess_str == target.encode()
        session.run(v.initializer)
        assert session.run({"sum": x + v, "op": v.op}, {x: [1, 2]}) == {
            "sum": pytest.approx([2, 4]),
            "op": None,
        }
        assert type(session.run(tf.reduce_sum(v))) is np.float32
        doubled = session.make_callable(2 * x, [x])
        assert doubled([3]).tolist() == [6]
        fetched = session.run(v)
        fetched[0] = 5  # the caller's own
        assert session.run(v).tolist() == [1, 2]


VALUES = [
    np.array([b"a", "éé".encode(), b"", b"bc"], object),
    np.zeros([0, 3]),
    np.arange(6, dtype=np.int64).reshape(2, 3)[:, ::2],
    np.array([1 + 2j], np.complex64),
    np.array([[True], [False]]),
    np.array([1.5, -0.0], np.float16),
    np.array([1.5, 3], tf.bfloat16.as_numpy_dtype),
    np.array(7, np.uint8),
    np.array(b"\0x\0", object),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{v.dtype}{v.shape}")
def test_types(target, graph, value):
    fed = tf.placeholder(tf.as_dtype(value.dtype), value.shape)
    kept = tf.constant(value)
    with tf.Session(target) as session:
        for found in session.run([tf.identity(fed), kept], {fed: value}):
            found = np.asarray(found, value.dtype)
            assert found.shape == value.shape
            assert found.tolist() == value.tolist()


def test_the_graph_may_grow(target, graph):
    with tf.Session(target) as session:
        v = tf.Variable(1.0)
        session.run(v.initializer)
        for i in range(3):
            assert session.run(v.assign_add(i)) == [1, 2, 4][i]


def test_errors_name_the_operation_and_its_line(target, graph):
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.add(x, [1.0, 2.0], name="y")
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(y)
        assert caught.value.op is x.op
        assert "You must feed a value for placeholder tensor 'x'" in str(caught.value)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(y, {x: [1, 2, 3]})
        assert caught.value.op is y.op
        assert f"[[node y (defined at {__file__}:" in caught.value.message
        v = tf.Variable(1.0)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
            session.run(v)
        assert session.run(y, {x: [1, 2]}).tolist() == [2, 4]


def test_an_absent_device(target, graph):
    with tf.device("/job:ps/task:3"):
        w = tf.constant(1.0, name="w")
    with tf.Session(target) as session:
        message = "Cannot assign a device for operation w: .* assigned to /job:ps"
        with pytest.raises(tf.errors.InvalidArgumentError, match=message) as caught:
            session.run(w)
        assert caught.value.op is w.op


def test_variables_belong_to_the_server(target, graph):
    v = tf.Variable([1.0])
    with tf.Session(target) as session:
        session.run(v.initializer)
    with tf.Session(target) as session:
        assert session.run(v.assign_add([1.0])).tolist() == [2]
    tf.Session.reset(target)
    with (
        tf.Session(target) as session,
        pytest.raises(tf.errors.FailedPreconditionError),
    ):
        session.run(v)


def test_a_reset_clears_the_containers_that_it_names(target, graph):
    """The default one has the name of the job; no name means that one only."""
    plain = tf.Variable(1.0)
    with tf.container("another"):
        other = tf.Variable(2.0)
    with tf.Session(target) as session:
        session.run([plain.initializer, other.initializer])
    for containers, stays, goes in (
        (["local"], other, plain),
        (None, other, plain),
        (["another"], None, other),
    ):
        tf.Session.reset(target, containers)
        with tf.Session(target) as session:
            assert stays is None or session.run(stays) == 2
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(goes)
            session.run(plain.initializer)


def test_a_reset_ends_sessions(target, graph):
    one = tf.constant(1)
    session = tf.Session(target)
    session.run(one)
    tf.Session.reset(target, ["no such container"])
    for call in (lambda: session.run(one), session.close):
        with pytest.raises(tf.errors.AbortedError, match=r"Session .* is not found"):
            call()
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(one)


def test_time_limits(target, graph):
    queue = tf.FIFOQueue(1, tf.float32)
    element = queue.dequeue()
    put = queue.enqueue(4.0)
    with tf.Session(target) as session:
        options = tf.RunOptions(timeout_in_ms=200)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=options)
        taken = []
        thread = threading.Thread(target=lambda: taken.append(session.run(element)))
        thread.start()
        session.run(put)
        thread.join(60)
        assert taken == [4]
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    with (
        tf.Session(target, config=config) as session,
        pytest.raises(tf.errors.DeadlineExceededError),
    ):
        session.run(element)


def test_partial_runs(target, graph):
    a = tf.placeholder(tf.float32, [])
    b = tf.placeholder(tf.float32, [])
    total, product = a + b, a * b
    with tf.Session(target) as session:
        handle = session.partial_run_setup([total, product], [a, b])
        assert session.partial_run(handle, total, {a: 2, b: 5}) == 7
        assert session.partial_run(handle, product) == 10
        with pytest.raises(tf.errors.InvalidArgumentError, match="before performing"):
            session.partial_run(handle, product)


def test_devices_and_metadata(target, graph):
    total = tf.constant(1.0) + tf.placeholder_with_default(2.0, [])
    with tf.Session(target) as session:
        cpu = "/job:local/replica:0/task:0/device:CPU:0"
        assert session.list_devices()[0].name == cpu
        options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
        metadata = tf.RunMetadata()
        assert session.run(total, options=options, run_metadata=metadata) == 3
        assert cpu in [stats.device for stats in metadata.step_stats.dev_stats]
        assert len(metadata.partition_graphs) == 1


def test_absent_servers(graph):
    one = tf.constant(1)
    config = tf.ConfigProto(operation_timeout_in_ms=300)
    with (
        tf.Session("grpc://localhost:1", config=config) as session,
        pytest.raises(tf.errors.DeadlineExceededError, match="Deadline Exceeded"),
    ):
        session.run(one)
    for address in ("localhost", "", "a:b"):
        with (
            tf.Session(f"grpc://{address}") as session,
            pytest.raises(tf.errors.InvalidArgumentError, match=f'"{address}" as a ho'),
        ):
            session.run(one)
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session("foo://localhost:1")
