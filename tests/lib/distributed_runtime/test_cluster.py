"""Steps of several tasks: their servers run in this process, and talk by gRPC."""

import threading

import numpy as np
import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import free_addresses
from tfteach.framework import protos
from tfteach.lib.distributed_runtime import cluster as cluster_tasks
from tfteach.lib.distributed_runtime import service, step_run
from tfteach.lib.distributed_runtime.channel import shared_channel
from tfteach.lib.distributed_runtime.rendezvous import Key

pytestmark = pytest.mark.usefixtures("by_grpc")


@pytest.fixture(scope="module")
def cluster():
    ps, *workers = free_addresses(3)
    return tf.train.ClusterSpec({"ps": [ps], "worker": workers})


@pytest.fixture(scope="module")
def servers(cluster):
    """The servers of ps:0, worker:0 and worker:1."""
    tasks = (("ps", 0), ("worker", 0), ("worker", 1))
    made = [tf.train.Server(cluster, job, index) for job, index in tasks]
    yield made
    for server in made:
        server._stop()


@pytest.fixture
def target(servers):
    for server in servers:
        tf.Session.reset(server.target, [""])
    return servers[1].target


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


FEATURES = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
LABELS = FEATURES @ np.array([[2], [-1]], np.float32)
PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


def linear_regression(cluster):
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        step = tf.train.get_or_create_global_step()
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step)
        init = tf.global_variables_initializer()
    return {x: FEATURES, y: LABELS}, (w, loss, step), train, init


def test_training_with_variables_on_a_parameter_server(cluster, target, graph):
    feeds, fetches, train, init = linear_regression(cluster)
    with tf.Session(target) as session:
        session.run(init)
        for _ in range(5):
            session.run(train, feeds)
        w, loss, step = session.run(fetches, feeds)
    # As real TensorFlow 1.15 computed them in one task.
    assert w.tolist() == [[pytest.approx(1.909065)], [pytest.approx(-0.32864493)]]
    assert loss == pytest.approx(0.2652914)
    assert step == 5


def test_workers_share_the_variables(cluster, servers, target, graph):
    feeds, (_, _, step), train, init = linear_regression(cluster)
    with (
        tf.Session(servers[1].target) as first,
        tf.Session(servers[2].target) as second,
    ):
        first.run(init)
        for session in (first, second, first):
            session.run(train, feeds)
        assert second.run(step) == 3


def test_tasks_of_one_process_exchange_no_messages(cluster, target, graph, monkeypatch):
    monkeypatch.setattr(cluster_tasks, "local_methods", service.local_methods)
    monkeypatch.setattr(cluster_tasks, "shared_channel", None)
    feeds, fetches, train, init = linear_regression(cluster)
    with tf.Session(target) as session:
        session.run(init)
        for _ in range(5):
            session.run(train, feeds)
        w, loss, step = session.run(fetches, feeds)
    assert w.tolist() == [[pytest.approx(1.909065)], [pytest.approx(-0.32864493)]]
    assert type(loss) is np.float32
    assert step == 5


def test_every_task_runs_its_part(cluster, target, graph):
    feeds, (_, loss, _), train, init = linear_regression(cluster)
    with tf.Session(target) as session:
        session.run(init)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
        session.run([train, loss], feeds, options, metadata)
        names = [device.name for device in session.list_devices()]
    replica = "/replica:0/task:0/device:CPU:0"
    assert {names[0], *names[1:]} == {
        f"/job:ps{replica}",
        f"/job:worker{replica}",
        "/job:worker/replica:0/task:1/device:CPU:0",
    }
    assert names[0] == f"/job:worker{replica}"
    ran = {
        stats.device: {node.node_name for node in stats.node_stats}
        for stats in metadata.step_stats.dev_stats
        if stats.device.startswith("/job")
    }
    assert ran.keys() == {f"/job:ps{replica}", f"/job:worker{replica}"}
    assert "Momentum/update_w/ApplyMomentum" in ran[f"/job:ps{replica}"]
    assert "MatMul" in ran[f"/job:worker{replica}"]
    assert len(metadata.partition_graphs) == 2


def test_values_of_every_kind_go_from_task_to_task(target, graph):
    values = [
        np.array([b"a", "é".encode(), b""], object),
        np.array(b"x", object),
        np.array(3, np.int32),
        np.array([True, False]),
        np.zeros([0, 3], np.float64),
        np.array([1 + 2j], np.complex64),
    ]
    with tf.device(PS):
        sources = [tf.placeholder(tf.as_dtype(v.dtype), v.shape) for v in values]
        sources = [tf.stack([source, source]) for source in sources]
    with tf.device(WORKER):
        found = [tf.identity(source[0]) for source in sources]
    fed = {source.op.inputs[0]: v for source, v in zip(sources, values, strict=True)}
    with tf.Session(target) as session:
        for value, given in zip(session.run(found, fed), values, strict=True):
            assert np.asarray(value, given.dtype).tolist() == given.tolist()


