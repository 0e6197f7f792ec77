"""Sessions that bring their cluster along in ConfigProto.cluster_def.

Every answer is that of real TensorFlow 1.15, whose servers here have one
task each, too.
"""

import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import eventually

pytestmark = pytest.mark.usefixtures("by_grpc")


@pytest.fixture(scope="module")
def servers():
    made = [tf.train.Server.create_local_server() for _ in range(3)]
    yield made
    for server in made:
        server._stop()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def address(server):
    return server.target.decode().removeprefix("grpc://")


def session(server, cluster, **options):
    config = tf.ConfigProto(**options)
    config.cluster_def.CopyFrom(tf.train.ClusterSpec(cluster).as_cluster_def())
    return tf.Session(server.target, config=config)


def device(job, index):
    return f"/job:{job}/replica:0/task:{index}/device:CPU:0"


@pytest.fixture
def alpha(servers):
    return {"alpha": [address(servers[0]), address(servers[1])]}


@pytest.fixture
def variable(graph):
    with tf.device("/job:alpha/task:1"):
        v = tf.Variable(5.0, use_resource=False)
    with tf.device("/job:alpha/task:0"):
        doubled = v * 2.0
    return v, doubled


@pytest.mark.parametrize("is_isolated", [False, True])
def test_a_session_of_its_own_cluster(servers, alpha, variable, is_isolated):
    v, doubled = variable
    options = {"isolate_session_state": is_isolated}
    with (
        session(servers[0], alpha, **options) as first,
        session(servers[1], alpha, **options) as second,
        tf.Session(servers[0].target) as plain,
    ):
        names = [found.name for found in first.list_devices()]
        assert names == [device("alpha", 0), device("alpha", 1)]
        assert [found.name for found in plain.list_devices()] == [device("local", 0)]
        first.run(v.initializer)
        assert first.run(doubled) == 10
        with pytest.raises(tf.errors.FailedPreconditionError, match="/job:alpha/"):
            second.run(doubled)
    with (
        session(servers[0], alpha) as later,
        pytest.raises(tf.errors.FailedPreconditionError),
    ):
        later.run(doubled)
    eventually(lambda: not any(server._worker._sessions for server in servers))


def test_sessions_of_one_cluster_that_share_their_variables(servers, alpha, variable):
    v, doubled = variable
    experimental = {"share_session_state_in_clusterspec_propagation": True}
    first = session(servers[0], alpha, experimental=experimental)
    with session(servers[1], alpha, experimental=experimental) as second:
        with pytest.raises(tf.errors.FailedPreconditionError):
            second.run(doubled)
        first.run(v.initializer)
        assert second.run(doubled) == 10
        first.close()
        assert second.run(doubled) == 10
    with (
        session(servers[0], alpha) as isolated,
        pytest.raises(tf.errors.FailedPreconditionError),
    ):
        isolated.run(doubled)


def test_numbers_with_gaps_and_several_jobs(servers, graph):
    one, two, three = map(address, servers)
    with tf.device("/job:alpha/task:3"):
        found = tf.constant(2.0) + 1.0
    with tf.device("/job:beta"):
        found = found * 5.0
    cluster = {"alpha": {1: one, 3: three}, "beta": [two]}
    with session(servers[0], cluster) as made:
        assert {each.name for each in made.list_devices()} == {
            device("alpha", 1),
            device("alpha", 3),
            device("beta", 0),
        }
        assert made.run(found) == 15


def test_device_filters_choose_among_its_tasks(servers, alpha, graph):
    tf.constant(1.0)
    with session(servers[0], alpha, device_filters=["/job:alpha/task:0"]) as made:
        assert [found.name for found in made.list_devices()] == [device("alpha", 0)]


def test_clusters_without_the_master_or_with_its_own_name(servers, graph):
    one = tf.constant(1.0)
    absent = "master .current machine. is not included in the provided cluster_def"
    for cluster in ({}, {"alpha": [address(servers[1])]}):
        with (
            session(servers[0], cluster) as made,
            pytest.raises(tf.errors.InvalidArgumentError, match=absent),
        ):
            made.run(one)
    same = {"local": [address(servers[0]), address(servers[1])]}
    message = "names the job and task index to be the same .* Job: local, task index: 0"
    with (
        session(servers[0], same) as made,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        made.run(one)


@pytest.mark.oracle
def test_a_worker_of_tensorflow(servers, tensorflow_server, graph):
    other = tensorflow_server.removeprefix("grpc://")
    with tf.device("/job:alpha/task:1"):
        v = tf.Variable(5.0)
    with tf.device("/job:alpha/task:0"):
        doubled = v * 2.0
    with session(servers[0], {"alpha": [address(servers[0]), other]}) as made:
        made.run(v.initializer)
        assert made.run(doubled) == 10
