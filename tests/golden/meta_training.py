"""A model that real TensorFlow 1.15 trains, saves and goes on training.

`python meta_training.py OUT.json` writes its MetaGraph, its checkpoint and the losses
of the steps after it.  tests/lib/files/test_meta_training.py takes up the training, and
lets real TensorFlow take up ours.
"""

import base64
import json
import os
import sys
import tempfile
import zlib

STEPS_BEFORE, STEPS_AFTER = 3, 5


def build(tf):
    """A recurrent model: a loop with a branch in it, Adam, a step that decays."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    w = tf.get_variable(
        "w",
        initializer=tf.constant([[0.1, -0.2, 0.3], [0.5, 0.1, 0.0], [0.2, 0, -0.4]]),
    )
    b = tf.get_variable("b", initializer=tf.zeros([3]), use_resource=True)
    step = tf.train.get_or_create_global_step()

    def body(i, state):
        state = tf.tanh(tf.matmul(state, w) + b)
        return i + 1, tf.cond(
            tf.reduce_sum(state) > 0, lambda: state, lambda: state * 0.5
        )

    state = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])[1]
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(state, 1) - y), name="loss")
    rate = tf.train.exponential_decay(0.05, step, 2, 0.9)
    train = tf.train.AdamOptimizer(rate).minimize(loss, step, name="train")
    tf.add_to_collection("train", train)
    tf.add_to_collection("losses of mine", loss)
    tf.global_variables_initializer()
    return tf.train.Saver()


def batch(number):
    """The feeds of a step: numbers that need no random generator."""
    rows = [
        [(7 * number + 3 * i + j) % 11 / 11 - 0.4 for j in range(3)] for i in range(4)
    ]
    return {"x:0": rows, "y:0": [sum(row) for row in rows]}


def train(tf, session, first, count):
    """Losses of steps, by the names that only the MetaGraph holds."""
    [step] = tf.get_collection("train")
    [loss] = tf.get_collection("losses of mine")
    numbers = range(first, first + count)
    return [float(session.run([loss, step], batch(n))[0]) for n in numbers]


def train_and_save(tf, prefix):
    """Train, save, and go on: the later losses."""
    with tf.Graph().as_default():
        saver = build(tf)
        with tf.Session() as session:
            session.run("init")
            train(tf, session, 0, STEPS_BEFORE)
            saver.save(session, prefix)
            return train(tf, session, STEPS_BEFORE, STEPS_AFTER)


def restore_and_train(tf, prefix):
    """Import the MetaGraph, restore the checkpoint, train: the losses."""
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(prefix + ".meta")
        with tf.Session() as session:
            saver.restore(session, prefix)
            return train(tf, session, STEPS_BEFORE, STEPS_AFTER)


def main(path):
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        losses = train_and_save(tf, os.path.join(folder, "model"))
        files = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                data = zlib.compress(file.read(), 9)
            files[name] = base64.b64encode(data).decode()
    with open(path, "w") as file:
        json.dump({"files": files, "losses": losses}, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
