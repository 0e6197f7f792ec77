"""`train_and_evaluate` of the tasks of a cluster, one after the other, in a process."""

import json
import time

import pytest

import tfteach as tf
from tests.golden.estimators import X, Y, estimator, inputs
from tests.lib.distributed_runtime.conftest import free_addresses
from tfteach.lib.distributed_runtime import server as servers
from tfteach.lib.estimator import cluster_tasks, training_session


@pytest.fixture(autouse=True)
def stopped_servers():
    before = set(servers._started)
    yield
    for server in servers._started - before:
        server._stop()


@pytest.fixture
def waits(monkeypatch):
    """The seconds that were slept, at once."""
    seconds = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


def task(monkeypatch, cluster, kind, index=0):
    config = {"cluster": cluster, "task": {"type": kind, "index": index}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))


def specs(max_steps=None, **options):
    return (
        tf.estimator.TrainSpec(inputs(tf, epochs=2), max_steps=max_steps),
        tf.estimator.EvalSpec(inputs(tf, epochs=1), **options),
    )


def addresses(*jobs):
    return {job: [a] for job, a in zip(jobs, free_addresses(len(jobs)), strict=True)}


def weights(server):
    """The values of the variables that the tasks share."""
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        w = tf.get_variable("w", [2])
        step = tf.train.create_global_step()
        config = tf.ConfigProto(device_filters=["/job:ps"])  # no worker yet
        with tf.Session(server.target.decode(), config=config) as session:
            return [session.run(w).tolist(), int(session.run(step))]


def test_a_parameter_server_strategy_trains(monkeypatch, tmp_path, waits):
    """As without a strategy, but that a worker does not wait before."""

    def dataset():
        data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
        return data.repeat(2).batch(3)

    cluster = addresses("chief", "ps", "worker")
    task(monkeypatch, cluster, "ps")
    server = cluster_tasks.start_server(tf.estimator.RunConfig())
    for kind in ("chief", "worker"):
        task(monkeypatch, cluster, kind)
        strategy = tf.distribute.experimental.ParameterServerStrategy()
        made = estimator(tf, str(tmp_path), train_distribute=strategy)
        training = tf.estimator.TrainSpec(dataset)
        assert tf.estimator.train_and_evaluate(made, training, specs()[1]) is None
        assert strategy.extended.worker_devices[0].startswith(f"/job:{kind}/")
        assert strategy.extended.should_checkpoint == (kind == "chief")
    assert not [s for s in waits if s >= 5]
    assert weights(server) == [pytest.approx(AFTER_8_STEPS, rel=1e-6), 8]
    assert made.get_variable_value("global_step") == 4  # only the chief saves


def test_chief_and_worker_train_the_variables_of_the_parameter_server(
    monkeypatch, tmp_path, waits
):
    cluster = addresses("chief", "ps", "worker")
    task(monkeypatch, cluster, "ps")
    server = cluster_tasks.start_server(tf.estimator.RunConfig())
    task(monkeypatch, cluster, "chief")
    chief = estimator(tf, str(tmp_path))
    assert tf.estimator.train_and_evaluate(chief, *specs()) is None
    assert weights(server) == [pytest.approx(AFTER_4_STEPS, rel=1e-6), 4]
    assert chief.get_variable_value("w").tolist() == pytest.approx(AFTER_4_STEPS)
    assert waits == []
    # The server of this worker is another process's in TensorFlow.
    task(monkeypatch, cluster, "worker")
    worker = estimator(tf, str(tmp_path), experimental_max_worker_delay_secs=3)
    assert tf.estimator.train_and_evaluate(worker, *specs()) is None
    assert weights(server) == [pytest.approx(AFTER_8_STEPS, rel=1e-6), 8]
    assert waits[0] == 3
    assert worker.get_variable_value("global_step") == 4  # only the chief saves
    # Outside of the cluster, with the chief's checkpoint.
    task(monkeypatch, cluster, "evaluator")
    evaluator = estimator(tf, str(tmp_path))
    tf.estimator.train_and_evaluate(
        evaluator, *specs(4, start_delay_secs=7, throttle_secs=0)
    )
    assert waits[-1] == 7
    events = tf.gfile.Glob(evaluator.eval_dir() + "/events*")
    written = [e.step for e in tf.train.summary_iterator(events[0]) if e.summary.value]
    assert set(written) == {4}


# What TensorFlow 1.15 trains from 0.25, 0.25 in one process.
AFTER_4_STEPS = [0.926485002, 1.0232117176]
AFTER_8_STEPS = [0.9470267296, 1.0462024212]


def test_devices(monkeypatch, tmp_path):
    task(monkeypatch, addresses("chief", "ps", "worker"), "worker")
    made = estimator(tf, str(tmp_path))
    with tf.Graph().as_default(), tf.device(made._device_fn):
        found = tf.get_variable("v", [2]).device, tf.constant(1.0).device
    assert found == ("/job:ps/task:0", "/job:worker/task:0")
    own = estimator(tf, str(tmp_path), device_fn=lambda op: "/cpu:0")
    with tf.Graph().as_default(), tf.device(own._device_fn):
        assert tf.constant(1.0).device == "/cpu:0"


