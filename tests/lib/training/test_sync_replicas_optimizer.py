"""`tf.train.SyncReplicasOptimizer`: two workers of a cluster; TensorFlow's values."""

import threading
from contextlib import ExitStack

import numpy as np
import pytest

import tfteach as tf
from tests.lib.distributed_runtime.conftest import free_addresses

WORKERS = 2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def model(task):
    """One worker's graph: shared variables, gradients of its own half of the data."""
    with tf.device("/job:worker/task:0"):
        step = tf.train.create_global_step()
        weights = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        rows = tf.get_variable("rows", [3, 1], initializer=tf.ones_initializer())
        rate = tf.placeholder_with_default(np.float32(0.5), [], name="rate")
    with tf.device(f"/job:worker/task:{task}"):
        x = tf.constant([[1.0, 2.0], [3.0, 5.0]][task])
        row = tf.nn.embedding_lookup(rows, [[0, 1], [1, 1]][task])
        loss = tf.reduce_sum(tf.square(weights - x)) + tf.reduce_sum(tf.square(row))
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.MomentumOptimizer(rate / 10, 0.9),
            replicas_to_aggregate=WORKERS,
        )
        pairs = [
            (g if isinstance(g, tf.IndexedSlices) else tf.clip_by_norm(g, 5.0), v)
            for g, v in optimizer.compute_gradients(loss)
        ]
        return optimizer, optimizer.apply_gradients(pairs, step), weights, rows


@pytest.fixture(scope="module")
def servers():
    cluster = {"worker": free_addresses(WORKERS)}
    started = [tf.train.Server(cluster, "worker", i) for i in range(WORKERS)]
    yield started
    for server in started:
        server._stop()


def worker_session(servers, stack, task):
    stack.enter_context(tf.Graph().as_default())
    optimizer, train, weights, rows = model(task)
    if task == 0:
        assert optimizer.get_slot_names() == ["momentum"]
        assert [v.name for v in optimizer.variables()] == [
            "rows/Momentum:0",
            "w/Momentum:0",
        ]
        assert optimizer.get_slot(weights, "momentum").name == "w/Momentum:0"
    hook = optimizer.make_session_run_hook(task == 0, num_tokens=0)
    session = tf.train.MonitoredTrainingSession(
        servers[task].target.decode(), task == 0, hooks=[hook],
        stop_grace_period_secs=0,
    )  # fmt: skip
    stack.enter_context(session)
    return session, train, [weights, rows, tf.train.get_global_step()]


def test_two_workers_train_with_the_mean_of_their_gradients(servers):
    with ExitStack() as stack:
        workers = [worker_session(servers, stack, task) for task in range(WORKERS)]
        found = []
        for _ in range(3):
            # A worker that went on alone could take the other one's token.
            threads = [
                threading.Thread(target=session.run, args=(train,))
                for session, train, _ in workers
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            session, _, values = workers[1]
            found.append(session.run(values))
    assert [[v.ravel().tolist() for v in values] for values in found] == [
        [pytest.approx(golden, rel=1e-6) for golden in expected] for expected in TRAINED
    ]


# What TensorFlow 1.15 printed for the same program.
TRAINED = [
    [[1.0559016466, 1.1618033648], [0.8999999762, 0.800000012, 1.0], [1]],
    [[1.1599000692, 1.4608476162], [0.719999969, 0.4600000083, 1.0], [2]],
    [[1.3031663895, 1.86785042229], [0.4859999716, 0.06200000644, 1.0], [3]],
]


def one_worker(**arguments):
    v = tf.get_variable("v", initializer=1.0)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.5), **arguments
    )
    return optimizer, optimizer.minimize(v * v, step), v, step


def test_a_step_in_its_parts():
    """Two batches for an update: both are of this worker, the second one's is equal."""
    averages = tf.train.ExponentialMovingAverage(0.5)
    optimizer, train, v, step = one_worker(
        replicas_to_aggregate=2, total_num_replicas=1, variable_averages=averages
    )
    (update,) = optimizer.get_chief_queue_runner().enqueue_ops
    tokens = optimizer.get_init_tokens_op()
    local = tf.local_variables()[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(optimizer.ready_for_local_init_op).tolist() == []
        session.run(step.assign(3))
        session.run(optimizer.chief_init_op)
        session.run(tokens)
        assert session.run(local) == 3
        assert [session.run(train) for _ in range(2)] == [3, 3]
        session.run(update)
        assert session.run([v, averages.average(v), step]) == [0.0, 0.5, 4]
        assert session.run(train) == 4  # dropped: its gradient was of step 3
        (pending,) = (
            op
            for op in session.graph.get_operations()
            if op.type == "ResourceConditionalAccumulator"
        )
        assert (
            session.run(
                tf.ConditionalAccumulatorBase(
                    tf.float32, [], pending.outputs[0]
                ).num_accumulated()
            )
            == 0
        )
        assert session.run(train) == 4


def test_tokens():
    optimizer, *_ = one_worker(replicas_to_aggregate=3, total_num_replicas=1)
    with pytest.raises(ValueError, match=r"first step: 1 \(given\) vs 2 \(needed\)"):
        optimizer.get_init_tokens_op(1)
    tf.get_variable_scope().reuse_variables()
    backed_up, *_ = one_worker(replicas_to_aggregate=1, total_num_replicas=2)
    assert backed_up.get_init_tokens_op(0).name == "no_init_tokens"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: o.get_chief_queue_runner(), r"^Should be called after apply_grad"),
        (lambda o: o.get_init_tokens_op(), r"^get_init_tokens_op\(\) should be called"),
        (lambda o: o.apply_gradients([]), "^Must supply at least one variable$"),
        (lambda o: o.apply_gradients([(1, 2)]), "^Global step is required to check st"),
        (
            lambda o: o.make_session_run_hook(True).begin(),
            r"^SyncReplicasOptimizer\.apply_gradient should be called before using the",
        ),
    ],
)
def test_calls_before_there_are_gradients(call, message):
    sgd = tf.train.GradientDescentOptimizer(0.5)
    optimizer = tf.train.SyncReplicasOptimizer(sgd, replicas_to_aggregate=1)
    with pytest.raises(ValueError, match=message):
        call(optimizer)


def test_the_hook_names_uninitialized_variables():
    optimizer, *_ = one_worker(replicas_to_aggregate=1)
    hook = optimizer.make_session_run_hook(True)
    hook.begin()
    with (
        tf.Session() as session,
        pytest.raises(RuntimeError, match=r"local_init\. Init op: .*: v, global_step$"),
    ):
        hook.after_create_session(session, tf.train.Coordinator())
