"""Graphs to place; a script that prints, by real TensorFlow 1.15, where each op goes.

python tests/runtime/placements.py
"""

from __future__ import annotations

from typing import Any


def training(tf: Any) -> list[Any]:
    with tf.device("/cpu:1"):
        w = tf.get_variable("w", [3, 2], initializer=tf.zeros_initializer())
        b = tf.Variable(tf.zeros([2]), name="b")
    x = tf.ones([1, 3])
    with tf.device("/cpu:2"):
        h = tf.nn.relu(tf.matmul(x, w) + b)
    loss = tf.reduce_mean(tf.square(h))
    steps = tf.Variable(0, trainable=False, name="steps")
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    train = optimizer.minimize(
        loss, global_step=steps, colocate_gradients_with_ops=True
    )
    return [train, loss, tf.global_variables_initializer()]


def control_flow(tf: Any) -> list[Any]:
    with tf.device("/cpu:1"):
        i = tf.constant(0)
        r = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [i])
    with tf.device("/cpu:2"):
        c = tf.cond(r > 1, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    return [r, c]


def resources(tf: Any) -> list[Any]:
    with tf.device("/cpu:1"):
        w = tf.get_variable(
            "w", [3, 2], initializer=tf.ones_initializer(), use_resource=True
        )
    with tf.device("/cpu:2"):
        update = w.assign_add(tf.ones([3, 2]), read_value=False)
        y = tf.reduce_sum(w)
        printed = tf.Print(y, [y])
    with tf.device("/cpu:1"):
        lone = tf.constant(5.0, name="lone")
    with tf.colocate_with(w.op):
        beside = tf.identity(lone, name="beside")
    return [update, y, tf.shape(y), beside, printed, w.initializer]


GRAPHS = (training, control_flow, resources)
CPUS = 3


def main() -> None:
    import contextlib
    import sys

    import tensorflow as tf

    for build in GRAPHS:
        print("#", build.__name__, flush=True)
        with tf.Graph().as_default():
            fetches = build(tf)
            config = tf.ConfigProto(
                device_count={"CPU": CPUS}, log_device_placement=True
            )
            not_ready = contextlib.suppress(tf.errors.OpError)
            with tf.Session(config=config) as sess, not_ready:
                sess.run(fetches)  # places them, and may then race with initializers
        sys.stdout.flush()


if __name__ == "__main__":
    main()
