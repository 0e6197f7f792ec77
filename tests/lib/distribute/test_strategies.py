"""Devices, inputs and refusals of distribution strategies."""

import json

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eager_program
from tfteach.lib.distribute.inputs import divided


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def gpus():
    tf.simulate_gpus(2)
    yield
    tf.simulate_gpus(0)


def test_the_devices_are_the_gpus(gpus):
    own = tf.distribute.MirroredStrategy()
    assert own.extended.worker_devices == (
        "/replica:0/task:0/device:GPU:0",
        "/replica:0/task:0/device:GPU:1",
    )
    of_contrib = tf.contrib.distribute.MirroredStrategy(num_gpus=2)
    assert of_contrib.extended.worker_devices == own.extended.worker_devices
    with pytest.raises(ValueError, match="There are 2 GPUs, fewer than num_gpus=3"):
        tf.contrib.distribute.MirroredStrategy(num_gpus=3)
    with pytest.raises(ValueError, match="one of `devices` and `num_gpus`"):
        tf.contrib.distribute.MirroredStrategy(["/gpu:0"], num_gpus=1)


def test_without_gpus_the_cpu_is_the_only_replica():
    own = tf.distribute.MirroredStrategy()
    assert own.num_replicas_in_sync == 1
    with own.scope():
        v = tf.Variable(1.0, name="v")
        result = own.experimental_run_v2(lambda: v.assign_add(2.0))
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(own.experimental_local_results(result)) == (3.0,)


def test_replicas_compute_on_their_devices(gpus):
    own = tf.distribute.MirroredStrategy()
    with own.scope():
        v = tf.Variable([1.0, 2.0])
        doubled = own.experimental_run_v2(lambda: v * 2.0)
        total = own.reduce("sum", doubled)
    found = [value.device for value in doubled.values]
    assert found == list(own.extended.worker_devices)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(total).tolist() == [4.0, 8.0]


def test_devices_of_other_processes_are_refused():
    with pytest.raises(
        NotImplementedError, match="replicas are devices of this proces"
    ):
        tf.distribute.MirroredStrategy(["/job:worker/task:1"])
    with pytest.raises(NotImplementedError, match=r"in a cluster: use tf\.train\.repl"):
        tf.distribute.OneDeviceStrategy("/cpu:0").configure(cluster_spec={"a": ["b:1"]})


def test_eager_programs_are_refused():
    with (
        eager_program(),
        pytest.raises(NotImplementedError, match="in an eager program"),
    ):
        tf.distribute.OneDeviceStrategy("/cpu:0").scope().__enter__()


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        (4, [[0, 1], [2, 3], [4, 5], [6, 7], [8], [9]]),
        (5, [[0, 1, 2], [3, 4], [5, 6, 7], [8, 9]]),
        (3, [[0, 1], [2], [3, 4], [5], [6, 7], [8], [9]]),
    ],
)
def test_batches_are_divided(size, parts):
    dataset = divided(tf.data.Dataset.range(10).batch(size), 2)
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        for _ in parts:
            found.append(session.run(following).tolist())
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
    assert found == parts


def test_elements_of_several_components_are_divided():
    rows = {"x": np.arange(4), "y": np.arange(4.0)}
    for data, keys in ((rows, dict), ((rows["x"], rows["y"]), tuple)):
        dataset = divided(tf.data.Dataset.from_tensor_slices(data).batch(4), 2)
        following = dataset.make_one_shot_iterator().get_next()
        assert isinstance(following, keys)
        with tf.Session() as session:
            found = session.run(following)
        first, second = found.values() if keys is dict else found
        assert (first.tolist(), second.tolist()) == ([0, 1], [0.0, 1.0])


def test_the_default_strategy_has_one_replica():
    own = tf.distribute.get_strategy()
    with own.scope():
        assert not tf.distribute.has_strategy()
    context = tf.distribute.get_replica_context()
    assert context.num_replicas_in_sync == 1
    assert context.merge_call(lambda strategy, a: (strategy, a), (3,)) == (own, 3)
    assert own.experimental_run_v2(lambda x: x + 1, (1,)) == 2
    assert own.reduce("sum", 4) == 4
    v = tf.get_variable("v", initializer=1.0)
    update = own.extended.update(v, lambda v, x: v.assign_add(x), (2.0,))
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([update, own.extended.broadcast_to(5, v)][0]) == 3.0


def test_values_of_replicas_are_not_mixed_up():
    own = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with own.scope():
        index = own.experimental_run_v2(
            lambda: tf.distribute.get_replica_context().replica_id_in_sync_group
        )
        with pytest.raises(ValueError, match="used between replicas: reduce it"):
            tf.convert_to_tensor(index)
        copies = own.extended.broadcast_to(tf.constant(3.0), tf.Variable(1.0))
        assert tf.convert_to_tensor(copies) is copies.primary
    assert repr(index).startswith(
        "PerReplica:{\n  0 /replica:0/task:0/device:CPU:0: <tf"
    )
    assert index.get(own.extended.worker_devices[1]) is index.values[1]
    with pytest.raises(ValueError, match=r"^Device /gpu:7 not found in \("):
        index.get("/gpu:7")


