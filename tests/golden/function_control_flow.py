"""Graphs of TensorFlow 1.15's control flow with functions, and their numbers.

`python function_control_flow.py function_control_flow.json`, with TensorFlow's Python,
writes the file anew: for each function here its GraphDef (zlib, base64), the names of
the tensors that it returns, and their values.
"""

import base64
import json
import sys
import zlib


def branches(tf):
    p = tf.placeholder_with_default(2.0, [])
    x = tf.constant([1.0, 2.0])
    first = tf.cond(p > 1.0, lambda: x * p, lambda: x - 1.0)
    return [first, tf.cond(p > 5.0, lambda: x * p, lambda: tf.constant([7.0, 8.0]))]


def branches_in_branches(tf):
    p = tf.placeholder_with_default(2.0, [])

    def inner():
        return tf.cond(p > 3.0, lambda: p * 2.0, lambda: p * 3.0)

    return [tf.cond(p > 1.0, inner, lambda: p)]


def loop(tf):
    x = tf.constant(3.0)
    return list(
        tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), [0, 1.0])
    )


def loop_in_a_branch(tf):
    p = tf.placeholder_with_default(2.0, [])

    def count():
        return tf.while_loop(lambda i: i < 10.0, lambda i: i + p, [0.0])

    return [tf.cond(p > 1.0, count, lambda: p)]


def branch_in_a_loop(tf):
    def body(i, y):
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: y + 1, lambda: y * 2)

    return list(tf.while_loop(lambda i, y: i < 6, body, [0, 1]))


def loop_in_a_loop(tf):
    def body(i, y):
        inner = tf.while_loop(lambda k, z: k < i, lambda k, z: (k + 1, z + k), [0, y])
        return i + 1, inner[1] * 2

    return list(tf.while_loop(lambda i, y: i < 4, body, [0, 1]))


def state_in_a_branch(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    taken = tf.constant(True)
    r = tf.cond(taken, lambda: tf.identity(v.assign_add(2.0)), v.read_value)
    with tf.control_dependencies([r]):
        return [r, v.read_value()]


def state_in_a_loop(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.control_dependencies([r]):
        return [v.read_value()]


def case(tf):
    k = tf.placeholder_with_default(1, [])
    functions = [
        lambda: tf.constant(10),
        lambda: tf.constant(20) + k,
        lambda: tf.constant(30),
    ]
    return [tf.switch_case(k, functions), tf.switch_case(k + 5, functions)]


def mapped(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.map_fn(lambda x: x * x, x)
    return [y, *tf.gradients(y, x)]


def growing(tf):
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return list(
        tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, tf.concat([x, x], 0)),
            [0, tf.constant([1.0])],
            shape_invariants=shapes,
        )
    )


def gradient_of_a_branch(tf):
    p = tf.placeholder_with_default(2.0, [])
    x = tf.constant([1.0, 2.0])
    y = tf.cond(p > 1.0, lambda: x * x * p, lambda: tf.exp(x))
    z = tf.cond(p > 3.0, lambda: x * x * p, lambda: tf.exp(x))
    return [y, *tf.gradients(y, [x, p]), *tf.gradients(z, [x])]


def gradient_of_a_loop(tf):
    x = tf.constant(1.5)
    y = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), [0, 1.0])[1]
    return [y, *tf.gradients(y, [x])]


GRAPHS = [
    branches,
    branches_in_branches,
    loop,
    loop_in_a_branch,
    branch_in_a_loop,
    loop_in_a_loop,
    state_in_a_branch,
    state_in_a_loop,
    case,
    mapped,
    growing,
    gradient_of_a_branch,
    gradient_of_a_loop,
]


if __name__ == "__main__":
    import tensorflow as tf

    tf.enable_control_flow_v2()
    found = {}
    for function in GRAPHS:
        with tf.Graph().as_default() as graph:
            tensors = function(tf)
            tf.global_variables_initializer()
            with tf.Session() as session:
                session.run("init")
                values = [value.tolist() for value in session.run(tensors)]
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "names": [tensor.name for tensor in tensors],
            "shapes": [str(tensor.shape) for tensor in tensors],
            "values": values,
        }
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
