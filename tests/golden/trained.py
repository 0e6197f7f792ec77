"""A model with variables of every kind, trained and saved by TensorFlow 1.15.

`python trained.py FOLDER` with the oracle's Python writes the folder of this name: a
checkpoint after STEPS_BEFORE steps, its MetaGraph, sharded.*, version_1, recorded.json.
tests/lib/files/test_trained.py restores them, and gives TensorFlow ours.
"""

import json
import os
import sys

STEPS_BEFORE, STEPS_AFTER = 3, 3
INTEGERS = "int8 int16 int32 int64 uint8 uint16"
FLOATS = "float16 float32 float64 bfloat16 complex64 complex128"
QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}


def build(tf):
    """A model whose variables are named for their types; [train, loss, Saver]."""
    for name in INTEGERS.split():
        value = tf.constant([1, 2, 100], getattr(tf, name))
        with tf.device("/cpu:0"):
            tf.Variable(value, name=name)
    for name in FLOATS.split():
        dtype = getattr(tf, name)
        tf.Variable(tf.cast(tf.constant([0.5, -2.25]), dtype), name=name)
        tf.get_variable(
            name + "_resource",
            initializer=tf.cast(tf.constant([[1.5]]), dtype),
            use_resource=True,
        )
    for name, base in QUANTIZED.items():
        value = tf.bitcast(tf.constant([3, 100], getattr(tf, base)), getattr(tf, name))
        tf.Variable(value, name=name)
    tf.Variable([True, False], name="bool")
    tf.Variable([[b"a", b""], [b"\x00\xff", b"x" * 200]], name="string")
    tf.Variable(tf.zeros([0, 3]), name="empty")
    tf.Variable(7, name="scalar")
    x = tf.constant([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    init = tf.constant_initializer(0.25)
    parts = tf.fixed_size_partitioner(2)
    w = tf.get_variable("w", [3, 4], initializer=init, partitioner=parts)
    u = tf.get_variable(
        "u", [4, 2], initializer=init, partitioner=parts, use_resource=True
    )
    b = tf.get_variable("b", [2], initializer=init, use_resource=True)
    y = tf.matmul(tf.tanh(tf.matmul(x, w)), u) + b
    loss = tf.reduce_sum(tf.square(y - [[1.0, 2.0], [3.0, 4.0]]), name="loss")
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.05).minimize(loss, step, name="train")
    tf.global_variables_initializer()
    return train, loss, tf.train.Saver()


def train(session, steps):
    """Losses before each of these steps."""
    return [float(session.run(["loss:0", "train"])[0]) for _ in range(steps)]


def values(tf, session):
    """The values of all variables, as text."""
    found = {}
    for variable in tf.global_variables():
        value = session.run(variable)
        found[variable.op.name] = value.tobytes().hex()
        if value.dtype == object:
            found[variable.op.name] = [v.hex() for v in value.reshape(-1)]
    return found


def main(folder):
    import tensorflow as tf

    os.chdir(folder)
    _, _, saver = build(tf)
    with tf.Session() as session:
        session.run("init")
        train(session, STEPS_BEFORE)
        saver.save(session, "./model")
        quiet = {"write_meta_graph": False, "write_state": False}
        tf.train.Saver(sharded=True).save(session, "./sharded", **quiet)
        known = {
            v.op.name: v
            for v in tf.global_variables()
            if v.op.name in ("int64", "float64", "string", "scalar")
        }
        old = tf.train.Saver(known, write_version=tf.train.SaverDef.V1)
        old.save(session, "./version_1", **quiet)
        found = {"values": values(tf, session), "losses": train(session, STEPS_AFTER)}
    with open("recorded.json", "w") as file:
        json.dump(found, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