def test_cross_device_ops():
    for make in (
        tf.distribute.ReductionToOneDevice,
        tf.distribute.NcclAllReduce,
        tf.distribute.HierarchicalCopyAllReduce,
    ):
        own = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], make())
        with own.scope():
            total = own.reduce(
                "mean", own.experimental_run_v2(lambda: tf.constant(4.0))
            )
        config = tf.ConfigProto(device_count={"CPU": 2})
        with tf.Session(config=config) as session:
            assert session.run(total) == 4.0
    with pytest.raises(NotImplementedError, match="values are reduced by"):
        tf.distribute.ReductionToOneDevice("/cpu:0")
    with pytest.raises(ValueError, match="requires num_packs >= 0, but -1"):
        tf.distribute.NcclAllReduce(-1)


def test_partitioners_have_no_effect():
    own = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with own.scope():
        part = tf.fixed_size_partitioner(2)
        v = tf.get_variable("v", [4], partitioner=part)
        assert own.extended.variable_created_in_scope(v)
        assert v.distribute_strategy is own
    other = tf.get_variable("w", [4])
    assert not own.extended.variable_created_in_scope(other)
    with (
        pytest.raises(ValueError, match="must only be passed a variable created in"),
        own.extended.colocate_vars_with(other),
    ):
        pass


def test_merging_waits_for_what_each_replica_waits_for():
    own = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])

    def step():
        with tf.control_dependencies([tf.no_op(name="gate")]):
            context = tf.distribute.get_replica_context()
            return context.merge_call(lambda strategy: tf.no_op(name="merged"))

    with own.scope(), tf.name_scope("outer"):
        merged = own.experimental_run_v2(step)
    assert merged.name == "outer/merged"
    found = sorted(op.name for op in merged.control_inputs)
    assert found == ["outer/gate", "outer/replica_1/gate"]


def test_replicas_read_in_their_order():
    own = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with own.scope():
        own.make_input_fn_iterator(lambda _: tf.data.Dataset.range(4)).get_next()
    reads = [
        op
        for op in tf.get_default_graph().get_operations()
        if op.type == "IteratorGetNext"
    ]
    assert [list(op.control_inputs) for op in reads] == [[], [reads[0]]]


@pytest.mark.parametrize("mode", [None, "PER_WORKER"])
def test_other_input_replication_modes_are_refused(mode):
    own = tf.distribute.OneDeviceStrategy("/cpu:0")
    message = f"^Input replication mode not supported: {mode!r}$"
    with pytest.raises(ValueError, match=message):
        own.make_input_fn_iterator(lambda _: tf.data.Dataset.range(4), mode)


def test_other_graphs_know_no_strategy():
    own = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with own.scope():
        with tf.Graph().as_default():
            assert not tf.distribute.has_strategy()
            assert tf.Variable(1.0).op.type == "VariableV2"
        assert tf.distribute.has_strategy()


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("experimental.MultiWorkerMirroredStrategy", "SyncReplicasOptimizer averages"),
        ("experimental.TPUStrategy", "MirroredStrategy has a copy"),
        ("experimental_set_strategy", "use `with strategy.scope"),
    ],
)
def test_other_strategies_say_what_to_use(name, instead):
    made = tf.distribute
    for part in name.split("."):
        made = getattr(made, part)
    with pytest.raises(NotImplementedError, match=f"is not implemented: .*{instead}"):
        made(None)


JOBS = {"worker": ["a:1", "b:1"], "ps": ["c:1"]}


class Resolver:
    """A `ClusterResolver`, as far as a strategy asks it."""

    task_type, task_id = "worker", 0

    def cluster_spec(self):
        return tf.train.ClusterSpec(JOBS)


def test_a_parameter_server_strategy_is_told_of_its_cluster(monkeypatch):
    own = tf.distribute.experimental.ParameterServerStrategy(Resolver()).extended
    assert own.parameter_devices == ("/job:ps/task:0",)
    assert own.should_checkpoint
    assert own.should_save_summary
    assert own.experimental_should_init
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": JOBS, "task": task}))
    made = tf.contrib.distribute.ParameterServerStrategy()
    assert not made.extended.should_checkpoint
    with made.scope():
        v = tf.Variable(1.0)
        assert made.extended.variable_created_in_scope(v)
        with made.extended.colocate_vars_with(v):
            assert tf.Variable(2.0).device == v.device == "/job:ps/task:0"
    config = tf.ConfigProto(device_filters=["/job:other"])
    filters = made.update_config_proto(config).device_filters
    assert list(filters) == ["/job:worker/task:1", "/job:ps"]
    made.configure(config, JOBS, "evaluator", 0)
    assert list(config.device_filters) == ["/job:evaluator/task:0"]


def test_parameter_server_strategies_that_are_refused(gpus):
    with pytest.raises(NotImplementedError, match="of 2 GPUs a worker: start a worker"):
        tf.distribute.experimental.ParameterServerStrategy()
    made = tf.contrib.distribute.ParameterServerStrategy(1)
    with pytest.raises(ValueError, match="must also specify `task_type`"):
        made.configure(None, JOBS)
    with pytest.raises(ValueError, match="needs to have `ps` jobs"):
        made.configure(None, {"worker": ["a:1"]}, "worker", 0)
    made.configure(None, JOBS, "worker", 0)
    own = "/job:worker/replica:0/task:0/device:GPU:0"
    assert made.extended.worker_devices == (own,)
