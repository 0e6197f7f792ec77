"""Estimators in replicas: values that TensorFlow 1.15 printed."""

import numpy as np
import pytest

import tfteach as tf

X = np.random.RandomState(0).randn(64, 3).astype(np.float32)
Y = X.dot([1.0, 2.0, 3.0]).astype(np.float32)
CPUS = ["/cpu:0", "/cpu:1"]


def model_fn(features, labels, mode):
    hidden = tf.layers.batch_normalization(
        features["x"], training=mode == "train", momentum=0.5
    )
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    predicted = tf.tensordot(hidden, w, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predicted)
    loss = tf.losses.mean_squared_error(labels, predicted)
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer.minimize(loss, tf.train.get_global_step())
    error = tf.metrics.mean_absolute_error(labels, predicted)
    return tf.estimator.EstimatorSpec(
        mode, predicted, loss, train, eval_metric_ops={"error": error}
    )


def input_fn(input_context=None):
    size = 8 if input_context is None else input_context.get_per_replica_batch_size(16)
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return data.repeat().batch(size)


def eval_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(64)


def estimator(folder, strategy, model=model_fn):
    config = tf.estimator.RunConfig(
        str(folder),
        train_distribute=strategy,
        session_config=tf.ConfigProto(device_count={"CPU": 2}),
        save_summary_steps=2,
    )
    return tf.estimator.Estimator(model, config=config)


def test_two_replicas_train(tmp_path):
    made = estimator(tmp_path, tf.distribute.MirroredStrategy(CPUS))
    made.train(input_fn, steps=6)
    assert made.get_variable_value("global_step") == 6
    for name, expected in {
        "w": [0.8023878932, 1.2694933414, 1.4327216148],
        "batch_normalization/moving_mean": [0.0856281593, 0.116426751, -0.2308964133],
        "batch_normalization/moving_variance": [0.85186106, 0.824761033, 0.7486851215],
    }.items():
        found = made.get_variable_value(name).tolist()
        assert found == pytest.approx(expected, rel=1e-5), name
    made.train(input_fn, max_steps=8)  # restores all copies
    results = made.evaluate(eval_fn)
    assert results["loss"] == pytest.approx(4.410267353, rel=1e-5)
    assert results["error"] == pytest.approx(1.672608852, rel=1e-5)
    assert len(list(made.predict(eval_fn))) == len(X)


@pytest.mark.parametrize(
    ("make", "size", "steps", "loss", "error"),
    [
        (
            lambda: tf.distribute.MirroredStrategy(CPUS),
            16,
            None,
            5.042655468,
            1.810668230,
        ),
        (
            lambda: tf.distribute.MirroredStrategy(CPUS),
            24,
            None,
            5.157920837,
            1.802915931,
        ),
        (lambda: tf.distribute.MirroredStrategy(CPUS), 8, 2, 4.878399849, 1.723478556),
        (
            lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
            8,
            2,
            5.827396870,
            1.709527493,
        ),
    ],
)
def test_replicas_evaluate(tmp_path, make, size, steps, loss, error):
    """Of three batches for two replicas the last is dropped, in TF by chance."""
    config = tf.estimator.RunConfig(
        str(tmp_path),
        eval_distribute=make(),
        session_config=tf.ConfigProto(device_count={"CPU": 2}),
    )
    made = tf.estimator.Estimator(model_fn, config=config)
    data = {"x": X}, Y
    found = made.evaluate(
        lambda: tf.data.Dataset.from_tensor_slices(data).batch(size), steps
    )
    expected = {"loss": loss, "error": error, "global_step": 0}
    assert found == pytest.approx(expected, rel=1e-5)


def test_evaluating_in_memory_needs_one_device(tmp_path):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    config = tf.estimator.RunConfig(str(tmp_path), eval_distribute=strategy)
    made = tf.estimator.Estimator(model_fn, config=config)
    with pytest.raises(NotImplementedError, match="leave eval_distribute out"):
        tf.estimator.experimental.InMemoryEvaluatorHook(made, eval_fn)


def test_one_replica_trains(tmp_path):
    made = estimator(tmp_path, tf.distribute.OneDeviceStrategy("/cpu:0"))

    made.train(lambda: input_fn(), steps=6)
    found = made.get_variable_value("w").tolist()
    assert found == pytest.approx([0.6114124656, 0.962413013, 1.3576401472], rel=1e-5)


@pytest.mark.parametrize(("reduction", "scale"), [("weighted_sum", 1), (None, 2)])
def test_the_gradients_of_means_are_scaled(tmp_path, reduction, scale):
    """The sum of the replicas' gradients is that of the whole batch's loss."""

    def model(features, labels, mode):
        w = tf.get_variable("w", initializer=0.0)
        losses = w * features
        if reduction is None:
            loss = tf.reduce_mean(losses)
        else:
            loss = tf.losses.compute_weighted_loss(losses, reduction=reduction)
        sgd = tf.train.GradientDescentOptimizer(1.0)
        step = tf.train.get_global_step()
        return tf.estimator.EstimatorSpec(mode, losses, loss, sgd.minimize(loss, step))

    made = estimator(tmp_path, tf.distribute.MirroredStrategy(CPUS), model)
    made.train(lambda: tf.data.Dataset.from_tensors([3.0]).repeat(2), steps=1)
    assert made.get_variable_value("w") == -3.0 * 2 / scale


def test_scaffolds_of_replicas(tmp_path):
    called = []

    def trained(make):
        def model(features, labels, mode):
            w = tf.get_variable("w", initializer=2.0)
            train = tf.train.GradientDescentOptimizer(1.0).minimize(
                w * w, tf.train.get_global_step()
            )
            return tf.estimator.EstimatorSpec(
                mode, w * w, w * w, train, scaffold=make(w)
            )

        strategy = tf.distribute.MirroredStrategy(CPUS)
        made = estimator(tmp_path / str(len(called)), strategy, model)
        made.train(lambda: tf.data.Dataset.from_tensors([3.0]).repeat(2), steps=1)
        return made.get_variable_value("w")

    def record(scaffold, session):
        called.append(session)

    assert trained(lambda w: tf.train.Scaffold(init_fn=record)) == -2.0
    assert len(called) == 1
    with pytest.raises(
        NotImplementedError, match=r"Scaffold\(ready_op=\.\.\.\) in a mo"
    ):
        trained(lambda w: tf.train.Scaffold(ready_op=tf.constant([], tf.string)))


def test_inputs_must_be_datasets(tmp_path):
    made = estimator(tmp_path, tf.distribute.MirroredStrategy(CPUS))
    with pytest.raises(ValueError, match=r"input_fn must return a tf\.data\.Dataset"):
        made.train(lambda: (X, Y), steps=1)
