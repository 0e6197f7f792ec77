"""MakeCallable, RunCallable and ReleaseCallable, as clients of TensorFlow call them."""

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework import protos
from tfteach.lib.distributed_runtime import service


class Client:
    """A session of a server, used by its messages."""

    def __init__(self, server, graph):
        address = server.target.decode().removeprefix("grpc://")
        self.server = service.connect(address, by_rpc=True)
        created = self("CreateSession", graph_def=graph.as_graph_def())
        self.handle = created.session_handle

    def __call__(self, method, **fields):
        request = getattr(protos, f"{method}Request")(**fields)
        data = request.SerializeToString()
        answer = self.server.call(f"MasterService/{method}", data, 60)
        return getattr(protos, f"{method}Response").FromString(answer)

    def make(self, **options):
        options = protos.CallableOptions(**options)
        made = self("MakeCallable", session_handle=self.handle, options=options)
        return made.handle

    def run(self, handle, *feeds):
        feeds = [tf.make_tensor_proto(feed) for feed in feeds]
        return self(
            "RunCallable", session_handle=self.handle, handle=handle, feed=feeds
        )


@pytest.fixture
def client(own_server):
    tf.Session.reset(own_server.target, [""])
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
        tf.add(x, v, name="y")
        tf.strings.join(["a", "b"], name="text")
        made = Client(own_server, graph)
    made.run(made.make(target=["v/Assign"]))
    yield made
    made("CloseSession", session_handle=made.handle)


def test_feeds_and_fetches(client):
    handle = client.make(feed=["x:0"], fetch=["y:0", "text:0", "y:0"])
    for feed in ([1, 1], [2, 3]):
        found = client.run(handle, np.array(feed, np.float32)).fetch
        y, text, again = (tf.make_ndarray(tensor) for tensor in found)
        assert y.tolist() == again.tolist() == [feed[0] + 1, feed[1] + 2]
        assert text.tolist() == b"ab"


def test_metadata(client):
    options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
    handle = client.make(fetch=["v:0"], run_options=options)
    metadata = client.run(handle).metadata
    assert len(metadata.partition_graphs) == 1
    traced = {stats.device for stats in metadata.step_stats.dev_stats}
    assert "/job:local/replica:0/task:0/device:CPU:0" in traced


def test_it_outlives_extensions_of_the_graph(client):
    handle = client.make(fetch=["v:0"])
    with tf.Graph().as_default() as graph:
        tf.constant([5.0], name="more")
    client(
        "ExtendSession",
        session_handle=client.handle,
        graph_def=graph.as_graph_def(),
        current_graph_version=1,
    )
    more = client.make(fetch=["more:0"])
    assert tf.make_ndarray(client.run(more).fetch[0]).tolist() == [5]
    assert tf.make_ndarray(client.run(handle).fetch[0]).tolist() == [1, 2]


def test_errors(client):
    handle = client.make(feed=["x:0"], fetch=["y:0"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 1 feed tensors"):
        client.run(handle)
    with pytest.raises(tf.errors.NotFoundError, match="absent"):
        client.make(fetch=["absent:0"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="fed more than once"):
        client.make(feed=["x:0", "x:0"], fetch=["y:0"])
    unfed = client.make(fetch=["y:0"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for"):
        client.run(unfed)
    client("ReleaseCallable", session_handle=client.handle, handle=handle)
    for call in (
        lambda: client.run(handle, [1.0, 1.0]),
        lambda: client("ReleaseCallable", session_handle=client.handle, handle=handle),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="No such callable"):
            call()
    with pytest.raises(tf.errors.AbortedError, match="is not found"):
        client("RunCallable", session_handle="other", handle=unfed)
