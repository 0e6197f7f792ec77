"""Refused names of tf.estimator and tf.contrib.estimator, and what they say."""

import pytest

import tfteach as tf

CONTRIB = [
    "DNNClassifierWithLayerAnnotations", "DNNRegressorWithLayerAnnotations",
    "TowerOptimizer",
    "replicate_model_fn",
]  # fmt: skip


def test_metrics_of_keras_are_refused():
    head = tf.estimator.BinaryClassHead()
    for call in (head.metrics, head.update_metrics):
        with pytest.raises(NotImplementedError, match="eval_metric_ops"):
            call()


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
