"""Graphs and numbers of while loops and their gradients from real TensorFlow 1.15.

`python loops.py loops.json`, with TensorFlow's Python, writes the file anew: for each
function here, in loop_nesting.py and in loop_functions.py its GraphDef (zlib, base64),
the static shapes of the tensors that it returns, and their values.
"""

import base64
import json
import sys
import zlib

import numpy as np

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)
W = np.array([[0.5, -0.5, 0.25], [0.1, 0.2, 0.3], [-0.4, 0.6, 0.8]], np.float32)


def simple(tf):
    x = tf.constant(2.0, name="x")
    _i, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y * x),
        [tf.constant(0), tf.constant(1.0)],
    )
    return [y, *tf.gradients(y, x)]


def counter_only(tf):
    x = tf.constant(2.0, name="x")
    y = tf.while_loop(lambda y: y < 30.0, lambda y: y * y, [x])
    return [y, *tf.gradients(y, x)]


def captured_matrix(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    w = tf.constant(W, name="w")
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x]
    )
    return [y, *tf.gradients(y, [x, w])]


def rows_dyn(tf):
    t = tf.placeholder_with_default(W, [None, 3], name="table")
    ids = tf.constant([2, 0, 2])
    _, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y + tf.reduce_sum(tf.square(tf.gather(t, ids[i:])))),
        [0, 0.0],
    )
    g = tf.gradients(y, t)[0]
    return [y, g.values, g.indices, g.dense_shape]


def rows_var(tf):
    t = tf.get_variable("table", initializer=W, use_resource=True)
    ids = tf.constant([2, 0, 2])
    _, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (
            i + 1,
            y + tf.reduce_sum(tf.square(tf.nn.embedding_lookup(t, ids[i : i + 1]))),
        ),
        [0, 0.0],
    )
    g = tf.gradients(y, t)[0]
    return [y, g.values, g.indices, g.dense_shape]


def maximum(tf):
    x = tf.constant(2.0, name="x")
    i, y = tf.while_loop(
        lambda i, y: i < 30,
        lambda i, y: [i + 1, y * x],
        [tf.constant(0), tf.constant(1.0)],
        maximum_iterations=4,
    )
    return [i, y, *tf.gradients(y, x)]


def options(tf):
    x = tf.constant(2.0, name="x")
    y = tf.while_loop(
        lambda y: y < 30.0,
        lambda y: y * x,
        [x],
        parallel_iterations=1,
        swap_memory=True,
        return_same_structure=True,
        name="mine",
    )[0]
    return [y, *tf.gradients(y, x)]


def invariants(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    _, y = tf.while_loop(
        lambda i, y: i < 2,
        lambda i, y: (i + 1, tf.concat([y, y * x[:1]], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])],
    )
    return [y, *tf.gradients(y, x)]


def ref_var(tf):
    w = tf.get_variable("w", initializer=W, use_resource=False)
    x = tf.constant(X)
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x]
    )
    return [y, *tf.gradients(y, [x, w])]


def res_var(tf):
    w = tf.get_variable("w", initializer=W, use_resource=True)
    x = tf.constant(X)
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x]
    )
    return [y, *tf.gradients(y, [x, w])]


def unused(tf):
    x = tf.constant(X, name="x")
    z = tf.constant(X * 2)
    _, a, _b = tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, b + x), [0, x, z]
    )
    return [a, *tf.gradients(a, [x, z])]


def unused_dyn(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    z = tf.placeholder_with_default(X * 2, None)
    _, a, _b = tf.while_loop(
        lambda i, a, b: i < 3,
        lambda i, a, b: (i + 1, a * b, b + x),
        [0, x, z],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape(None),
            tf.TensorShape(None),
        ],
    )
    return [a, *tf.gradients(a, [x, z])]


def replaced(tf):
    x = tf.constant(X, name="x")
    _, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, x * 2.0), [0, x])
    return [a, *tf.gradients(a, [x])]


def replaced_dyn(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    _, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, x * 2.0), [0, x])
    return [a, *tf.gradients(a, [x])]


def no_backprop(tf):
    x = tf.constant(2.0, name="x")
    _, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y * x),
        [tf.constant(0), tf.constant(1.0)],
        back_prop=False,
    )
    g = tf.gradients(y + x, x)
    return [y, *g]


def colocated(tf):
    x = tf.constant(X, name="x")
    with tf.device("/cpu:0"):
        _, y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [0, x]
        )
    return [
        y,
        *tf.gradients(
            y,
            x,
            colocate_gradients_with_ops=True,
            gate_gradients=True,
            aggregation_method=1,
        ),
    ]


def splitcase(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, y):
        a, b, _c = tf.split(y, 3, axis=1)
        return (i + 1, tf.concat([a * b, b, a], 1))

    _, y = tf.while_loop(lambda i, y: i < 2, body, [0, x])
    return [y, *tf.gradients(y, x)]


def minimized(tf):
    w = tf.get_variable("w", initializer=W, use_resource=False)
    x = tf.constant(X)
    y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x]
    )[1]
    loss = tf.reduce_sum(y * y)
    with tf.control_dependencies(
        [tf.train.AdamOptimizer(0.1).minimize(loss, colocate_gradients_with_ops=True)]
    ):
        return [tf.identity(w)]


def twice(tf):
    x = tf.constant(X, name="x")
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])[
        1
    ]
    return [y, *tf.gradients(y, x), *tf.gradients(y * y, x, name="gradients_again")]


