"""Nodes of Savers from real TensorFlow 1.15: `python savers.py savers.json`.

Each function builds a graph and returns its Savers; the file has the GraphDef (zlib,
base64) and the SaverDefs as text.  tests/lib/files/test_saver_nodes.py compares.
"""

import base64
import json
import os
import re
import sys
import zlib

FOLDER = os.path.dirname(os.path.abspath(__file__))


def _variables(tf):
    ones = tf.ones_initializer()
    parts = tf.fixed_size_partitioner(2)
    with tf.device("/cpu:0"):
        tf.Variable([1.0, 2.0], name="v")
    with tf.device("/job:localhost/task:0/gpu:1"):
        tf.get_variable("r", [2], initializer=ones, use_resource=True)
        tf.Variable(b"text", name="s")
    tf.get_variable("p", [4, 2], initializer=ones, partitioner=parts)
    tf.get_variable("q", [4], initializer=ones, partitioner=parts, use_resource=True)
    any_shape = tf.placeholder_with_default([1.0, 2.0], [None])
    tf.Variable(any_shape, validate_shape=False, name="free")


def plain(tf):
    _variables(tf)
    return [tf.train.Saver(), tf.train.Saver(max_to_keep=None)]


def sharded(tf):
    _variables(tf)
    return [tf.train.Saver(sharded=True, restore_sequentially=True)]


def version_1(tf):
    _variables(tf)
    version = tf.train.SaverDef.V1
    one = tf.train.Saver(write_version=version, keep_checkpoint_every_n_hours=0.5)
    return [one, tf.train.Saver(write_version=version, sharded=True, name="several")]


def reshaped(tf):
    _variables(tf)
    return [tf.train.Saver(reshape=True), tf.train.Saver(reshape=True, sharded=True)]


def lists_and_dicts(tf):
    ones = tf.ones_initializer()
    v = tf.Variable([1.0], name="v")
    r = tf.get_variable("r", [2], initializer=ones, use_resource=True)
    parts = tf.fixed_size_partitioner(2)
    p = tf.get_variable("p", [4], initializer=ones, partitioner=parts)
    q = tf.get_variable(
        "q", [4], initializer=ones, partitioner=parts, use_resource=True
    )
    savers = [
        tf.train.Saver([p, q, v]),
        tf.train.Saver([*q, *p, r]),
        tf.train.Saver({"a/b": p, "z": list(q), "m": v, "n": r}, filename="file"),
        tf.train.Saver({"part": next(iter(p)), "reading": r}),
        tf.train.Saver([v._as_graph_element(), r.value()]),
        tf.train.Saver((v,), name="outer/inner"),
        tf.train.Saver({r, v}),
    ]
    with tf.name_scope("scope"), tf.device("/job:localhost"):
        savers.append(tf.train.Saver())
    return savers


def tables(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="table")
    tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 1.0], name="rows")
    tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, 0, checkpoint=False)
    v = tf.Variable(1.0, name="v")
    return [tf.train.Saver(), tf.train.Saver([table, v], sharded=True)]


def _builders():
    from tensorflow.python.training import saver

    return saver


def builders(tf):
    base = _builders().BaseSaverBuilder

    class Doubled(base.SaveableObject):
        def __init__(self, variable, name):
            specs = [
                base.SaveSpec(variable * 2.0, "", name + "/double"),
                base.SaveSpec(
                    lambda: -variable.read_value(), "", name + "/negative",
                    dtype=tf.float32, device="/cpu:0",
                ),
            ]  # fmt: skip
            super().__init__(variable, specs, name)

        def restore(self, restored_tensors, restored_shapes):
            return self.op.assign(restored_tensors[0] / 2.0)

    with tf.device("/cpu:0"):
        v = tf.Variable([1.0, 2.0], name="v")
        w = tf.Variable(3, name="w")
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, Doubled(v, "doubled"))
    return [
        tf.train.Saver([Doubled(v, "d"), w]),
        tf.train.Saver({"w": w, "x": Doubled(v, "e")}, builder=base()),
        tf.train.Saver(builder=base(tf.train.SaverDef.V1), sharded=True),
    ]


def kept_partitions(tf):
    parts = tf.fixed_size_partitioner(2)
    with tf.variable_scope("scope"):
        p = tf.get_variable("p", [4], partitioner=parts)
    tf.add_to_collection("mine", p)
    return [tf.train.Saver()]


def initial_values(tf):
    parts = tf.fixed_size_partitioner(2)
    with tf.variable_scope("mine"):
        part = tf.get_variable("part", [6, 2], partitioner=parts)
        whole = tf.get_variable("whole", [6, 2], use_resource=True)
        with tf.device("/gpu:0"):
            scalar = tf.get_variable("scalar", [], tf.float64)
        other = tf.get_variable("x", [6, 2], partitioner=parts, use_resource=True)
    with tf.variable_scope("all"):
        tf.get_variable("int", [2, 1], tf.int64)
        tf.get_variable("part", [6, 2], partitioner=parts)
    load = tf.train.init_from_checkpoint
    load(ALL, {"part": "mine/part", "scalar": scalar})
    load(ALL, {"/": "all/"})
    load(ALL, {"part": list(other)})
    load(ALL, {"part": whole})
    assert part.shape == whole.shape
    tf.global_variables_initializer()
    return []


# Relative to this folder, which is the current one while graphs are built.
ALL = "checkpoints/all"


GRAPHS = [
    plain,
    sharded,
    version_1,
    reshaped,
    lists_and_dicts,
    tables,
    builders,
    kept_partitions,
    initial_values,
]


def build(tf, function):
    """The GraphDef, where scratch directories have the same random number."""
    os.chdir(FOLDER)
    with tf.Graph().as_default() as graph:
        savers = function(tf)
        graph_def = graph.as_graph_def()
    for node in graph_def.node:
        for text in node.attr["value"].tensor.string_val if node.op == "Const" else ():
            if re.fullmatch(b"_temp_[0-9a-f]{32}/part", text):
                node.attr["value"].tensor.string_val[:] = [b"_temp_0/part"]
        if "value" in node.attr and not node.attr["value"].ByteSize():
            del node.attr["value"]
    return graph_def, [str(saver.as_saver_def()) for saver in savers]


def main(path):
    import tensorflow as tf

    path = os.path.abspath(path)

    rows = {}
    for function in GRAPHS:
        graph_def, savers = build(tf, function)
        data = base64.b64encode(zlib.compress(graph_def.SerializeToString()))
        rows[function.__name__] = {"graph": data.decode(), "savers": savers}
    with open(path, "w") as file:
        json.dump(rows, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
