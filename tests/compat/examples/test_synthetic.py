"""Drawn digits: the same for a seed, like MNIST's, and learnable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tfteach.compat.examples import synthetic_mnist, write_synthetic_mnist
from tfteach.compat.examples.tutorials.mnist import input_data, mnist


def test_shapes_and_kinds() -> None:
    data = synthetic_mnist(60, 20, 40, one_hot=True)
    assert [part.num_examples for part in data] == [60, 20, 40]
    assert data.train.images.shape == (60, 784)
    assert data.train.images.dtype == np.float32
    np.testing.assert_array_equal(data.test.labels.sum(0), np.full(10, 4.0))
    images = synthetic_mnist(20, 0, 10, dtype=tf.uint8, reshape=False).train.images
    assert (images.shape, images.dtype) == ((20, 28, 28, 1), np.uint8)
    # Digits in the middle, ink as in MNIST (its mean is 0.13), an empty border.
    assert 0.08 < images.mean() / 255 < 0.18
    assert images.max(axis=(1, 2, 3)).min() > 180
    assert images[:, [0, -1]].mean() < 5
    assert tf.examples.synthetic_mnist is synthetic_mnist


def test_a_seed_gives_the_same_digits() -> None:
    first, again, other = (synthetic_mnist(20, 5, 5, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.train.images, again.train.images)
    assert not np.array_equal(first.train.images, other.train.images)
    assert len(np.unique(first.train.images, axis=0)) == 20
    clean = synthetic_mnist(20, 0, 0, noise=0.0).train.images.reshape(-1, 28, 28)
    assert clean[:, 0].max() == 0.0


def test_sizes_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="test_size is -1, expected 0 or more"):
        synthetic_mnist(test_size=-1)


def test_files_that_scripts_read(tmp_path: Path) -> None:
    write_synthetic_mnist(tmp_path / "MNIST_data", 30, 10, seed=3)
    data = input_data.read_data_sets(
        str(tmp_path / "MNIST_data"), one_hot=True, validation_size=10
    )
    assert [part.num_examples for part in data] == [20, 10, 10]
    assert data.train.images.shape == (20, 784)
    with pytest.raises(FileExistsError, match="may be the real MNIST"):
        write_synthetic_mnist(tmp_path / "MNIST_data")


def test_a_small_network_learns_them() -> None:
    data = synthetic_mnist(2000, 0, 500, one_hot=True)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        images = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.float32, [None, 10])
        w1 = tf.Variable(tf.truncated_normal([784, 100], stddev=0.05))
        w2 = tf.Variable(tf.truncated_normal([100, 10], stddev=0.1))
        logits = tf.matmul(tf.nn.relu(tf.matmul(images, w1)), w2)
        loss = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
        )
        train = tf.train.AdamOptimizer(0.003).minimize(loss)
        right = tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(200):
                x, y = data.train.next_batch(50)
                sess.run(train, {images: x, labels: y})
            test = {images: data.test.images, labels: data.test.labels}
            assert sess.run(accuracy, test) > 0.95


def test_the_tutorials_network() -> None:
    data = synthetic_mnist(600, 0, 200)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.set_random_seed(1)
        images = tf.placeholder(tf.float32, [None, mnist.IMAGE_PIXELS])
        labels = tf.placeholder(tf.int32, [None])
        logits = mnist.inference(images, 64, 32)
        train = mnist.training(mnist.loss(logits, labels), 0.3)
        right = mnist.evaluation(logits, labels)
        assert [v.name for v in tf.trainable_variables()] == [
            f"{scope}/{name}:0"
            for scope in ("hidden1", "hidden2", "softmax_linear")
            for name in ("weights", "biases")
        ]
        assert graph.get_tensor_by_name("softmax_linear/add:0") is logits
        sess.run(tf.global_variables_initializer())
        for _ in range(150):
            x, y = data.train.next_batch(50)
            sess.run(train, {images: x, labels: y})
        test = {images: data.test.images, labels: data.test.labels}
        assert sess.run(right, test) > 170
