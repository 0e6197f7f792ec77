"""Objects of every kind that TensorFlow 1.15 saves with tf.train.Checkpoint.

`python objects.py FOLDER` with the oracle's Python writes the folder of this name: a
checkpoint after a step of training, the values of its variables and the next loss.
tests/lib/files/test_object_checkpoint.py restores it, and gives TensorFlow ours.
"""

import json
import os
import sys


def build(tf):
    """A Checkpoint of layers, an optimizer, cells, tables, lists and dicts."""
    ones = tf.ones_initializer()
    dense = tf.layers.Dense(2, name="den", kernel_initializer=ones)
    normalize = tf.layers.BatchNormalization(name="bn")
    y = normalize(dense(tf.constant([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]])))
    v = tf.Variable([1.0, 2.0], name="v")
    r = tf.get_variable("r", initializer=[3.0, 4.0], use_resource=True)
    loss = tf.reduce_sum(y * v * r + v * v, name="loss")
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(loss, name="train")
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="table")
    table.insert(tf.constant(["a"]), tf.constant([7], tf.int64), name="insert")
    tf.identity(table.export()[1], "content")
    cells = [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.BasicRNNCell(2)]
    cells[1] = tf.nn.rnn_cell.DropoutWrapper(cells[1], 0.5)
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    tf.nn.dynamic_rnn(cell, tf.ones([1, 2, 3]), dtype=tf.float32)
    nested = tf.train.Checkpoint(again=v, table=table)
    checkpoint = tf.train.Checkpoint(
        dense=dense, normalize=normalize, nested=nested, optimizer=optimizer, cell=cell
    )
    checkpoint.items = [v, [r]]
    checkpoint.named = {"b": r, "a.b/c": v, "empty": []}
    checkpoint.number = 3
    return checkpoint


def values(tf, session):
    return {v.op.name: session.run(v).tolist() for v in tf.global_variables()}


def trained(tf, session):
    """The state after a step of training and an insertion."""
    session.run(tf.global_variables_initializer())
    session.run("train")
    inserts = [
        op for op in session.graph.get_operations() if op.type == "LookupTableInsertV2"
    ]
    session.run(inserts)


def main(folder):
    import tensorflow as tf

    os.chdir(folder)
    checkpoint = build(tf)
    with tf.Session() as session:
        trained(tf, session)
        checkpoint.save("objects", session)
        found = {"values": values(tf, session)}
        found["loss"] = float(session.run("loss:0"))
    with open("recorded.json", "w") as file:
        json.dump(found, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
