"""Nodes that TensorFlow 1.15's inner functions of control flow build.

`python control_flow_names.py control_flow_names.json`, with TensorFlow's Python, writes
the file anew: for each function here the name, op, inputs, attributes and shapes of
each node of branches and loops.
"""

import json
import sys


def dense(tf):
    return tf.constant([1.0], name="dense")


def reference(tf):
    return tf.Variable(1.0, name="v", use_resource=False)._ref()


def sparse(tf):
    return tf.SparseTensor([[0]], [1.0], [1])


def rows(tf):
    return tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))


def sized_rows(tf):
    return tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3]))


def in_a_loop(make):
    def build(tf, ops):
        value = ops._Enter(make(tf), "f", is_constant=True, parallel_iterations=3)
        ops.exit(ops._NextIteration(value, name="next"), name="out")

    return f"loop_{make.__name__}", build


def identical(make):
    def build(tf, ops):
        ops._Identity(make(tf), name="same")

    return f"identity_{make.__name__}", build


def switched(make):
    def build(tf, ops):
        pair = ops.switch(make(tf), tf.constant(True, name="p"))
        ops.merge(list(pair), name="both")

    return f"switch_{make.__name__}", build


def switched_where_it_is(make):
    def build(tf, ops):
        ops._SwitchRefOrTensor(make(tf), tf.constant(True, name="p"), name="z")

    return f"colocated_switch_{make.__name__}", build


def without_reference(tf, ops):
    ops._Enter(reference(tf), "f", use_ref=False)


def without_shape(tf, ops):
    ops._Enter(dense(tf), "f", use_input_shape=False)


def number_after_an_op(tf, ops):
    ops.with_dependencies([tf.no_op()], 0)


VALUES = [dense, reference, sparse, rows, sized_rows]
BUILD = dict(
    [in_a_loop(make) for make in VALUES]
    + [identical(make) for make in VALUES]
    + [switched(make) for make in VALUES]
    + [switched_where_it_is(make) for make in (dense, reference, sparse)]
)
for function in (without_reference, without_shape, number_after_an_op):
    BUILD[function.__name__] = function
OPS = "Enter Exit NextIteration Identity Switch Merge".split()
ATTRS = "frame_name is_constant parallel_iterations _class".split()


def nodes(tf, ops, build):
    with tf.Graph().as_default() as graph:
        build(tf, ops)
    found = []
    for op in graph.get_operations():
        if op.type.replace("Ref", "") not in OPS or op.name.endswith("/read"):
            continue
        attrs = {}
        for key in ATTRS:
            if key in op.node_def.attr:
                value = op.get_attr(key)
                if isinstance(value, list):
                    value = [v.decode() for v in value]
                attrs[key] = value.decode() if isinstance(value, bytes) else value
        inputs = [t.name for t in op.inputs]
        shapes = [str(t.shape) for t in op.outputs]
        found.append([op.name, op.type, inputs, attrs, shapes])
    return found


if __name__ == "__main__":
    import tensorflow as tf
    from tensorflow.python.ops import control_flow_ops

    made = {name: nodes(tf, control_flow_ops, f) for name, f in BUILD.items()}
    with open(sys.argv[1], "w") as file:
        json.dump(made, file, indent=0)
