"""Times training steps on request, in tfteach or in a real TensorFlow 1.15.

    python step_worker.py {tfteach,tensorflow} MODEL {cold,warm}

Started by busy_machine.py, also with Python 3.7.  Each line on stdin says how long to
train: `seconds 2.5` or `steps 100`.  The answer is one line: the JSON list of the
steps' times in milliseconds.  A `warm` process has trained before it says `ready`.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

import numpy as np

BATCH = 128
CHARACTERS, HIDDEN, SEQUENCE = 98, 200, 50


def dense(tf: Any, x: Any, size: int) -> Any:
    shape = [int(x.shape[1]), size]
    weights = tf.Variable(tf.random_normal(shape, stddev=0.1))
    return tf.matmul(x, weights) + tf.Variable(tf.zeros([size]))


def mean_loss(tf: Any, labels: Any, logits: Any) -> Any:
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def digits(tf: Any) -> Any:
    """Placeholders for images and labels, and what to feed."""
    random = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.float32, [None, 10])
    labels = np.eye(10)[random.randint(0, 10, BATCH)]
    return x, y, {x: random.rand(BATCH, 784), y: labels}


def softmax_regression(tf: Any) -> Any:
    x, y, feeds = digits(tf)
    loss = mean_loss(tf, y, dense(tf, x, 10))
    return loss, tf.train.GradientDescentOptimizer(0.5), feeds


def mlp(tf: Any) -> Any:
    x, y, feeds = digits(tf)
    hidden = tf.nn.relu(dense(tf, tf.nn.relu(dense(tf, x, 256)), 256))
    loss = mean_loss(tf, y, dense(tf, hidden, 10))
    return loss, tf.train.AdamOptimizer(0.001), feeds


def char_rnn(tf: Any) -> Any:
    random = np.random.RandomState(0)
    sequences = tf.placeholder(tf.int32, [None, SEQUENCE])
    x = tf.one_hot(sequences, CHARACTERS)
    cell = tf.nn.rnn_cell.GRUCell(HIDDEN)
    output, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    logits = dense(tf, tf.reshape(output, [-1, HIDDEN]), CHARACTERS)
    logits = tf.reshape(logits, [-1, SEQUENCE, CHARACTERS])
    loss = mean_loss(tf, x[:, 1:], logits[:, :-1])
    feeds = {sequences: random.randint(0, CHARACTERS, (64, SEQUENCE))}
    return loss, tf.train.AdamOptimizer(0.001), feeds


def lenet(tf: Any) -> Any:
    x, y, feeds = digits(tf)
    images = tf.reshape(x, [-1, 28, 28, 1])
    for inputs, outputs in ((1, 32), (32, 64)):
        filters = tf.Variable(tf.random_normal([5, 5, inputs, outputs], stddev=0.1))
        images = tf.nn.conv2d(images, filters, [1, 1, 1, 1], "SAME")
        images = tf.nn.relu(tf.nn.bias_add(images, tf.Variable(tf.zeros([outputs]))))
        images = tf.nn.max_pool(images, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    hidden = tf.nn.relu(dense(tf, tf.reshape(images, [-1, 7 * 7 * 64]), 1024))
    loss = mean_loss(tf, y, dense(tf, hidden, 10))
    return loss, tf.train.AdamOptimizer(0.001), feeds


def linear(tf: Any) -> Any:
    random = np.random.RandomState(0)
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    loss = tf.reduce_mean(tf.square(y - tf.Variable(0.0) * x))
    feeds = {x: random.rand(100), y: random.rand(100)}
    return loss, tf.train.GradientDescentOptimizer(0.01), feeds


def word2vec(tf: Any) -> Any:
    random = np.random.RandomState(0)
    words, size, batch = 50000, 128, 128
    center = tf.placeholder(tf.int32, [batch])
    target = tf.placeholder(tf.int32, [batch, 1])
    embedding = tf.Variable(tf.random_uniform([words, size], -1.0, 1.0))
    losses = tf.nn.nce_loss(
        weights=tf.Variable(tf.truncated_normal([words, size], stddev=0.1)),
        biases=tf.Variable(tf.zeros([words])),
        labels=target,
        inputs=tf.nn.embedding_lookup(embedding, center),
        num_sampled=64,
        num_classes=words,
    )
    feeds = {
        center: random.randint(0, words, batch),
        target: random.randint(0, words, (batch, 1)),
    }
    return tf.reduce_mean(losses), tf.train.GradientDescentOptimizer(1.0), feeds


def autoencoder(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 784])
    hidden = x
    for size in (256, 128, 256, 784):
        hidden = tf.nn.sigmoid(dense(tf, hidden, size))
    loss = tf.reduce_mean(tf.pow(x - hidden, 2))
    feeds = {x: np.random.RandomState(0).rand(256, 784)}
    return loss, tf.train.RMSPropOptimizer(0.01), feeds


MODELS = {
    "linear": linear,
    "softmax": softmax_regression,
    "mlp": mlp,
    "char_rnn": char_rnn,
    "lenet": lenet,
    "word2vec": word2vec,
    "autoencoder": autoencoder,
}
WARM_UP_STEPS, WARM_UP_S = 40, 1.0  # tfteach compiles meanwhile


def train_for(step: Any, amount: str, limit: float) -> Any:
    """The times in milliseconds of so many seconds or steps of training."""
    times_ms = []
    first = begun = time.perf_counter()
    while (begun - first if amount == "seconds" else len(times_ms)) < limit:
        step()
        now = time.perf_counter()
        times_ms.append(round((now - begun) * 1e3, 4))
        begun = now
    return times_ms


def main() -> None:
    package, model, start = sys.argv[1:]
    tf = importlib.import_module(package)
    loss, optimizer, feeds = MODELS[model](tf)
    train = optimizer.minimize(loss)
    feeds = {t: v.astype(t.dtype.as_numpy_dtype) for t, v in feeds.items()}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def step() -> None:
            session.run([loss, train], feeds)

        if start == "warm":
            train_for(step, "steps", WARM_UP_STEPS)
            train_for(step, "seconds", WARM_UP_S)
        print("ready", flush=True)
        for line in sys.stdin:
            amount, limit = line.split()
            print(json.dumps(train_for(step, amount, float(limit))), flush=True)


if __name__ == "__main__":
    main()
