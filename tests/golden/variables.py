"""Graphs and values of variables, scopes and initializers from real TensorFlow 1.15.

`python variables.py variables.json`, with TensorFlow's Python, writes the file anew:
for each function below its GraphDef (zlib, base64), and the values of the tensors that
it returns, run one after the other in one session once the variables are initialized.
"""

import base64
import json
import sys
import zlib

import numpy as np


def reference(tf):
    x = tf.Variable(10, name="x")
    y = tf.Variable(lambda: tf.ones([2]) * 2.0, name="y", dtype=tf.float32)
    found = [x + 1, x.assign(3), x.assign_add(1), tf.assign_sub(x, 2), x, 3.0 * y, -y]
    found += [y[0:1], y[0:1].assign([3.0]), y.read_value(), y**2.0 > 4.0]
    with tf.name_scope("s"):
        found += [y[0].assign(1.0), tf.Variable(1.0)]
        tf.Variable([2.0], name="q", trainable=False)
        found += [tf.assign(y, [1.0, 2.0], name="as"), y]
    return found


def resource(tf):
    x = tf.Variable(10.0, name="x", use_resource=True)
    y = tf.Variable([1.0, 2.0], name="y", use_resource=True, trainable=False)
    new = x.assign(3.0)
    found = [x, new + 1.0, x.assign_add(1.0), x + 1, x.read_value(), x.is_initialized()]
    found += [tf.is_variable_initialized(x), y[0:1].assign([4.0]), y.sparse_read([1])]
    found += [tf.scatter_add(y, [0], [1.0]), y.assign_sub([1.0, 1.0])]
    found += [y.gather_nd([[0]]), y.scatter_nd_add([[0]], [1.0]), y]
    tf.get_variable("z", [2], use_resource=True, regularizer=tf.reduce_sum)
    with tf.device("/cpu:0"):
        tf.Variable(lambda: 3.0, name="d", use_resource=True, caching_device="/cpu:0")
    counter = tf.Variable(2, use_resource=True)
    return [*found, counter.count_up_to(4), counter]


def dependent(tf):
    x = tf.Variable(10.0, name="x")
    y = tf.Variable(x + 1, name="y")
    z = tf.Variable(x.initialized_value() * 2, name="z")
    r = tf.Variable(5.0, use_resource=True, name="r")
    return [x, y, z, tf.Variable(r.initialized_value() + x.initialized_value())]


def devices(tf):
    with tf.device("/cpu:0"):
        tf.Variable(10.0, name="x", caching_device="/gpu:0")
    fed = tf.placeholder(tf.float32)
    tf.Variable(fed, validate_shape=False, name="v", collections=[])
    with tf.device(lambda op: "/job:ps" if op.type == "VariableV2" else "/job:w"):
        tf.Variable(1.0, name="f")
        tf.get_variable("g", [2])
    with tf.control_dependencies([tf.constant(1.0)]):
        tf.Variable(1.0, name="waits_for_nothing")
    return []


def part_updates(tf):
    counter = tf.Variable(3, name="counter")
    w = tf.Variable(tf.zeros([3, 2]), name="w")
    found = [tf.count_up_to(counter, 5), counter]
    found += [tf.scatter_update(w, [0, 2], [[1.0, 2.0], [3.0, 4.0]])]
    found += [w.scatter_nd_add([[0], [1]], [[1.0, 1.0], [6.0, 8.0]])]
    for name in "add sub mul div min max".split():
        update = getattr(tf, "scatter_" + name)
        found.append(update(w, [1, 0, 1], [[1.0, 2.0], [3.0, 5.0], [2.0, 4.0]]))
        found.append(update(w, [[2]], 7.0))
    found += [tf.scatter_nd_update(w, [[0, 1], [2, 0]], [9.0, 8.0])]
    found += [tf.scatter_nd_sub(w, [[0, 1], [0, 1]], [1.0, 1.0])]
    rows = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))
    found += [w.scatter_sub(rows), w.scatter_max(rows)]
    whole = tf.Variable([7, -7, 8], name="whole")
    found += [
        tf.scatter_div(whole, [0, 1, 2], [2, 2, -3]),
        w[1:, ::-1].assign([[1.0, 2.0]] * 2),
        w,
    ]
    batches = tf.Variable(tf.zeros([2, 3]))
    return [*found, tf.batch_scatter_update(batches, [[0], [1]], [[1.0], [2.0]])]


def checks(tf):
    v = tf.get_variable("v", [2, 3])
    w = tf.Variable(3.0)
    tf.local_variables_initializer()
    tf.global_variables_initializer()
    late = tf.Variable(1.0, collections=[], name="late")
    return [tf.is_variable_initialized(v), tf.is_variable_initialized(late),
            tf.report_uninitialized_variables(), tf.assert_variables_initialized(),
            tf.report_uninitialized_variables([w, late], name="some")]  # fmt: skip


