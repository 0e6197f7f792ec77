"""Refused names of tf.estimator and tf.contrib.estimator, and what they say."""

import pytest

import tfteach as tf

HEADS = [
    "Head", "RegressionHead", "LogisticRegressionHead", "PoissonRegressionHead",
    "BinaryClassHead", "MultiClassHead", "MultiLabelHead", "MultiHead",
]  # fmt: skip
CONTRIB = [
    "DNNClassifierWithLayerAnnotations", "DNNRegressorWithLayerAnnotations",
    "RNNClassifier", "RNNEstimator", "SavedModelEstimator", "TowerOptimizer",
    "replicate_model_fn",
]  # fmt: skip


@pytest.mark.parametrize("name", HEADS)
def test_heads_of_keras_name_those_that_exist(name):
    with pytest.raises(NotImplementedError, match=rf"tf.estimator.{name}: ") as info:
        getattr(tf.estimator, name)(3)
    instead = str(info.value).split("tf.contrib.estimator.")
    if name != "Head":
        assert callable(getattr(tf.contrib.estimator, instead[1]))


@pytest.mark.parametrize("name", CONTRIB)
def test_contrib_refuses_by_name(name):
    with pytest.raises(NotImplementedError, match=rf"tf.contrib.estimator.{name}: "):
        getattr(tf.contrib.estimator, name)(3)


def test_dual_coordinate_ascent():
    with pytest.raises(NotImplementedError, match=r"experimental.LinearSDCA: use"):
        tf.estimator.experimental.LinearSDCA("id")


def test_heads_of_several_need_names():
    with pytest.raises(ValueError, match=r"must have name specified. Given: <"):
        tf.contrib.estimator.multi_head([tf.contrib.estimator.regression_head()])