def test_tensors_go_back_and_forth(target, graph):
    value = tf.constant(1.0)
    for i in range(6):
        with tf.device((PS, WORKER)[i % 2]):
            value = value * 2.0
    with tf.Session(target) as session:
        assert session.run(value) == 64


def test_what_is_fed_and_fetched_is_a_copy(target, graph):
    x = tf.placeholder(tf.float32, [2])
    with tf.device(PS):
        doubled = x * 2.0
    fed = np.ones(2, np.float32)
    with tf.Session(target) as session:
        found, _ = session.run([x, doubled], {x: fed})
    found[0] = 5
    assert fed.tolist() == [1, 1]


def test_control_dependencies_cross_tasks(target, graph):
    with tf.device(PS):
        v = tf.Variable(1.0)
        added = v.assign_add(1.0)
    with tf.device(WORKER), tf.control_dependencies([added]):
        done = tf.constant(5.0) + 1.0
    with tf.device(PS), tf.control_dependencies([done]):
        read = v.read_value() if hasattr(v, "read_value") else tf.identity(v)
    with tf.Session(target) as session:
        session.run(v.initializer)
        assert session.run([done, read]) == [6, 2]


def test_a_failure_in_one_task_ends_the_step_in_all(target, graph):
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], name="v")
        x = tf.placeholder(tf.float32, [None], name="x")
        bad = tf.add(v, x, name="bad")
    with tf.device(WORKER):
        after = tf.identity(bad)
    with tf.Session(target) as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(after, {x: [1, 2, 3]})
        assert caught.value.op is bad.op
        assert caught.value.message.startswith("From /job:ps/replica:0/task:0:\n")
        assert session.run(after, {x: [1, 2]}).tolist() == [2, 4]


@pytest.mark.parametrize("cause_first", [True, False])
def test_the_error_of_a_step_is_its_cause(cause_first):
    cause = tf.errors.OutOfRangeError(None, None, "End of sequence")
    follows = tf.errors.OutOfRangeError(None, None, "From x:\n[_Derived_]End")
    first, second = (cause, follows) if cause_first else (follows, cause)
    assert step_run.is_worse(first, None)
    assert step_run.is_worse(second, first) is not cause_first


def test_time_limits(target, graph):
    with tf.device(PS):
        element = tf.FIFOQueue(1, tf.float32, shared_name="limited").dequeue()
    with tf.device(WORKER):
        doubled = element * 2.0
    with tf.Session(target) as session:
        options = tf.RunOptions(timeout_in_ms=300)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(doubled, options=options)


def test_queues_are_shared_between_workers(servers, target, graph):
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, [[]], shared_name="tokens")
        put, element = queue.enqueue(7.0), queue.dequeue()
    with tf.device("/job:worker/task:1"):
        doubled = element * 2.0
    taken = []
    with tf.Session(target) as first, tf.Session(servers[2].target) as second:
        thread = threading.Thread(target=lambda: taken.append(second.run(doubled)))
        thread.start()
        first.run(put)
        thread.join(60)
    assert taken == [14]


def test_device_filters_leave_out_tasks(cluster, target, graph):
    with tf.device("/job:worker/task:1"):
        one = tf.constant(1.0)
    filters = ["/job:ps", "/job:worker/task:0"]
    with tf.Session(target, config=tf.ConfigProto(device_filters=filters)) as session:
        assert len(session.list_devices()) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="available devices"):
            session.run(one)


def test_isolated_sessions(target, graph):
    with tf.device(PS):
        v = tf.Variable(1.0)
    with tf.device(WORKER):
        read = v + 0.0
    config = tf.ConfigProto(isolate_session_state=True)
    with (
        tf.Session(target, config=config) as one,
        tf.Session(target, config=config) as other,
    ):
        one.run(v.initializer)
        assert one.run(read) == 1
        with pytest.raises(tf.errors.FailedPreconditionError):
            other.run(read)


def test_a_reset_clears_every_task(target, graph):
    with tf.device(PS):
        v = tf.Variable(1.0)
    with tf.Session(target) as session:
        session.run(v.initializer)
    tf.Session.reset(target)
    with (
        tf.Session(target) as session,
        pytest.raises(tf.errors.FailedPreconditionError),
    ):
        session.run(v)


@pytest.fixture
def branches(graph):
    """Branches of several tasks, and what real TensorFlow 1.15 fetches from them."""
    chosen = tf.placeholder(tf.bool, [], name="chosen")
    with tf.device(PS):
        v = tf.Variable(1.0, name="v", use_resource=False)

    def on_ps():
        with tf.device(PS):
            added = v.assign_add(10.0)
        return added * 2.0

    with tf.device(WORKER):
        read = tf.cond(chosen, lambda: v + 1.0, lambda: v - 1.0)
        constant = tf.cond(chosen, lambda: tf.constant(5.0), lambda: v * 2.0)
        effect = tf.cond(chosen, on_ps, lambda: 0.5)
    with tf.device(PS):
        back = read * 3.0
    fetches = [read, constant, back]
    return chosen, v, fetches, effect