def test_the_evaluator_waits_for_checkpoints(monkeypatch, tmp_path, caplog):
    task(monkeypatch, addresses("chief"), "evaluator")
    evaluator = estimator(tf, str(tmp_path))
    monkeypatch.delenv("TF_CONFIG")
    trained = estimator(tf, str(tmp_path))
    steps = iter([None, 2, None, 2, None])

    def sleep(seconds):
        assert 0 < seconds <= 5
        some = next(steps)
        if some is not None:
            trained.train(inputs(tf, epochs=1), steps=some)

    monkeypatch.setattr(time, "sleep", sleep)
    evaluated = []
    listen = evaluator.evaluate

    def evaluate(*args):
        found = listen(*args)
        evaluated.append(int(found["global_step"]))
        return found

    monkeypatch.setattr(evaluator, "evaluate", evaluate)
    tf.estimator.train_and_evaluate(
        evaluator, *specs(4, start_delay_secs=5, throttle_secs=5)
    )
    assert evaluated == [2, 4]


def test_the_master_evaluates_while_it_trains(monkeypatch, tmp_path):
    task(monkeypatch, addresses("master"), "master")
    made = estimator(tf, str(tmp_path), save_checkpoints_steps=2)
    tf.estimator.train_and_evaluate(made, *specs(4, throttle_secs=0))
    events = tf.gfile.Glob(made.eval_dir() + "/events*")
    written = {e.step for e in tf.train.summary_iterator(events[0]) if e.summary.value}
    assert written == {2, 4}


@pytest.mark.parametrize(
    ("kind", "index", "delays"),
    [("chief", 0, (0, 0)), ("worker", 0, (5, 3)), ("worker", 11, (60, 3))],
)
def test_delays(monkeypatch, kind, index, delays):
    cluster = {"chief": ["a:1"], "worker": [f"b:{i}" for i in range(12)]}
    task(monkeypatch, cluster, kind, index)
    for longest, delay in zip((None, 3), delays, strict=True):
        config = tf.estimator.RunConfig(experimental_max_worker_delay_secs=longest)
        assert cluster_tasks.start_delay_s(config) == delay


def test_refused_tasks(monkeypatch, tmp_path):
    cluster = {"chief": ["a:1"], "other": ["b:1"], "ps": ["c:1"]}
    task(monkeypatch, cluster, "evaluator", 1)
    with pytest.raises(ValueError, match=r"only be one `evaluator` .* task id 1$"):
        tf.estimator.train_and_evaluate(estimator(tf, str(tmp_path)), *specs())
    task(monkeypatch, cluster, "other")
    with pytest.raises(ValueError, match=r"^Task type other is not supported\."):
        tf.estimator.train_and_evaluate(estimator(tf, str(tmp_path)), *specs())
    task(monkeypatch, cluster, "ps")
    with pytest.raises(ValueError, match="which calls proper API"):
        estimator(tf, str(tmp_path)).train(inputs(tf), steps=1)


def test_servers_of_incomplete_configurations(monkeypatch):
    with pytest.raises(
        RuntimeError, match="be sure to specify cluster_spec, task_type"
    ):
        cluster_tasks.start_server(tf.estimator.RunConfig())
    task(monkeypatch, {"chief": ["a:1"]}, "chief")
    config = tf.estimator.RunConfig()
    assert cluster_tasks.start_server(config) is None  # alone
    config._task_type = "ps"
    with pytest.raises(RuntimeError, match="be sure to specify master in RunConfig"):
        cluster_tasks.start_server(config)


@pytest.mark.parametrize(
    ("kind", "index", "hooks"),
    [
        ("master", 0, set()),
        ("worker", 0, {"SummarySaverHook", "StepCounterHook"}),
        ("worker", 1, set()),
    ],
)
def test_the_first_worker_writes_summaries_for_a_master(
    monkeypatch, tmp_path, kind, index, hooks
):
    class Opened(Exception):
        pass

    def open_session(**arguments):
        raise Opened(arguments)

    monkeypatch.setattr(training_session, "MonitoredTrainingSession", open_session)
    cluster = {"master": ["a:1"], "worker": ["b:1", "c:1"]}
    task(monkeypatch, cluster, kind, index)
    with pytest.raises(Opened) as opened:
        estimator(tf, str(tmp_path)).train(inputs(tf), steps=1)
    (arguments,) = opened.value.args
    assert arguments["save_summaries_steps"] == 0
    assert arguments["log_step_count_steps"] is None
    written = {"SummarySaverHook", "StepCounterHook"}
    assert {type(hook).__name__ for hook in arguments["hooks"]} & written == hooks
