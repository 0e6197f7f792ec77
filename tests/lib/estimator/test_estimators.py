"""Estimators train, evaluate and predict as TensorFlow's."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import estimators, training_loops
from tfteach.compat import internals
from tfteach.lib.estimator import saved_model

RECORDED = json.loads(Path(estimators.__file__).with_suffix(".json").read_text())
X, Y = estimators.X, estimators.Y


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()
    yield
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()


@pytest.mark.parametrize("program", estimators.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program):
    before = threading.active_count()
    found = training_loops.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        assert found[key] == value, key
    assert threading.active_count() <= before


def read(input_fn):
    """All batches of an input function."""
    with tf.Graph().as_default():
        batch, found = input_fn(), []
        with tf.train.MonitoredSession() as session:
            while True:
                try:
                    found.append(session.run(batch))
                except tf.errors.OutOfRangeError:
                    return found


def test_numpy_inputs():
    make = tf.estimator.inputs.numpy_input_fn
    assert [b.tolist() for b in read(make(X[:, 0], None, 4, 2, False))] == [
        [0, 2, 4, 6], [8, 10, 0, 2], [4, 6, 8, 10],
    ]  # fmt: skip
    shuffled = read(make({"b": X, "a": Y}, {"t": Y}, 4, 3, True))
    rows = [len(labels["t"]) for _, labels in shuffled]
    assert rows == [4, 4, 4, 4, 2]
    for features, labels in shuffled:
        np.testing.assert_array_equal(features["a"], labels["t"])
        np.testing.assert_array_equal(features["b"].sum(1), labels["t"])
    seen = np.concatenate([labels["t"] for _, labels in shuffled])
    assert sorted(seen) == sorted([*Y] * 3)
    twice = read(make(Y, None, 3, 1, False, num_threads=2))
    assert sorted(np.concatenate(twice)) == sorted([*Y] * 2)


def test_endless_inputs_have_whole_batches():
    with tf.Graph().as_default():
        make = tf.estimator.inputs.numpy_input_fn(Y, None, 4, None, False)
        batch = make()
        assert batch.shape.as_list() == [4]
        with tf.train.MonitoredSession() as session:
            seen = [session.run(batch).tolist() for _ in range(3)]
    assert np.concatenate(seen).tolist() == [*Y, *Y]


def test_pandas_inputs():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]})
    make = tf.estimator.inputs.pandas_input_fn
    labels = pandas.Series([7, 8, 9])
    found = read(make(frame, labels, batch_size=2, shuffle=False))
    assert [target.tolist() for _, target in found] == [[7, 8], [9]]
    assert [batch["b"].tolist() for batch, _ in found] == [[4, 5], [6]]
    with pytest.raises(ValueError, match="already has a column"):
        make(frame, labels, shuffle=False, target_column="a")()
    with pytest.raises(ValueError, match="mismatched"):
        make(frame, labels[1:], shuffle=False)


def test_the_arguments_of_functions(tmp_path):
    seen = {}

    def model_fn(features, mode, config):
        seen["model"] = mode, config.tf_random_seed
        return tf.estimator.EstimatorSpec(mode, {"x": features})

    def input_fn(params, mode, config):
        seen["input"] = params, mode, config.model_dir
        return tf.estimator.inputs.numpy_input_fn(np.array([1.0, 2.0]), shuffle=False)()

    config = tf.estimator.RunConfig(str(tmp_path), 5)
    made = tf.estimator.Estimator(model_fn, config=config)
    assert [p["x"] for p in made.predict(input_fn)] == [1.0, 2.0]
    assert seen == {"model": ("infer", 5), "input": ({}, "infer", str(tmp_path))}
    assert made.config.replace(tf_random_seed=6).tf_random_seed == 6
    assert made.config.tf_random_seed == 5


def test_scaffold_hooks_and_listeners(tmp_path):
    calls = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            calls.append(int(global_step_value))

    class Hook(tf.train.SessionRunHook):
        def end(self, session):
            calls.append("end")

    def model_fn(features, labels, mode):
        spec = estimators.model_fn(tf)(features, labels, mode, {"rate": 0.1}, None)
        if mode == "eval":  # the metrics' variables are initialized nevertheless
            scaffold = tf.train.Scaffold(local_init_op=tf.no_op(name="mine"))
            spec = spec._replace(scaffold=scaffold)
        return spec._replace(training_hooks=[Hook()], evaluation_hooks=[Hook()])

    config = tf.estimator.RunConfig(save_checkpoints_steps=2)
    made = tf.estimator.Estimator(model_fn, tmp_path, config)
    inputs = estimators.inputs(tf)
    made.train(inputs, steps=3, saving_listeners=[Listener()])
    assert calls == [0, 2, 3, "end"]
    calls.clear()
    assert made.evaluate(inputs, steps=2)["global_step"] == 3
    assert calls == ["end"]
    unsaved = tf.estimator.RunConfig(save_checkpoints_secs=None)
    with pytest.raises(ValueError, match="should be a CheckpointSaverHook"):
        tf.estimator.Estimator(model_fn, tmp_path / "b", unsaved).train(
            inputs, steps=1, saving_listeners=[Listener()]
        )


def test_warm_start(tmp_path):
    first = estimators.estimator(tf, str(tmp_path / "a"))
    first.train(estimators.inputs(tf), steps=3)
    config = tf.estimator.RunConfig(str(tmp_path / "b"))
    again = tf.estimator.Estimator(
        estimators.model_fn(tf), config=config, params={"rate": 0.0},
        warm_start_from=str(tmp_path / "a"),
    )  # fmt: skip
    again.train(estimators.inputs(tf), steps=1)
    value = first.get_variable_value("w")
    np.testing.assert_array_equal(again.get_variable_value("w"), value)
    assert again.get_variable_value("global_step") == 1


def test_predictions_by_an_open_generator(tmp_path):
    """Each `predict` builds a graph; one held open does not."""
    made = estimators.estimator(tf, str(tmp_path))
    made.train(estimators.inputs(tf), steps=1)
    builds = []

    def input_fn():
        builds.append(1)
        return estimators.inputs(tf, None, 1)()

    opened = made.predict(input_fn)
    values = [next(opened)["value"] for _ in range(6)]
    assert len(builds) == 1
    assert next(made.predict(input_fn))["value"] == values[0]
    assert len(builds) == 2
    before = threading.active_count()
    opened.close()
    assert threading.active_count() < before


def test_an_exported_model_predicts(tmp_path):
    made = estimators.estimator(tf, str(tmp_path))
    made.train(estimators.inputs(tf), steps=2)
    x = tf.placeholder(tf.float32, [None, 2])
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    path = made.export_saved_model(tmp_path / "out", receiver, as_text=True)
    assert (Path(path.decode()) / "saved_model.pbtxt").exists()
    predict = tf.contrib.predictor.from_saved_model(path.decode())
    expected = X @ made.get_variable_value("w")
    np.testing.assert_allclose(predict({"x": X})["value"], expected, rtol=1e-6)
    assert len(list((tmp_path / "out").iterdir())) == 1, "no temporary folder"


def test_what_is_exported_is_checked():
    export = tf.estimator.export
    one, text = tf.constant([1.0]), tf.constant(["a"])
    for call, message in (
        (lambda: export.PredictOutput({1: one}), "key must be a string"),
        (lambda: export.PredictOutput({"a": 1}), "value must be a Tensor"),
        (lambda: export.RegressionOutput(text), "must be a float32 Tensor"),
        (lambda: export.ClassificationOutput(), "At least one of"),
        (lambda: export.ClassificationOutput(text), "scores must be a float32"),
        (lambda: export.ClassificationOutput(one, one), "classes must be a string"),
        (lambda: export.ServingInputReceiver(None, one), "features must be defined"),
        (lambda: export.ServingInputReceiver({1.5: one}, one), "strings or ints"),
        (lambda: export.TensorServingInputReceiver(None, one), "must be defined"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert export.ServingInputReceiver(one, text) == (
        {"feature": one}, {"input": text}, None,
    )  # fmt: skip
    assert export.TensorServingInputReceiver(one, {"a": text}).features is one


def test_the_newest_exports_are_kept(tmp_path, monkeypatch):
    seconds = iter(range(100, 200))
    monkeypatch.setattr(saved_model, "_now_s", lambda: next(seconds))
    made = estimators.estimator(tf, str(tmp_path), save_checkpoints_steps=2)
    x = tf.placeholder(tf.float32, [None, 2])
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    latest = tf.estimator.LatestExporter("latest", receiver, exports_to_keep=2)
    metrics, exported = tf.estimator.train_and_evaluate(
        made,
        tf.estimator.TrainSpec(estimators.inputs(tf), max_steps=7),
        tf.estimator.EvalSpec(
            estimators.inputs(tf, 1), exporters=latest, throttle_secs=0
        ),
    )
    assert metrics["global_step"] == 7
    assert exported == [str(tmp_path / "export" / "latest" / "103").encode()]
    names = {path.name for path in (tmp_path / "export" / "latest").iterdir()}
    assert names == {"102", "103"}


def test_datasets_as_input(tmp_path):
    """One predicting iterator that reads a generator builds the model once."""
    made = estimators.estimator(tf, str(tmp_path))
    made.train(
        lambda: tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(3),
        steps=4,
    )
    weights = made.get_variable_value("w")
    rows = [X[:1]]

    def fed():
        while True:
            yield {"x": rows[0]}

    def input_fn():
        kinds, shapes = {"x": tf.float32}, {"x": [None, 2]}
        return tf.data.Dataset.from_generator(fed, kinds, shapes)

    opened = made.predict(input_fn)
    for row in X:
        rows[0] = row[None]
        expected = pytest.approx(float(row @ weights), rel=1e-5, abs=1e-6)
        assert next(opened)["value"] == expected
    opened.close()
    once = tf.estimator.inputs.numpy_input_fn({"x": X}, None, 2, 1, False)
    assert len(list(made.predict(once))) == len(X)


def test_the_coordinator_of_strategies_is_refused():
    with pytest.raises(NotImplementedError, match="experimental_distribute"):
        tf.estimator.RunConfig(experimental_distribute=3)


def test_the_evaluator_of_a_cluster_evaluates(monkeypatch, tmp_path):
    estimators.estimator(tf, str(tmp_path)).train(estimators.inputs(tf), steps=2)
    config = {"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    made = estimators.estimator(tf, str(tmp_path))
    assert made.evaluate(estimators.inputs(tf, 1))["global_step"] == 2
    assert len(list(made.predict(estimators.inputs(tf, 1)))) == len(X)
    with pytest.raises(ValueError, match="train_and_evaluate"):
        made.train(estimators.inputs(tf), steps=1)


def test_inner_modules_of_estimators_have_their_names():
    inner = internals.inner
    parse = inner("estimator.util").parse_input_fn_result
    features, labels, hooks = parse(tf.data.Dataset.from_tensors(({"x": 1.0}, 2.0)))
    hooks[0].begin()
    with tf.Session() as session:
        hooks[0].after_create_session(session, None)
        assert session.run([features, labels]) == [{"x": 1.0}, 2.0]
    assert parse(3.0) == (3.0, None, [])
    with pytest.raises(ValueError, match="len 2 tuple"):
        parse((1, 2, 3))
    gc = inner("estimator.gc")
    paths = [gc.Path(str(i), i) for i in (3, 1, 2)]
    kept = gc._largest_export_versions(2)(paths)
    assert sorted(path.export_version for path in kept) == [2, 3]
    heads = inner("estimator.canned.head")
    made = heads._binary_logistic_head_with_sigmoid_cross_entropy_loss(name="h")
    assert (made.name, made.logits_dimension) == ("h", 1)
    with pytest.raises(AttributeError, match="Keras is not there"):
        _ = inner("keras.optimizer_v2.optimizer_v2").OptimizerV2
    trees = inner("estimator.canned.boosted_trees")
    assert trees._create_regression_head(2).logits_dimension == 2
    assert trees._create_classification_head(2).logits_dimension == 1
    parts = [tf.constant([0.0, 1.0, 2.0]), tf.constant([0, 3])]
    with tf.Session() as session:
        linear = inner("estimator.canned.linear")
        fraction = session.run(linear._compute_fraction_of_zero(parts))
    assert fraction == pytest.approx(0.4)
