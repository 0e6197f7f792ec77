"""Estimators of random forests: TensorFlow's graphs, and how well they learn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import random_forests, training_loops
from tests.lib.contrib.learn.test_contrib_learn import alike
from tfteach.lib.contrib.tensor_forest import random_forest, tensor_forest
from tfteach.lib.contrib.tensor_forest.forest_params import ForestHParams

FILE = Path(random_forests.__file__).with_suffix(".json")
RECORDED = json.loads(FILE.read_text())
RANDOM = np.random.RandomState(0)
X = RANDOM.rand(120, 4).astype(np.float32)
CLASSES = (X[:, 0] > 0.5).astype(np.int32) + (X[:, 1] > 0.6)


@pytest.mark.parametrize("program", random_forests.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_tensorflow(program: Callable[[Any, str], Any]) -> None:
    found = training_loops.run(tf, program)
    for key, value in RECORDED[program.__name__].items():
        if key != "log" and not alike(found[key], value):
            assert found[key] == value, key


def forest(**options: Any) -> ForestHParams:
    arguments = {"num_classes": 3, "num_features": 4, "num_trees": 4}
    arguments |= {"max_nodes": 200, "split_after_samples": 20, "base_random_seed": 5}
    return ForestHParams(**{**arguments, **options}).fill()


def input_fn(labels: Any) -> Callable[[], Any]:
    return lambda: ({"x": tf.constant(X)}, tf.constant(labels))


def once() -> Any:
    return {"x": tf.train.limit_epochs(tf.constant(X[:30]), 1)}, None


@pytest.mark.parametrize("is_core", [False, True])
def test_a_forest_learns_classes(is_core: bool) -> None:
    tf.reset_default_graph()
    params, data = forest(inference_tree_paths=True), input_fn(CLASSES)
    made: Any
    if is_core:
        made = random_forest.CoreTensorForestEstimator(params)
        made.train(data, steps=40)
    else:
        made = random_forest.TensorForestEstimator(params)
        made.fit(input_fn=data, steps=40)
    found = made.evaluate(input_fn=data, steps=1)
    assert found["accuracy"] > 0.97
    assert found["loss"] == pytest.approx(0.55, abs=0.05)  # softmax of probabilities
    predictions = list(made.predict(input_fn=once))
    assert len(predictions) == 30
    for prediction in predictions:
        assert prediction["tree_paths"].shape == (4,)
        assert prediction["prediction_variance"].shape == (3,)


def test_a_forest_learns_numbers() -> None:
    tf.reset_default_graph()
    numbers = 3 * X[:, 0] + X[:, 2] ** 2
    made = random_forest.TensorForestEstimator(
        forest(num_classes=1, regression=True), early_stopping_rounds=None
    )
    made.fit(input_fn=input_fn(numbers), steps=60)
    found = [prediction["scores"] for prediction in made.predict(input_fn=once)]
    assert np.abs(np.ravel(found) - numbers[:30]).mean() < 0.1
    assert made.evaluate(input_fn=input_fn(numbers), steps=1)["loss"] < 0.05


def test_a_forest_of_sparse_features_learns() -> None:
    """Only the first 2 of 1000 features, which are mostly 0, matter."""
    tf.reset_default_graph()
    random = np.random.RandomState(3)
    rows = np.repeat(np.arange(200), 3)
    columns = random.randint(2, 1000, 600)
    columns[::3] = np.arange(200) % 2
    order = np.lexsort((columns, rows))
    indices = np.stack([rows, columns], 1)[order]

    labels = np.arange(200) % 2
    params = forest(
        num_classes=2, num_features=1000, num_splits_to_consider=20, num_trees=2,
        split_name="less",
    )  # fmt: skip
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.SparseTensor(indices, np.ones(600, np.float32), [200, 1000])
        made = tensor_forest.RandomForestGraphs(params)
        train = made.training_graph(data, labels)
        probabilities = made.inference_graph(data)[0]
        session.run(tf.global_variables_initializer())
        session.run([resource.create for resource in tf.get_collection("resources")])
        for _ in range(10):
            session.run(train)
        found = session.run(probabilities).argmax(axis=1)
    assert (found == labels).mean() > 0.9


def test_training_ends_early_and_importances_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tf.reset_default_graph()
    made = random_forest.CoreTensorForestEstimator(
        forest(),
        early_stopping_rounds=2,
        early_stopping_loss_threshold=0.3,
        report_feature_importances=True,
    )
    with caplog.at_level("INFO", "tensorflow"):
        made.train(input_fn(CLASSES), steps=50)
    assert made.get_variable_value("global_step") <= 12
    lines = [record.getMessage() for record in caplog.records]
    assert "TensorForestLossHook requesting stop." in lines
    (line,) = (line for line in lines if line.startswith("1: feature_importances: ["))
    first, second, *others = map(float, line.partition("[")[2].rstrip("]").split())
    assert min(first, second) > max(others)


@pytest.mark.parametrize(
    "options",
    [{"device_assigner": object()}, {"local_eval": True}, {"version": "1"}],
    ids=lambda options: next(iter(options)),
)
def test_refused_arguments(options: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match=next(iter(options))):
        random_forest.TensorForestEstimator(forest(), **options)


@pytest.mark.parametrize(
    ("features", "error"),
    [
        (lambda: tf.constant([["a"]]), TypeError),
        (lambda: {"x": tf.constant([["a"]])}, NotImplementedError),
        (lambda: tf.constant([[True]]), KeyError),
        (lambda: tf.constant([1.0]), IndexError),
        (lambda: tf.placeholder(tf.float32, [None, None]), TypeError),
        (lambda: {"x": tf.sparse_placeholder(tf.float32, [4, 4])}, ValueError),
    ],
    ids=range(6),
)
def test_refused_features(features: Any, error: type[Exception]) -> None:
    with tf.Graph().as_default():
        made = tensor_forest.RandomForestGraphs(forest(num_trees=1))
        given = features()
        with pytest.raises(error):
            made.inference_graph(given)


def test_forests_of_several_labels_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="TensorForestEstimator"):
        random_forest.MultiForestMultiHeadEstimator([forest()])