def test_branches_of_several_tasks(target, branches):
    chosen, v, fetches, effect = branches
    found = []
    with tf.Session(target) as session:
        session.run(v.initializer)
        for fed in (True, False, True):
            found.append(session.run(fetches, {chosen: fed}))
            found.append(session.run(effect, {chosen: fed}))
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=3)
        session.run(fetches, {chosen: False}, options, metadata)
    assert found == [
        [2, 5, 6],
        22,
        [10, 22, 30],
        0.5,
        [12, 5, 36],
        42,
    ]
    traced = {stats.device for stats in metadata.step_stats.dev_stats}
    assert {
        f"{task}/device:CPU:0".replace("/task", "/replica:0/task")
        for task in (PS, WORKER)
    } <= traced


# As real TensorFlow 1.15 computes them in one task.
LOOPS = [63, 15630, 5, 0, -2, 129]
SKIPPED = 85


def test_loops_of_several_tasks(target, graph):
    """Bodies, conditions, inner loops and branches on another task than the loop."""
    with tf.device(PS):
        v = tf.Variable(2.0, use_resource=False)

    def body(i, a):
        with tf.device(PS):
            b = a * v
        return i + 1, b + 1.0

    def outer(i, a):
        _, inner = tf.while_loop(lambda k, b: k < 2, body, [0, a])
        with tf.device(PS):
            inner = tf.cond(i > 0, lambda: inner * 10.0, lambda: inner + v)
        return i + 1, inner

    def condition(i, a):
        with tf.device(PS):
            return a < 20.0 * v

    with tf.device(WORKER):
        _, loop = tf.while_loop(lambda i, a: i < 5, body, [0, 1.0])
        _, nested = tf.while_loop(lambda i, a: i < 3, outer, [0, 1.0])
        count, _ = tf.while_loop(condition, body, [0, 1.0])
        never, _ = tf.while_loop(lambda i, a: i < 0, body, [0, 1.0])
        skipped = tf.cond(
            v > 3.0, lambda: tf.while_loop(condition, body, [0, 1.0])[1], lambda: -v
        )
        gradient = tf.gradients(loop, v)[0]
    with tf.Session(target) as session:
        session.run(v.initializer)
        for _ in range(2):
            found = session.run([loop, nested, count, never, skipped, gradient])
            assert found == LOOPS
        session.run(v.assign(4.0))
        assert session.run(skipped) == SKIPPED


def test_a_value_of_a_branch_that_is_not_taken_cannot_be_fetched(
    target, branches, graph
):
    chosen, v, (read, *_), _ = branches
    graph._unfetchable.clear()
    with tf.Session(target) as session:
        session.run(v.initializer)
        taken = read.op.inputs[1]
        assert session.run(taken, {chosen: True}) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="not taken"):
            session.run(taken, {chosen: False})


def channel_of(server):
    return shared_channel(server.target.decode().removeprefix("grpc://"))


def test_a_tensor_of_an_earlier_incarnation_is_refused(servers):
    device = "/job:ps/replica:0/task:0/device:CPU:0"
    key = Key(device, 5, "/job:worker/replica:0/task:0/device:CPU:0", "edge_1_v")
    assert Key.parse(key.text) == key
    # As TensorFlow's CreateKey.
    assert key.text == (f"{device};0000000000000005;{key.receiver};edge_1_v;0:0")
    request = protos.RecvTensorRequest(step_id=1, rendezvous_key=key.text)
    method, data = "WorkerService/RecvTensor", request.SerializeToString()
    with pytest.raises(tf.errors.AbortedError, match="different device incarnation"):
        channel_of(servers[0]).call(method, data, 30)
    for wrong in ("", "a;b;c", key._replace(sender="/job:x").text):
        request.rendezvous_key = wrong
        with pytest.raises(tf.errors.InvalidArgumentError, match="rendezvous key"):
            channel_of(servers[0]).call(method, request.SerializeToString(), 30)


def test_a_task_that_restarts(graph):
    """Its parts and variables are gone: errors after which sessions are made again."""
    ps, worker = free_addresses(2)
    cluster = {"ps": [ps], "worker": [worker]}
    servers = [tf.train.Server(cluster, job) for job in ("ps", "worker")]
    with tf.device(PS):
        v = tf.Variable(1.0)
    with tf.device(WORKER):
        read = v + 0.0
    session = tf.Session(servers[1].target)
    session.run(v.initializer)
    assert session.run(read) == 1
    servers[0]._stop()
    with pytest.raises(tf.errors.UnavailableError):
        session.run(read)
    servers[0] = tf.train.Server(cluster, "ps")
    with pytest.raises((tf.errors.AbortedError, tf.errors.UnavailableError)):
        session.run(read)
    session.close()
    with tf.Session(servers[1].target) as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(read)
        session.run(v.initializer)
        assert session.run(read) == 1
    for server in servers:
        server._stop()
    assert not service._local.keys() & {ps, worker}