def gather_var(tf):
    x = tf.constant(W, name="x")
    _, y = tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, tf.gather(y, [2, 0, 2])), [0, x]
    )
    return [y, *tf.gradients(y, x)]


def gather_var_dyn(tf):
    x = tf.placeholder_with_default(W, [None, 3], name="x")
    _, y = tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, tf.gather(y, [2, 0, 2]) * y), [0, x]
    )
    return [y, *tf.gradients(y, x)]


def in_scopes(tf):
    x = tf.constant(X, name="x")
    with tf.name_scope("a"), tf.control_dependencies([tf.constant(1.0, name="c")]):
        y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [0, x], name="loop"
        )[1]
        with tf.name_scope("g"):
            g = tf.gradients(y, x)
    return [y, *g]


def stop(tf):
    x = tf.constant(X, name="x")
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.stop_gradient(y) * x), [0, x]
    )
    _, z = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.stop_gradient(y) + 1.0), [0, x]
    )
    return [y, *tf.gradients(y, x), *tf.gradients(tf.square(x) + z, x)]


def int_vars(tf):
    x = tf.constant(2.0)
    i, n, y = tf.while_loop(
        lambda i, n, y: i < 3,
        lambda i, n, y: (i + 1, n * 2, y * x + tf.to_float(n)),
        [0, tf.constant(1, tf.int64), 1.0],
    )
    return [i, n, y, *tf.gradients([y], x)]


def dicts(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(
        lambda s: s["i"] < 3,
        lambda s: [{"i": s["i"] + 1, "y": (s["y"][0] * x, s["y"][1] + s["y"][0])}],
        [{"i": tf.constant(0), "y": (x, x)}],
        return_same_structure=True,
    )[0]
    return [r["i"], r["y"][0], r["y"][1], *tf.gradients(r["y"][1], x)]


def slices_var(tf):
    s = tf.IndexedSlices(
        tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2])
    )
    _, r = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (
            i + 1,
            tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape),
        ),
        [0, s],
    )
    return [r.values, r.indices, r.dense_shape]


def sparse_var(tf):
    s = tf.SparseTensor([[1, 1]], [2.0], [3, 3])
    _, r = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)),
        [0, s],
    )
    _, q = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)),
        [0, s],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    return [r.values, r.indices, r.dense_shape, q.values]


def weighted(tf):
    x = tf.constant(X, name="x")
    _i, y, z = tf.while_loop(
        lambda i, y, z: i < 3, lambda i, y, z: (i + 1, tf.sin(y) * x, z + y), [0, x, x]
    )
    return tf.gradients(
        [y, z],
        [x],
        grad_ys=[X, x * 2.0],
        stop_gradients=[],
        unconnected_gradients="zero",
    )


def xs_inside(tf):
    x = tf.constant(X, name="x")
    u = tf.constant(1.0)
    _i, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [0, x * u]
    )
    return tf.gradients(
        y, [x, u, tf.constant(3.0)], unconnected_gradients=tf.UnconnectedGradients.ZERO
    )


def assigns(tf):
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(tf.to_float(i))]):
            return i + 1

    i = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.control_dependencies([i]):
        return [i, v.read_value()]


def print_assert(tf):
    x = tf.constant(X)

    def body(i, y):
        with tf.control_dependencies([tf.Assert(tf.reduce_all(y < 1000000.0), [y])]):
            return (i + 1, y * x)

    y = tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]
    return [y, *tf.gradients(y, x)]


def batchmat(tf):
    x = tf.placeholder_with_default(X, None, "x")
    w = tf.placeholder_with_default(W, None, "w")
    y = tf.while_loop(
        lambda i, y: i < 2,
        lambda i, y: (
            i + 1,
            tf.nn.softmax(tf.matmul(y, w) + tf.reduce_mean(y, keep_dims=True)),
        ),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
    )[1]
    return [y, *tf.gradients(tf.reduce_max(y, axis=1), [x, w])]


GRAPHS = [
    simple,
    counter_only,
    captured_matrix,
    rows_dyn,
    rows_var,
    maximum,
    options,
    invariants,
    ref_var,
    res_var,
    unused,
    unused_dyn,
    replaced,
    replaced_dyn,
    no_backprop,
    colocated,
    splitcase,
    minimized,
    twice,
    gather_var,
    gather_var_dyn,
    in_scopes,
    stop,
    int_vars,
    dicts,
    slices_var,
    sparse_var,
    weighted,
    xs_inside,
    assigns,
    print_assert,
    batchmat,
]


def build(tf, function):
    """A function's graph, with an op "init" if there are variables, and its tensors."""
    with tf.Graph().as_default() as graph:
        tensors = function(tf)
        if graph.get_collection("variables"):
            tf.global_variables_initializer()
    return graph, tensors


def results(tf, graph, tensors):
    """The values of the tensors, as nested lists."""
    with tf.Session(graph=graph) as sess:
        if graph.get_collection("variables"):
            sess.run("init")
        return [np.asarray(v).tolist() for v in sess.run(tensors)]


if __name__ == "__main__":
    import loop_functions
    import loop_nesting
    import tensorflow as tf

    found = {}
    for function in GRAPHS + loop_nesting.GRAPHS + loop_functions.GRAPHS:
        graph, tensors = build(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "shapes": [str(tensor.shape) for tensor in tensors],
            "values": results(tf, graph, tensors),
        }
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
