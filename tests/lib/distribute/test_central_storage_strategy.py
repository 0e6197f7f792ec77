"""`CentralStorageStrategy` on two CPUs; the values are those of TensorFlow 1.15."""

import pytest

import tfteach as tf

CPUS = ["/cpu:0", "/cpu:1"]
STRATEGY = tf.distribute.experimental.CentralStorageStrategy


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(graph=graph, config=config) as made:
        yield made


def replica_number():
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0


@pytest.mark.parametrize(
    ("arguments", "replicas", "parameters"),
    [
        ((), ("CPU:0",), ("/device:CPU:0",)),
        ((CPUS, "/cpu:1"), ("CPU:0", "CPU:1"), ("/cpu:1",)),
        ((CPUS,), ("CPU:0", "CPU:1"), ("/device:CPU:0",)),
        ((["/cpu:1"],), ("CPU:1",), ("/cpu:1",)),
    ],
)
def test_where_replicas_and_variables_are(graph, arguments, replicas, parameters):
    strategy = STRATEGY(*arguments)
    names = tuple(f"/replica:0/task:0/device:{name}" for name in replicas)
    assert strategy.extended.worker_devices == names
    assert strategy.extended.parameter_devices == parameters
    assert strategy.num_replicas_in_sync == len(replicas)
    with strategy.scope():
        v = tf.get_variable("v", [])
    assert v.device == f"/device:{parameters[0][-5:].upper()}"


def test_replicas_train_the_same_variables(session):
    strategy = STRATEGY(CPUS)
    with strategy.scope():
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        count = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)

        def step():
            return optimizer.minimize(v * replica_number(), count)

        train = strategy.extended.call_for_each_replica(step)
        init = tf.global_variables_initializer()
    assert [each.name for each in tf.trainable_variables()] == ["v:0"]
    assert sorted(each.name for each in tf.global_variables()) == [
        "global_step:0",
        "v/Momentum:0",
        "v:0",
    ]
    session.run(init)
    session.run(strategy.experimental_local_results(train))
    assert session.run([v, count]) == [pytest.approx(0.7), 1]


def test_assignments_of_replicas_become_one(session):
    strategy = STRATEGY(CPUS)
    with strategy.scope():
        total = tf.VariableAggregation.SUM
        v = tf.get_variable(
            "v", [], initializer=tf.ones_initializer(), aggregation=total
        )
        other = tf.get_variable("other", [])
        each = strategy.extended.call_for_each_replica
        added = strategy.experimental_local_results(
            each(lambda: v.assign_add(replica_number()))
        )
        updated = strategy.extended.update(v, lambda v, x: v.assign(x), args=(5.0,))
        assigned = v.assign(7.0)
        with pytest.raises(ValueError, match="update a AggregatingVariable in Replica"):
            each(lambda: other.assign_add(1.0))
    session.run(v.initializer)
    assert session.run(added) == (4.0,)
    for op, value in ((updated, 5.0), (assigned, 7.0)):
        session.run(op)
        assert session.run(v) == value


def test_a_batch_is_divided(session):
    strategy = STRATEGY(CPUS)
    iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(4))
    init = iterator.initialize()
    sums = strategy.experimental_run(tf.reduce_sum, iterator)
    session.run(init)
    assert session.run(strategy.experimental_local_results(sums)) == (1, 5)


def test_a_device_named_twice():
    with pytest.raises(ValueError, match="Duplicate devices in"):
        STRATEGY(["/cpu:0", "/cpu:0"])
