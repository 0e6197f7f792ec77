"""Which calls a step of several tasks makes; the servers run in this process."""

import numpy as np
import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import eventually
from tfteach.lib.distributed_runtime.channel import Channel

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
RUN = "RunGraph"


@pytest.fixture
def session(two_servers, by_grpc):
    """A session of the worker; no task keeps anything of its steps."""
    tf.Session.reset(two_servers[1].target, [""])
    config = tf.ConfigProto(operation_timeout_in_ms=30000)
    with (
        tf.Graph().as_default(),
        tf.Session(two_servers[1].target, config=config) as made,
    ):
        yield made
    services = [server._worker for server in two_servers]
    eventually(lambda: not any(s._partial_runs or s.steps._steps for s in services))


@pytest.fixture
def calls(monkeypatch):
    """The names of the methods that tasks call by gRPC."""
    found = []
    start, block = Channel.start, Channel.block

    def started(self, method, request, timeout_s=0.0):
        found.append(method.partition("/")[2])
        return start(self, method, request, timeout_s)

    def blocked(self, method, request, timeout_s=0.0):
        found.append(method.partition("/")[2])
        return block(self, method, request, timeout_s)

    monkeypatch.setattr(Channel, "start", started)
    monkeypatch.setattr(Channel, "block", blocked)
    return found


def calls_of(calls, run):
    """The result of a step that is registered already, and its calls."""
    run()
    calls.clear()
    return run(), sorted(calls)


def test_a_training_step_is_two_calls(session, calls):
    """The first brings the variables, the last one takes the gradients."""
    with tf.device(PS):
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        count = tf.train.get_or_create_global_step()
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [None, 2])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, count)
    session.run(tf.global_variables_initializer())
    fed = {x: [[1, 0], [0, 1]]}
    (values, made) = calls_of(calls, lambda: session.run([loss, count, train], fed))
    assert made == [RUN, RUN]
    # As one process computes them.
    assert values[0] == pytest.approx(0.49)
    assert session.run(count) == 2
    np.testing.assert_allclose(session.run(w), [[0.83], [0.83]], rtol=1e-6)


def test_what_other_tasks_have_is_fetched_and_fed_directly(session, calls):
    with tf.device(PS):
        x = tf.placeholder(tf.float32, [], name="x")
        doubled = x * 2.0
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        assigned = v.assign(x)
    with tf.device(WORKER):
        more = v + 1.0
        to_ps = v.assign(tf.sin(x))
    session.run(v.initializer)
    assert calls_of(calls, lambda: session.run(doubled, {x: 3.0})) == (6.0, [RUN])
    assert calls_of(calls, lambda: session.run(assigned, {x: 3.0})) == (3.0, [RUN])
    assert calls_of(calls, lambda: session.run(more)) == (4.0, [RUN])
    # Nothing is to do before the worker's part has ended.
    assert calls_of(calls, lambda: session.run(to_ps, {x: 0.0})) == (0.0, [RUN])


def test_what_goes_there_and_back_is_requested(session, calls):
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        a = x + 1.0
    with tf.device(PS):
        b = a * 2.0
    with tf.device(WORKER):
        c = b + 1.0
    with tf.device(PS):
        d = c * 2.0
    value, made = calls_of(calls, lambda: session.run([b, d], {x: 1.0}))
    assert value == [4.0, 10.0]
    assert made.count("RecvTensor") == 2
    assert made.count(RUN) <= 2


def test_an_op_that_waits_for_the_master_holds_nothing_back(session):
    """The dequeue and the variable must not come with the same answer."""
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        queue = tf.FIFOQueue(1, [tf.float32], [[]], shared_name="q")
        got = queue.dequeue()
    with tf.device(WORKER):
        put = queue.enqueue(v + 2.0)
        more = got + 1.0
    session.run(v.initializer)
    assert session.run([more, put])[0] == 4.0


def test_a_failure_of_the_masters_part_ends_that_of_others(session, calls):
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        checked = tf.check_numerics(x * v, "no number")
    added = v.assign_add(checked)
    session.run(v.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no number : Tensor had"):
        session.run(added, {x: np.nan})
    eventually(lambda: "CleanupGraph" in calls)
    assert session.run(added, {x: 1.0}) == 2.0


def test_a_traced_step_is_told_by_all_tasks(session):
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    with tf.device(WORKER):
        more = tf.add(v, 1.0, name="more")
    session.run(v.initializer)
    session.run(more)
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    assert session.run(more, options=options, run_metadata=metadata) == 2.0
    ran = {n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats}
    assert {"v", "more"} <= ran


def test_each_transfer_has_its_own_name(session, two_servers):
    """TensorFlow's workers cache the kernels of stateful ops by name."""
    with tf.device(PS):
        a = tf.placeholder(tf.float32, []) * 2.0
    with tf.device(WORKER):
        b = a + 1.0
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    fed = {a.op.inputs[0]: 3.0}
    assert session.run(b, fed) == 7.0
    assert session.run(b, fed, options, metadata) == 7.0
    (master,) = two_servers[1]._master._sessions.values()
    names = [
        node.name
        for parts in master.session._parts.values()
        for part in parts
        for node in part.graph_def.node
        if node.op in ("_Send", "_Recv")
    ]
    assert len(set(names)) == len(names) > 4
