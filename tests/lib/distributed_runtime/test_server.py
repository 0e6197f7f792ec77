"""`tf.train.Server`: its arguments, and clients of real TensorFlow 1.15."""

import grpc
import pytest
from google.protobuf import text_format

import tfteach as tf
from tests.ops.case import import_families
from tfteach.framework import protos, threads
from tfteach.framework.op import OPS
from tfteach.framework.protos.wire_format import chunk
from tfteach.lib.distributed_runtime import remote_code, service
from tfteach.lib.distributed_runtime.channel import shared_channel
from tfteach.lib.distributed_runtime.rendezvous import Key
from tfteach.lib.distributed_runtime.run_messages import RunStepRequest

CLIENT = (
    """
import sys
import numpy as np
import tensorflow as tf
tf.logging.set_verbosity("ERROR")
x = tf.placeholder(tf.float32, [None, 2])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
data = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
feeds = {x: data, y: data.dot([[2], [-1]])}
with tf.Session(sys.argv[1]) as session:
    session.run(tf.global_variables_initializer())
    for _ in range(5):
        session.run(train, feeds)
    print(session.run([w, loss], feeds))
    step = session.make_callable(w[0])
    print(step())
    handle = session.partial_run_setup([x + 1, y + 1], [x, y])
    print(session.partial_run(handle, x + 1, {x: [[1, 2]]}))
    options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    session.run(loss, feeds, options, metadata)
    print([stats.device for stats in metadata.step_stats.dev_stats])
    print([(device.name, device.device_type) for device in session.list_devices()])
    try:
        session.run(loss, {y: feeds[y]})
    except tf.errors.InvalidArgumentError as error:
        print(error.op is x.op, error.message.partition(" [")[0])
    print(session.run(tf.strings.join([["a"], [b"\\xff"]])))
""".replace("x + 1", "x1")
    .replace("y + 1", "y1")
    .replace("train =", "x1, y1 = x + 1, y + 1\ntrain =")
)


@pytest.mark.oracle
def test_a_client_of_tensorflow(tensorflow, own_server):
    """TensorFlow 1.15 trains on a server of ours, with the values of its own."""
    done = tensorflow.ended(CLIENT, own_server.target.decode())
    assert done.output == EXPECTED, done.errors


# As real TensorFlow 1.15 printed it for a server of its own, without its XLA device.
EXPECTED = """\
[array([[ 1.909065  ],
       [-0.32864493]], dtype=float32), 0.2652914]
[1.909065]
[[2. 3.]]
['/host:CPU', '/job:local/replica:0/task:0/device:CPU:0']
[('/job:local/replica:0/task:0/device:CPU:0', 'CPU')]
True From /job:local/replica:0/task:0:
You must feed a value for placeholder tensor 'Placeholder' with dtype float and shape
[b'a\\xff']
"""


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"server_or_cluster_def": 3}, TypeError, "^Could not convert `server_or_cl"),
        (
            {"server_or_cluster_def": {"a": ["b:0"], "c": ["d:0"]}},
            ValueError,
            r"^Must specify an explicit `job_name`\.$",
        ),
        (
            {"server_or_cluster_def": {"a": ["b:0", "c:0"]}},
            ValueError,
            r"^Must specify an explicit `task_index`\.$",
        ),
        (
            {"server_or_cluster_def": {"a": ["localhost:0"]}, "protocol": "carrier"},
            tf.errors.NotFoundError,
            "^No server factory registered for the given ServerDef: ",
        ),
        (
            {"server_or_cluster_def": {"a": ["localhost:0"]}, "job_name": "b"},
            ValueError,
            "^No such job in cluster: 'b'$",
        ),
        (
            {"server_or_cluster_def": {"a": ["localhost:0"]}, "task_index": 1},
            tf.errors.InvalidArgumentError,
            '^Task 1 was not defined in job "a"$',
        ),
        (
            {"server_or_cluster_def": {"a": ["localhost"]}},
            tf.errors.InvalidArgumentError,
            '^Could not parse port for local server from "localhost"',
        ),
    ],
)
def test_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        tf.train.Server(**arguments)


def test_server_def():
    config = tf.ConfigProto(device_count={"CPU": 2})
    server = tf.train.Server(
        {"ps": ["localhost:0"], "worker": {3: "localhost:0"}},
        "worker",
        config=config,
        start=False,
    )
    assert server.server_def == protos.ServerDef(
        cluster=tf.train.ClusterSpec(
            {"ps": ["localhost:0"], "worker": {3: "localhost:0"}}
        ).as_cluster_def(),
        job_name="worker",
        task_index=3,
        protocol="grpc",
        default_session_config=config,
    )
    assert server.target.startswith(b"grpc://localhost:")
    server._stop()


def test_a_taken_port(own_server):
    port = own_server.target.rpartition(b":")[2].decode()
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"a": [f"localhost:{port}"]})


