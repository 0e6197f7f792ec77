"""Times training steps on request, in tfteach or in a real TensorFlow 1.15.

    python step_worker.py {tfteach,tensorflow} MODEL

Started by busy_machine.py, also with Python 3.7.  Each line on stdin is a number of
seconds; the answer is one line: the JSON list of the steps' times in milliseconds.
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


MODELS = {
    "softmax": softmax_regression,
    "mlp": mlp,
    "char_rnn": char_rnn,
    "lenet": lenet,
}
WARM_UP_STEPS, WARM_UP_S = 40, 1.0  # tfteach compiles meanwhile


def main() -> None:
    package, model = sys.argv[1:]
    tf = importlib.import_module(package)
    loss, optimizer, feeds = MODELS[model](tf)
    train = optimizer.minimize(loss)
    feeds = {t: v.astype(t.dtype.as_numpy_dtype) for t, v in feeds.items()}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        begun, steps = time.perf_counter(), 0
        while steps < WARM_UP_STEPS or time.perf_counter() - begun < WARM_UP_S:
            session.run([loss, train], feeds)
            steps += 1
        print("ready", flush=True)
        for line in sys.stdin:
            times_ms = []
            end = time.perf_counter() + float(line)
            begun = time.perf_counter()
            while begun < end:
                session.run([loss, train], feeds)
                now = time.perf_counter()
                times_ms.append(round((now - begun) * 1e3, 4))
                begun = now
            print(json.dumps(times_ms), flush=True)


if __name__ == "__main__":
    main()
