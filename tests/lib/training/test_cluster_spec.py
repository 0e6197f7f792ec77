"""`tf.train.ClusterSpec` and the placement on parameter servers, as TF 1.15's."""

import pytest

import tfteach as tf

SPARSE = {"w": {1: "x:1", 3: "y:1"}, "ps": ("q:1",)}


def sparse_def():
    cluster = tf.train.ClusterDef()
    for name, tasks in (("ps", {0: "q:1"}), ("w", {1: "x:1", 3: "y:1"})):
        job = cluster.job.add(name=name)
        for index, address in tasks.items():
            job.tasks[index] = address
    return cluster


def test_of_dicts():
    spec = tf.train.ClusterSpec(SPARSE)
    assert spec.jobs == ["w", "ps"]
    assert spec.as_dict() == {"w": {1: "x:1", 3: "y:1"}, "ps": ["q:1"]}
    assert spec.num_tasks("w") == 2
    assert spec.task_indices("w") == [1, 3]
    assert spec.job_tasks("w") == [None, "x:1", None, "y:1"]
    assert spec.task_address("w", 3) == "y:1"
    assert str(spec) == "ClusterSpec({'ps': ['q:1'], 'w': {1: 'x:1', 3: 'y:1'}})"


def test_of_other_forms():
    spec = tf.train.ClusterSpec(SPARSE)
    assert spec.as_cluster_def() == sparse_def()
    for other in (tf.train.ClusterSpec(spec), tf.train.ClusterSpec(sparse_def())):
        assert other == spec
        assert (other != spec) is False
    assert spec == {"w": {1: "x:1", 3: "y:1"}, "ps": {0: "q:1"}}
    assert spec != tf.train.ClusterSpec({"w": ["x:1"]})
    assert not tf.train.ClusterSpec({})
    with pytest.raises(TypeError, match="unhashable"):
        hash(spec)


@pytest.mark.parametrize(
    ("cluster", "error", "message"),
    [
        (3, TypeError, "^`cluster` must be a dictionary mapping one or more job names"),
        ({"w": "abc"}, TypeError, "^The tasks for job 'w' must be a list or a dict"),
        ({"w": None}, TypeError, "^The tasks for job 'w' must be a list or a dict"),
        ({"w": [1]}, TypeError, "^Task address 1 must be bytes or unicode$"),
        ({1: ["x"]}, TypeError, "^Job name 1 must be bytes or unicode$"),
        ({"w": {"1": "x"}}, TypeError, "^'1' has type str, but expected one of: int"),
        ({"w": {2**40: "x"}}, ValueError, "^Value out of range: 1099511627776$"),
    ],
)
def test_refused(cluster, error, message):
    with pytest.raises(error, match=message):
        tf.train.ClusterSpec(cluster)


def test_absent_jobs_and_tasks():
    spec = tf.train.ClusterSpec(SPARSE)
    for ask in (spec.num_tasks, spec.task_indices, spec.job_tasks):
        with pytest.raises(ValueError, match=r"^No such job in cluster: 'a'$"):
            ask("a")
    with pytest.raises(ValueError, match=r"^No task with index 0 in job 'w'$"):
        spec.task_address("w", 0)


def placed(graph, **settings):
    """The devices of a few variables and ops below a device setter."""
    setter = tf.train.replica_device_setter(**settings)
    with graph.as_default(), tf.device(setter):
        made = [tf.Variable(0.0), tf.get_variable("v", [2], use_resource=True)]
        with tf.device("/job:ps/task:1"):
            made.append(tf.Variable(0.0))
        with tf.device("/cpu:0"):
            made += [tf.Variable(0.0), tf.constant(0.0)]
        with tf.device("/job:worker/task:1/gpu:0"):
            made += [tf.Variable(0.0), tf.constant(0.0)]
        made.append(tf.FIFOQueue(3, tf.float32).queue_ref)
    return [item.device for item in made]


WORKER_1 = "/job:worker/task:1/device:GPU:0"


@pytest.mark.parametrize(
    ("settings", "devices"),
    [
        (
            {"ps_tasks": 2},
            "/job:ps/task:0 /job:ps/task:1 /job:ps/task:1 /job:ps/task:1/device:CPU:0 "
            f"/job:worker/device:CPU:0 {WORKER_1} {WORKER_1} /job:worker",
        ),
        (
            {"cluster": {"ps": ["a:1"], "worker": ["b:1"]}, "ps_ops": ["Const"]},
            "/job:worker /job:worker /job:ps/task:1 /job:worker/device:CPU:0 "
            f"/job:ps/task:0/device:CPU:0 {WORKER_1} {WORKER_1} /job:worker",
        ),
        (
            {"ps_tasks": 2, "ps_strategy": lambda op: 7, "worker_device": ""},
            "/job:ps/task:7 /job:ps/task:7 /job:ps/task:1 /job:ps/task:7/device:CPU:0 "
            f"/device:CPU:0 {WORKER_1} {WORKER_1} ",
        ),
        (
            {"ps_tasks": 1, "ps_device": "/job:p/cpu:0", "merge_devices": False},
            "/job:p/task:0/device:CPU:0 /job:p/task:0/device:CPU:0 /job:ps/task:1 "
            f"/device:CPU:0 /device:CPU:0 {WORKER_1} {WORKER_1} /job:worker",
        ),
    ],
)
def test_replica_device_setter(settings, devices):
    graph = tf.Graph()
    assert placed(graph, **settings) == devices.split(" ")


def test_no_parameter_servers():
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(cluster={"worker": ["a"]}) is None
    assert tf.train.replica_device_setter(cluster={"ps": []}) is None
    with pytest.raises(TypeError, match=r"^ps_strategy must be callable$"):
        tf.train.replica_device_setter(1, ps_strategy=4)