def get_variable(tf):
    a = tf.get_variable("a", [2, 3], initializer=tf.ones_initializer)
    b = tf.get_variable("b", initializer=tf.ones([2]))
    c = tf.get_variable("c", [2], tf.int32)
    d = tf.get_variable("d", initializer=[1.0, 2.0])
    e = tf.get_variable("e", [3], dtype=tf.bool)
    f = tf.get_local_variable("f", [1], initializer=tf.zeros_initializer())
    tf.get_variable("whole_number", [2], tf.int64, trainable=False)
    return [a, b, c, d, e, tf.is_variable_initialized(f)]


def initializers(tf):
    init = tf.initializers
    seeded = [
        tf.zeros_initializer, tf.ones_initializer(), tf.constant_initializer(3.0),
        tf.constant_initializer([1, 2, 3, 4, 5, 6]),
        tf.random_uniform_initializer(-1, 1, seed=3),
        tf.random_normal_initializer(0, 2, seed=1),
        tf.truncated_normal_initializer(stddev=0.1, seed=2),
        tf.uniform_unit_scaling_initializer(seed=1),
        tf.variance_scaling_initializer(seed=1),
        tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=4),
        tf.variance_scaling_initializer(1.0, "fan_avg", "untruncated_normal", seed=2),
        tf.glorot_uniform_initializer(seed=2), tf.glorot_normal_initializer(seed=4),
        init.he_normal(1), init.he_uniform(2), init.lecun_normal(3),
        init.lecun_uniform(4), init.orthogonal(2.0, seed=1),
    ]  # fmt: skip
    found = [
        tf.get_variable(f"v{i}", [2, 3], initializer=made)
        for i, made in enumerate(seeded)
    ]
    tall = tf.get_variable("o", [3, 2], initializer=init.orthogonal(seed=1))
    found += [tall, tf.get_variable("i", [3, 3], initializer=init.identity(2.0))]
    tf.get_variable("one", [4])
    tf.get_variable("scalar", [])
    tf.set_random_seed(7)
    return [*found, tf.get_variable("conv", [3, 3, 4, 5])]


def scopes(tf):
    with tf.variable_scope("a") as a:
        tf.get_variable("v", [1])
        tf.constant(1.0, name="c")
        tf.Variable(1.0, name="w")
        with tf.variable_scope("b"):
            tf.get_variable("v", [1])
    with tf.variable_scope("a"):
        tf.constant(1.0, name="c")
        tf.Variable(1.0, name="w")
    with tf.variable_scope(a, reuse=True):
        tf.get_variable("v", [1])
        tf.constant(1.0, name="c")
    with tf.variable_scope("x"), tf.variable_scope(a):
        tf.constant(1.0, name="c")
        tf.get_variable("n", [1])
    for _ in range(3):
        with tf.variable_scope(None, "default"):
            tf.get_variable("v", [1])
            tf.constant(1.0, name="c")
    with tf.variable_scope("z", auxiliary_name_scope=False):
        tf.get_variable("v", [1])
        tf.constant(1.0, name="c")
    with tf.name_scope("ns"):
        with tf.variable_scope("k") as k:
            tf.get_variable("v", [1])
            tf.constant(1.0, name="c")
        again = tf.variable_scope(k, auxiliary_name_scope=False)
        with again as scope, tf.name_scope(scope.original_name_scope):
            tf.constant(1.0, name="c")
    with tf.variable_scope(""):
        tf.get_variable("root", [1])
    with tf.variable_scope("default"):
        tf.constant(2.0)
    with tf.variable_scope(tf.get_variable_scope()):
        tf.constant(2.0, name="top")
    return []


def scope_defaults(tf):
    with tf.variable_scope(
        "outer", regularizer=lambda v: tf.reduce_sum(v * v), dtype=tf.float64,
        initializer=tf.ones_initializer(),
    ):  # fmt: skip
        v = tf.get_variable("v", [2])
        with tf.variable_scope("inner", initializer=tf.zeros_initializer()):
            w = tf.get_variable("w", [2], regularizer=tf.no_regularizer)
            x = tf.get_variable("x", [2], tf.float32)
    return [v, w, x, *tf.get_collection("regularization_losses")]


def shared_layers(tf):
    def layer(x, size):
        with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [3, size], initializer=tf.ones_initializer())
            return tf.matmul(x, w, name="product")

    x = tf.constant([[1.0, 2.0, 3.0]])
    return [layer(x, 2), layer(x, 2)]