def test_variables_are_isolated_on_request(own_server):
    with tf.Graph().as_default():
        v = tf.Variable(1.0, name="isolated")
        config = tf.ConfigProto(isolate_session_state=True)
        with (
            tf.Session(own_server.target, config=config) as one,
            tf.Session(own_server.target, config=config) as other,
        ):
            one.run(v.initializer)
            with pytest.raises(tf.errors.FailedPreconditionError):
                other.run(v)


def test_random_numbers_are_those_of_each_session(own_server):
    with tf.Graph().as_default():
        drawn = tf.random_uniform([2], seed=5, name="drawn")
        with tf.Session() as session:
            expected = session.run([drawn, drawn])[0].tolist()
        for _ in range(2):
            with tf.Session(own_server.target) as session:
                assert session.run(drawn).tolist() == expected


def address_of(server):
    return server.target.decode().removeprefix("grpc://")


MALFORMED = {
    "truncated": b"\x0a\xff\xff\xff",
    "of an unknown wire type": b"\x0b",
    "a number instead of a name": b"\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
    "a number instead of a tensor": b"\x12\x02\x10\x01",
    "no text": b"\x0a\x01\xff",
}


@pytest.mark.parametrize("request_", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("method", ["MasterService/RunStep", "WorkerService/RunGraph"])
def test_malformed_steps(own_server, method, request_):
    channel = shared_channel(address_of(own_server))
    if method == "WorkerService/RunGraph":  # its tensors have another number
        request_ = request_.replace(b"\x12\x02", b"\x1a\x02")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Run"):
        channel.call(method, request_, 30)


@pytest.mark.parametrize(
    ("method", "numbers"),
    [
        ("MasterService/RunStep", (1, 2, 3, 4, 5, 6)),
        ("WorkerService/RunGraph", (1, 3, 4, 5)),
    ],
)
def test_numbers_instead_of_texts_and_messages(own_server, method, numbers):
    """A number is not taken for the size of a text, which may be a huge one."""
    channel = shared_channel(address_of(own_server))
    for number in numbers:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Run"):
            channel.call(method, bytes([number << 3, 5]), 30)


@pytest.mark.parametrize("method", ["CreateSession", "Reset"])
def test_malformed_messages(own_server, method):
    channel = shared_channel(address_of(own_server))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{method}: "):
        channel.call(f"MasterService/{method}", b"\x0a\xff\xff\xff", 30)


def test_an_extension_of_another_version_is_refused(own_server):
    channel = shared_channel(address_of(own_server))
    data = channel.call("MasterService/CreateSession", b"", 30)
    handle = protos.CreateSessionResponse.FromString(data).session_handle
    request = protos.ExtendSessionRequest(
        session_handle=handle, current_graph_version=7
    )
    with pytest.raises(tf.errors.AbortedError, match="version is 0 but caller expec"):
        channel.call("MasterService/ExtendSession", request.SerializeToString(), 30)


def test_malformed_tensors():
    name = chunk(b"\x0a", b"x:0")
    for tensor in (
        b"\x08\x07\x22\x02\x05a",  # strings whose lengths are not those of the bytes
        b"\x08\x01\x22\x03abc",  # no whole float
        b"\x22\x04abcd",  # no type
        b"\x08\x01\x12\x7f",  # a shape longer than its message
    ):
        feed = chunk(b"\x12", name + chunk(b"\x12", tensor))
        with pytest.raises((ValueError, TypeError)):
            RunStepRequest.decode(feed)


@pytest.mark.parametrize(("kind", "op"), [("", "Identity"), ("Host", "Snapshot")])
def test_a_master_of_tensorflow_registers_a_part(own_server, kind, op):
    """What it writes for the feed and the fetch of an Identity."""
    cpu = own_server._task.devices[0]
    border = (
        f'attr {{ key: "send_device" value {{ s: "{cpu.name}" }} }} '
        f'attr {{ key: "recv_device" value {{ s: "{cpu.name}" }} }} '
        'attr { key: "send_device_incarnation" value { i: %d } } '
        'attr { key: "client_terminated" value { b: true } } '
        'attr { key: "tensor_name" value { s: "%s" } } '
    )
    graph = protos.GraphDef()
    text_format.Parse(
        f'node {{ name: "_recv_x_0" op: "_{kind}Recv" device: "{cpu.name}" '
        f"{border % (cpu.incarnation, 'x:0')}"
        'attr { key: "tensor_type" value { type: DT_FLOAT } } } '
        f'node {{ name: "y" op: "{op}" input: "_recv_x_0" device: "{cpu.name}" '
        'attr { key: "T" value { type: DT_FLOAT } } } '
        f'node {{ name: "_send_y_0" op: "_{kind}Send" input: "y" '
        f"{border % (cpu.incarnation, 'y:0')}"
        'attr { key: "T" value { type: DT_FLOAT } } }',
        graph,
    )
    channel = shared_channel(address_of(own_server))

    def call(method, request):
        return channel.call(f"WorkerService/{method}", request.SerializeToString(), 60)

    answer = call("RegisterGraph", protos.RegisterGraphRequest(graph_def=graph))
    handle = protos.RegisterGraphResponse.FromString(answer).graph_handle
    keys = [Key(cpu.name, cpu.incarnation, cpu.name, n).text for n in ("x:0", "y:0")]
    request = protos.RunGraphRequest(graph_handle=handle, step_id=9, recv_key=keys[1:])
    fed = request.send.add(name=keys[0])
    fed.tensor.CopyFrom(tf.make_tensor_proto([1.5, 2.5]))
    found = protos.RunGraphResponse.FromString(call("RunGraph", request)).recv
    assert [part.name for part in found] == keys[1:]
    assert tf.make_ndarray(found[0].tensor).tolist() == [1.5, 2.5]
    call("DeregisterGraph", protos.DeregisterGraphRequest(graph_handle=handle))
    words = "Graph handle is not found: .*task:0 has restarted.* make a new session"
    with pytest.raises(tf.errors.AbortedError, match=words):
        call("RunGraph", request)


def test_unknown_methods(own_server):
    channel = shared_channel(address_of(own_server))
    with pytest.raises(tf.errors.UnimplementedError):
        channel.call("MasterService/NoSuchMethod", b"", 30)


@pytest.mark.parametrize(
    ("peer", "allowed", "is_refused"),
    [
        ("", "", False),
        ("ipv4:127.0.0.1:40000", "", False),
        ("ipv6:%5B::1%5D:40000", "", False),
        ("ipv4:10.0.0.2:40000", "", True),
        ("ipv4:10.0.0.2:40000", "files", True),
        ("ipv4:10.0.0.2:40000", "files,py_func", False),
    ],
)
def test_what_clients_of_other_machines_may_run(monkeypatch, peer, allowed, is_refused):
    monkeypatch.setenv(remote_code.VARIABLE, allowed)
    with tf.Graph().as_default() as graph:
        tf.io.read_file("x", name="read")
        tf.py_func(lambda: 1.0, [], tf.float32, name="called")
    call = service.Call(b"", peer)
    if is_refused:
        with pytest.raises(tf.errors.PermissionDeniedError, match="another machine"):
            remote_code.check_graph(graph.as_graph_def(), call)
    else:
        remote_code.check_graph(graph.as_graph_def(), call)


def test_ops_that_use_files():
    """Complete: an op that is missing here would open files to other machines."""
    import_families()
    found = {name.removesuffix("V2") for name, op in OPS.items() if op.uses_files}
    readers = "FixedLengthRecord Identity TFRecord TextLine WholeFile".split()
    reads = "Read ReadUpTo NumRecordsProduced NumWorkUnitsCompleted SerializeState "
    reads += "RestoreState Reset"
    summaries = "Summary ScalarSummary HistogramSummary ImageSummary AudioSummary "
    summaries += "GraphSummary RawProtoSummary"
    assert found == {
        *(f"{name}Reader" for name in (*readers, "LMDB")),
        *(f"Reader{name}" for name in reads.split()),
        *(f"Write{name}" for name in summaries.split()),
        *"CreateSummaryFileWriter CreateSummaryDbWriter ImportEvent".split(),
        *"FlushSummaryWriter CloseSummaryWriter Print".split(),
        *"ReadFile WriteFile MatchingFiles RecordInput".split(),
        *"Save SaveSlices Restore RestoreSlice MergeV2Checkpoints".split(),
        *"TextLineDataset TFRecordDataset FixedLengthRecordDataset CSVDataset".split(),
        *"SqlDataset CacheDataset MatchingFilesDataset DatasetToTFRecord".split(),
        *"InitializeTableFromTextFile GenerateVocabRemapping".split(),
        "LoadAndRemapMatrix",
    }


def test_a_session_learns_that_its_server_is_gone():
    server = tf.train.Server.create_local_server()
    service.remove_local(address_of(server))
    with tf.Graph().as_default():
        one = tf.constant(1)
        session = tf.Session(server.target)
        assert session.run(one) == 1
        server._stop()
        with pytest.raises(tf.errors.UnavailableError):
            session.run(one)
        with pytest.raises(tf.errors.UnavailableError):
            session.close()
    assert grpc.StatusCode.UNAVAILABLE.value[0] == tf.errors.UNAVAILABLE


@pytest.mark.parametrize(
    ("hosts", "limits"),
    [
        (["localhost", "127.0.0.1"], [1, None]),
        (["localhost"], []),
        (["localhost", "192.0.2.1"], []),  # an address for documentation
    ],
)
def test_tasks_of_one_machine_leave_each_other_the_cores(monkeypatch, hosts, limits):
    """BLAS has one thread while another task of the cluster has the same host."""
    seen = []
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    monkeypatch.setattr(threads, "_users", 0)
    monkeypatch.setattr(threads, "_set_blas_threads", seen.append)
    cluster = {"worker": [f"{host}:0" for host in hosts]}
    server = tf.train.Server(cluster, "worker", 0)
    server._stop()
    server._stop()
    assert seen == limits
