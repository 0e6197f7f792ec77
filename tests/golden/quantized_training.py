"""Graphs rewritten by tf.contrib.quantize, and losses of training them.

`python -m tests.golden.quantized_training` asks the oracle and writes
quantized_training.json.
"""

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__)
FILE = HERE.with_suffix(".json")
STEPS = 6
TRAINED = "training", "delayed", "few bits", "frozen"


def convnet(tf):
    """Convolutions and dense layers, the last without an activation."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, name="c1")
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.nn.relu6(tf.layers.conv2d(y, 5, 2, name="c2"))
    y = tf.reshape(y, [-1, 20])
    y = tf.layers.dense(y, 7, activation=tf.nn.relu, name="d1")
    return x, tf.layers.dense(y, 3, name="d2")


def bypass(tf):
    """Additions of other layers before and after an activation, and a product."""
    x = tf.placeholder(tf.float32, [None, 6, 6, 4], name="x")
    with tf.variable_scope("block"):
        y = tf.layers.conv2d(x, 4, 3, padding="same", name="c1")
        y = tf.nn.relu(y + x)
        z = tf.layers.conv2d(
            y, 4, 3, padding="same", activation=tf.nn.relu, name="c2", use_bias=False
        )
        y = y + z
    y = tf.reduce_mean(y, [1, 2]) * 2.0
    return x, tf.identity(tf.layers.dense(y, 3, name="d", use_bias=False))


def resources(tf):
    """Products with resource variables and others, sums by `+`."""
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    y = tf.matmul(x, tf.get_variable("w", [6, 5], use_resource=True))
    y = tf.nn.relu(y + tf.get_variable("b", [5])) * tf.constant(0.5)
    return x, tf.matmul(y, tf.get_variable("w2", [5, 3]))


def normalized(tf, training):
    """Convolutions, one of them by channels, with fused batch normalization."""
    x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="x")
    y = tf.layers.conv2d(x, 4, 3, use_bias=False, name="c1")
    y = tf.layers.batch_normalization(y, training=training, name="n1", momentum=0.8)
    y = tf.nn.relu6(y)
    filters = tf.get_variable("d/w", [2, 2, 4, 1])
    y = tf.nn.depthwise_conv2d(y, filters, [1, 1, 1, 1], "SAME", name="d/c")
    y = tf.layers.batch_normalization(y, training=training, name="d/n")
    y = tf.reduce_mean(tf.nn.relu(y), [1, 2])
    return x, tf.layers.dense(y, 3, name="last")


def normalized_training(tf):
    return normalized(tf, True)


def normalized_evaluation(tf):
    return normalized(tf, False)


def unfused(tf, training, **settings):
    """Layers of tf.contrib.layers with batch normalization by several ops."""
    made = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="x")
    settings = dict(fused=False, is_training=training, decay=0.8, **settings)
    with tf.contrib.framework.arg_scope(
        [made.conv2d, made.fully_connected, made.separable_conv2d],
        normalizer_fn=made.batch_norm,
        normalizer_params=settings,
    ), tf.variable_scope("net"):
        y = made.conv2d(x, 4, 3, activation_fn=tf.nn.relu6, scope="c1")
        y = made.separable_conv2d(y, None, 2, 1, scope="d")
        y = made.separable_conv2d(y, None, 2, 1, rate=2, scope="atrous")
        z = made.conv2d(y, 4, 3, activation_fn=None, scope="block/c2")
        with tf.name_scope("net/block/"):  # `z + y` would be named otherwise
            y = tf.nn.relu(tf.add(z, y, name="AddV2"))
        y = made.fully_connected(tf.reduce_mean(y, [1, 2]), 5, scope="f")
    return x, tf.layers.dense(y, 3, name="last")


def unfused_training(tf):
    return unfused(tf, True)


def unfused_scaled(tf):
    return unfused(tf, True, scale=True)


def unfused_evaluation(tf):
    return unfused(tf, False, scale=True)


def unfused_sum(tf):
    """What reads a normalization has no name that is looked for."""
    x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="x")
    settings = {"fused": False}
    y = tf.contrib.layers.conv2d(
        x, 4, 3, activation_fn=None, normalizer_params=settings, scope="c",
        normalizer_fn=tf.contrib.layers.batch_norm,
    )  # fmt: skip
    return x, y + 1.0


def dilated(tf):
    """A dilated convolution by channels with fused batch normalization."""
    x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="x")
    filters = tf.get_variable("d/w", [2, 2, 3, 1])
    y = tf.nn.depthwise_conv2d(x, filters, [1] * 4, "SAME", (2, 2), name="d/c")
    y = tf.nn.relu(tf.layers.batch_normalization(y, training=True, name="d/n"))
    return x, tf.layers.dense(tf.reduce_mean(y, [1, 2]), 3, name="last")


NETWORKS = [
    convnet,
    bypass,
    resources,
    normalized_training,
    normalized_evaluation,
    unfused_training,
    unfused_scaled,
    unfused_evaluation,
    unfused_sum,
    dilated,
]


def rewrites(tf):
    """name -> function that rewrites the default graph."""
    made = tf.contrib.quantize
    return {
        "training": made.create_training_graph,
        "delayed": lambda: made.create_training_graph(quant_delay=3),
        "evaluation": made.create_eval_graph,
        "few bits": lambda: made.experimental_create_training_graph(
            weight_bits=4, activation_bits=6, symmetric=True
        ),
        "frozen": lambda: made.experimental_create_training_graph(
            quant_delay=4, freeze_bn_delay=3
        ),
        "part": lambda: made.experimental_create_eval_graph(scope="block"),
    }


def rewritten(tf, network, rewrite):
    """The number and the checksum of all nodes, and some of them in words."""
    with tf.Graph().as_default() as graph:
        network(tf)
        try:
            rewrite()
        except Exception as error:  # names that the rewriting looks for
            return [type(error).__name__, str(error)]
        lines = [
            " ".join([op.name, op.type, *[t.name for t in op.inputs],
                      *sorted("^" + c.name for c in op.control_inputs)])
            for op in graph.get_operations()
        ]  # fmt: skip
        lines += [v.name for v in tf.global_variables()]
    shown = [line for line in lines if "FakeQuant" in line or "/Merge" in line]
    return [len(lines), zlib.crc32("\n".join(lines).encode()), shown]


def losses(tf, network, rewrite):
    """The losses of some steps, from weights that a formula gives."""
    with tf.Graph().as_default():
        x, y = network(tf)
        weights = tf.trainable_variables()
        rewrite()
        loss = tf.reduce_mean(tf.squared_difference(y, 0.3))
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
        size = [4] + [int(n) for n in x.shape[1:]]
        batch = np.cos(np.arange(np.prod(size))).reshape(size).astype(np.float32)
        found = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for i, variable in enumerate(weights):
                n = int(np.prod(variable.shape.as_list()))
                numbers = 0.3 * np.sin(np.arange(n) + i)
                value = numbers.reshape(variable.shape.as_list()).astype(np.float32)
                variable.load(value, session)
            for _ in range(STEPS):
                found.append(float(session.run([loss, train], {x: batch})[0]))
                session.run(updates, {x: batch})  # together they would race
        return found


def answers(tf):
    found = {}
    for network in NETWORKS:
        for name, rewrite in rewrites(tf).items():
            key = f"{network.__name__} {name}"
            found[key] = rewritten(tf, network, rewrite)
            if name in TRAINED and len(found[key]) == 3:
                found[key].append(losses(tf, network, rewrite))
    return found


def answer(path):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    Path(path).write_text(json.dumps(answers(tf), indent=0) + "\n")


def main():
    from tests.conftest import find_oracle

    python = find_oracle()
    assert python, "no TensorFlow 1.15: set TFTEACH_ORACLE"
    subprocess.run([python, str(HERE), str(FILE)], check=True)


if __name__ == "__main__":
    answer(*sys.argv[1:]) if len(sys.argv) > 1 else main()