def partitioned(tf):
    a = tf.get_variable(
        "a", [10, 3], partitioner=tf.fixed_size_partitioner(3),
        initializer=tf.constant_initializer(2.0),
    )  # fmt: skip
    found = [tf.convert_to_tensor(a), *a.assign(tf.ones([10, 3]))]
    b = tf.get_variable(
        "b", initializer=tf.reshape(tf.range(8.0), [4, 2]),
        partitioner=tf.fixed_size_partitioner(2),
    )  # fmt: skip
    small = tf.min_max_variable_partitioner(4, min_slice_size=16)
    with tf.variable_scope("s", partitioner=small):
        tf.get_variable("w", [7, 2])
        tf.get_variable("scalar", [])
    by_size = tf.variable_axis_size_partitioner(16)
    with tf.variable_scope("t", partitioner=by_size):
        tf.get_variable("w", [7, 2])
    return [*found, b.as_tensor()]


def sliced(tf):
    ones = tf.ones_initializer()
    parts = tf.create_partitioned_variables([6, 2], [2, 1], ones, name="parts")
    value = tf.reshape(tf.range(6.0), [3, 2])
    with tf.variable_scope("outer"):
        parts += tf.create_partitioned_variables([3, 2], [1, 2], value)
    return parts


def gradients(tf):
    v = tf.Variable(np.arange(12.0).reshape(6, 2), use_resource=True, name="v")
    w = tf.Variable(np.arange(12.0).reshape(6, 2), name="w")
    rows = tf.gather(v, [1, 2])
    points = v.gather_nd([[0, 1]]) + tf.reduce_sum(v.gather_nd([[1]]))
    found = tf.gradients(tf.reduce_sum(rows * rows), [v])
    loss = tf.reduce_sum(tf.gather(w, [1, 2])) + tf.reduce_sum(rows)
    found += tf.gradients(loss + tf.reduce_sum(points) + tf.reduce_sum(v), [v, w])
    return [tf.convert_to_tensor(gradient) for gradient in found]


def branches_and_loops(tf):
    v = tf.Variable(1.0, name="v")
    r = tf.Variable(1.0, use_resource=True, name="r")
    total = tf.while_loop(lambda i: i < 3.0, lambda i: i + v + r, [0.0])
    new = tf.cond(v > 0, lambda: v.assign_add(1.0), lambda: v + 1.0)
    one = tf.ones_initializer()
    made = tf.cond(
        v > 0,
        lambda: tf.get_variable("in_branch", [2], initializer=one) + 1.0,
        lambda: tf.ones([2]),
    )
    return [total, made, new, total, v]


def random_ops(tf):
    tf.random_normal([2, 3], seed=1)
    tf.random_uniform([2], dtype=tf.int32, maxval=3)
    tf.truncated_normal([2], name="t")
    tf.random_gamma([2], 1.5)
    tf.random_poisson(2.0, [3])
    tf.random.categorical([[1.0, 2.0]], 3, dtype=tf.int32)
    found = [tf.random_shuffle([1, 2, 3, 4, 5], seed=2)]
    found += [tf.random_crop(tf.reshape(tf.range(16), [4, 4]), [2, 3], seed=1)]
    tf.set_random_seed(5)
    found += [tf.random_normal([2]), tf.random_uniform(tf.constant([2, 2]))]
    found += [tf.random_normal([tf.constant(2), 3]), tf.random_normal([2], seed=0)]
    found += [tf.multinomial([[1.0, 2.0], [0.0, 0.0]], 3)]
    return found + found


GRAPHS = [
    reference, resource, dependent, devices, part_updates, checks, get_variable,
    initializers, scopes, scope_defaults, shared_layers, partitioned, sliced,
    gradients, branches_and_loops, random_ops,
]  # fmt: skip


def build(tf, function):
    """A function's graph, with an op "start", and the tensors it returns."""
    with tf.Graph().as_default() as graph:
        fetched = function(tf)
        tf.variables_initializer(tf.global_variables(), name="start")
    return graph, fetched


def results(tf, graph, fetched):
    """The values of the tensors, run one after the other, as nested lists."""
    with tf.Session(graph=graph) as sess:
        if fetched:
            sess.run(graph.get_operation_by_name("start"))
        return [_plain(sess.run(tensor)) for tensor in fetched]


def _plain(value):
    array = np.asarray(value)
    if array.dtype == object:
        return [text.decode() for text in array.ravel()]
    return array.tolist()


if __name__ == "__main__":
    import tensorflow as tf

    found = {}
    for function in GRAPHS:
        graph, fetched = build(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "values": results(tf, graph, fetched),
        }
        print(function.__name__, len(graph.as_graph_def().node), "nodes")
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
