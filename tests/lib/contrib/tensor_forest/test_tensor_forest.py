"""Random forests: TensorFlow's graphs and messages, and how well they learn."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import tensor_forests
from tfteach.lib.contrib.tensor_forest import tensor_forest
from tfteach.lib.contrib.tensor_forest.forest_params import ForestHParams
from tfteach.lib.training import resources

GOLDEN = json.loads(Path(tensor_forests.__file__).with_suffix(".json").read_text())
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(600, 4).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32) + (X[:, 1] > 0.5)


@pytest.mark.parametrize(
    "function", tensor_forests.FUNCTIONS, ids=lambda function: function.__name__
)
def test_as_in_tensorflow(function: Callable[[Any], Any]) -> None:
    assert tensor_forests.run(tf, function) == GOLDEN[function.__name__]


class Forest:
    """A forest in a graph and a session of its own."""

    def __init__(self, **options: Any) -> None:
        arguments = {"num_trees": 5, "max_nodes": 60, "split_after_samples": 30}
        params = ForestHParams(
            num_classes=3, num_features=4, **{**arguments, **options}
        ).fill()
        with tf.Graph().as_default() as graph:
            self.x = tf.placeholder(tf.float32, [None, 4])
            self.y = tf.placeholder(tf.int32, [None])
            forest = tensor_forest.RandomForestGraphs(params)
            self.train = forest.training_graph(self.x, self.y, random_seed=3)
            self.loss = forest.training_loss(self.x, self.y)
            self.found = forest.inference_graph(self.x)
            self.importances = (
                forest.feature_importances() if params.bagged_features is None else None
            )
            self.saver = tf.train.Saver(tf.get_collection("saveable_objects"))
            self.init = [
                tf.global_variables_initializer(),
                resources.initialize_resources(resources.shared_resources()),
            ]
        self.session = tf.Session(graph=graph)

    def learn(self, steps: int) -> list[float]:
        """The losses of steps of 100 examples."""
        losses = []
        for step in range(steps):
            rows = slice(step % 5 * 100, step % 5 * 100 + 100)
            feeds = {self.x: X[rows], self.y: Y[rows]}
            losses.append(float(self.session.run([self.train, self.loss], feeds)[1]))
        return losses

    def probabilities(self) -> Any:
        return self.session.run(self.found[0], {self.x: X})


@pytest.mark.parametrize(
    "options",
    [{}, {"bagging_fraction": 0.7}, {"feature_bagging_fraction": 0.75}],
    ids=["all", "bagged examples", "bagged features"],
)
def test_a_forest_learns_and_stops_at_its_size(options: dict[str, Any]) -> None:
    random.seed(4)  # which features a tree may use
    forest = Forest(**options)
    forest.session.run(forest.init)
    losses = forest.learn(25)
    assert losses[0] >= -3
    assert losses == sorted(losses, reverse=True)
    found = forest.probabilities()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    assert (found[500:].argmax(axis=1) == Y[500:]).mean() > 0.85
    assert losses[-1] >= -61  # a tree may exceed the size by one split
    variance = forest.session.run(forest.found[2], {forest.x: X})
    assert variance.shape == found.shape
    assert 0 <= variance.min() < variance.max() < 1


def test_importances_are_those_of_the_features_that_matter() -> None:
    forest = Forest()
    forest.session.run(forest.init)
    forest.learn(10)
    shares = forest.session.run(forest.importances)
    assert shares.sum() == pytest.approx(1)
    assert shares[:2].min() > shares[2:].max()


def test_the_first_split_is_the_one_of_the_smallest_impurity() -> None:
    """One batch, one tree: all candidates have seen nearly all examples."""
    forest = Forest(num_trees=1, split_after_samples=100, num_splits_to_consider=40)
    forest.session.run(forest.init)
    assert forest.learn(2) == [-1.0, -3.0] or forest.learn(1) == [-3.0]
    leaves = forest.probabilities()
    assert len(np.unique(leaves, axis=0)) == 2


def test_a_saver_restores_trees(tmp_path: Path) -> None:
    forest = Forest()
    forest.session.run(forest.init)
    forest.learn(8)
    path = forest.saver.save(forest.session, str(tmp_path / "forest"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names[:2] == ["stats-0:0", "stats-1:0"]
    assert "tree-4:0" in names
    expected = forest.probabilities()
    other = Forest()
    other.session.run(other.init)
    other.saver.restore(other.session, path)
    np.testing.assert_allclose(other.probabilities(), expected, rtol=1e-6)
    assert other.learn(1)[0] <= forest.session.run(forest.loss)
    assert other.learn(5)[-1] < forest.session.run(forest.loss)


def test_seeds_repeat_a_forest() -> None:
    found = []
    for _ in range(2):
        forest = Forest()
        forest.session.run(forest.init)
        forest.learn(5)
        found.append(forest.probabilities())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    "options", [{"model_name": "all_sparse"}, {"split_finish_name": "hoeffding"}]
)
def test_other_trees_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match=next(iter(options))):
        ForestHParams(num_classes=2, num_features=2, **options)


def test_parameters_of_the_depth_are_refused() -> None:
    params = ForestHParams(num_classes=1, num_features=2, split_after_samples="25")
    message = tensor_forest.build_params_proto(params.fill())
    assert message.split_after_samples.constant_value == 25
    params.split_after_samples = "linear { slope: 1 }"
    with pytest.raises(NotImplementedError, match="depend on the depth"):
        tensor_forest.build_params_proto(params)
