"""Graphs and numbers of gradients, network functions and optimizers from real TF 1.15.

`python training.py training.json`, with TensorFlow's Python, writes the file anew: for
each function below its GraphDef (zlib, base64) and what running it gives: the values
of the returned tensors, or of all variables after three runs of the returned operation.
"""

import base64
import importlib
import json
import sys
import zlib

import numpy as np

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)


# ---- gradients


def several_paths(tf):
    x = tf.constant(X, name="x")
    y = tf.multiply(x, x, name="y")
    return tf.gradients(y * x + tf.exp(x), [x, y])


def weights_and_stops(tf):
    x = tf.constant(X, name="x")
    y = tf.square(x, name="y")
    z = tf.multiply(y, x, name="z")
    return tf.gradients([z, y], [x, y], grad_ys=[X, x * 2.0], stop_gradients=[y])


def gated_and_colocated(tf):
    a = tf.constant(X, name="a")
    b = tf.constant(X[0], name="b")
    with tf.device("/cpu:0"):
        c = tf.multiply(a, b, name="c")
    return tf.gradients(
        tf.matmul(c, a, transpose_b=True),
        [a, b],
        gate_gradients=True,
        colocate_gradients_with_ops=True,
        name="backward",
    )


def tree_sum(tf):
    x = tf.constant(X, name="x")
    return tf.gradients(
        x * x + tf.tanh(x),
        x,
        aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE,
    )


def row_gradients(tf):
    table = tf.constant(X, name="table")
    rows = tf.gather(table, [1, 0, 1]) + tf.gather(table, [0, 0, 1])
    (slices,) = tf.gradients(tf.square(rows), table)
    (dense,) = tf.gradients(tf.square(rows), table, grad_ys=[rows])
    return [tf.convert_to_tensor(slices), slices.indices, dense.values]


def rows_and_dense(tf):
    table = tf.constant(X, name="table")
    y = tf.reduce_sum(tf.gather(table, [1, 1])) + tf.reduce_sum(table * table)
    return tf.gradients(y, [table])


def unused_outputs(tf):
    x = tf.constant(X, name="x")
    first, _, third = tf.split(x, 3, axis=1)
    return tf.gradients(first * third, [x])


def unconnected(tf):
    x, z = tf.constant(X, name="x"), tf.placeholder_with_default(X, [None, 3], "z")
    xs = [x, z, tf.constant(X[0])]
    return tf.gradients(x * 2.0, xs, unconnected_gradients="zero")


def second_order(tf):
    x = tf.constant(X, name="x")
    (first,) = tf.gradients(tf.nn.softplus(x) + tf.sigmoid(x) * tf.nn.elu(x), x)
    return tf.gradients(first, x)


def branches(tf):
    x, y = tf.constant(X, name="x"), tf.constant(X[0], name="y")
    p = tf.placeholder_with_default(True, [], "p")
    z = tf.cond(p, lambda: tf.square(x) * y, lambda: tf.exp(x))
    other = tf.cond(tf.logical_not(p), lambda: x * y, lambda: tf.sigmoid(x))
    rows = tf.cond(p, lambda: tf.gather(x, [1, 1, 0]), lambda: tf.zeros([3, 3]))
    nested = tf.cond(
        p, lambda: tf.cond(tf.less(y[1], 0.0), lambda: x * 2.0, lambda: x), lambda: -x
    )
    first = tf.gradients([z, other], [x, y])
    sparse = tf.gradients(rows, x, gate_gradients=True)
    return [*first, sparse[0].values, sparse[0].indices, *tf.gradients(nested, x)]


# ---- network functions, with their gradients


def multilayer_perceptron(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    for i, activation in enumerate(
        [tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.leaky_relu,
         tf.nn.softplus, tf.nn.softsign, tf.nn.tanh, tf.nn.sigmoid, tf.nn.crelu,
         tf.nn.softmax, tf.nn.log_softmax]
    ):  # fmt: skip
        size = x.shape[1].value
        w = tf.constant(np.linspace(-1, 1, size * 3).reshape(size, 3), tf.float32)
        x = activation(tf.nn.xw_plus_b(x, w, tf.constant(X[0] / (i + 1))))
    return [x, *tf.gradients(x, [tf.get_default_graph().get_tensor_by_name("x:0")])]


def bias_and_layers(tf):
    x, w = tf.constant(X, name="x"), tf.constant(X.T, name="w")
    b = tf.constant([1.0, 2.0], name="b")
    y = tf.nn.relu_layer(x, w, b)
    image = tf.reshape(tf.tile(y, [1, 6]), [2, 3, 2, 2])
    deep = tf.nn.bias_add(image, [1.0, 2.0, 3.0], data_format="NCHW")
    loss = tf.nn.l2_loss(deep) + tf.nn.l2_loss(tf.nn.bias_add(image, b))
    first = tf.gradients(loss, [x, b])
    return [loss, *first, *tf.gradients(first[1], x)]


def cross_entropies(tf):
    logits = tf.placeholder_with_default(X, [None, 3], "logits")
    labels = tf.nn.softmax(tf.constant(X[:, ::-1].copy()))
    old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    new = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    other = tf.nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis=0)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[2, 0], logits=logits, name="sparse"
    )
    deep = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[[2], [0]], logits=tf.constant(X.reshape(2, 1, 3))
    )
    loose = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.placeholder_with_default([[2], [0]], [None, 1], "labels"),
        logits=tf.reshape(logits, [2, -1, 3]),
    )
    losses = [old, new, other, sparse, deep, loose]
    total = tf.add_n([tf.reduce_sum(loss) for loss in losses])
    (first,) = tf.gradients(tf.reduce_sum(new), logits)
    grads = tf.gradients(total, [logits, labels])
    return [*losses, *grads, *tf.gradients(first, logits)]


def logistic_losses(tf):
    x, z = tf.constant(X, name="x"), tf.constant(np.abs(X) / 3, name="z")
    losses = [
        tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        tf.nn.weighted_cross_entropy_with_logits(z, x, 2.0),
        tf.nn.log_poisson_loss(z * 3, x),
        tf.nn.log_poisson_loss(z * 3, x, compute_full_loss=True),
    ]
    return [*losses, *tf.gradients(losses, [x])]


def norms_and_moments(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    mean, variance = tf.nn.moments(x, [0])
    kept = tf.nn.moments(x, [0, 1], keep_dims=True)
    unit = tf.nn.l2_normalize(x, axis=1)
    other = tf.nn.softmax(x, axis=0)
    grads = tf.gradients([variance, unit, other], [x])
    zeros = tf.nn.zero_fraction(tf.nn.relu(x))
    return [mean, variance, *kept, unit, other, *grads, zeros]


def dropouts(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    tf.nn.dropout(x, 0.75, seed=1)
    tf.nn.dropout(tf.constant(X), rate=tf.constant(0.25), noise_shape=[None, 1])
    tf.nn.dropout(x, noise_shape=[1, 3], rate=0.3, name="other", seed=3)
    return [tf.nn.dropout(x, rate=0.0)]


def lookups(tf):
    table = tf.get_variable("table", initializer=tf.constant(X))
    ids = tf.constant([[1], [0]])
    tf.nn.embedding_lookup(table, ids)
    tf.nn.embedding_lookup([table], ids, name="rows")
    tf.nn.in_top_k(X, [0, 1], 1)
    return [tf.nn.embedding_lookup(tf.constant(X), ids)]


# ---- schedules


def schedules(tf):
    step = tf.placeholder_with_default(np.int64(250), [], "step")
    return [
        tf.train.exponential_decay(0.1, step, 100, 0.96),
        tf.train.exponential_decay(0.1, step, 100, 0.96, staircase=True, name="stairs"),
        tf.train.natural_exp_decay(0.1, step, 100, 0.5),
        tf.train.inverse_time_decay(0.1, step, 100, 0.5),
        tf.train.polynomial_decay(0.1, step, 1000, power=0.5),
        tf.train.polynomial_decay(0.1, step, 100, cycle=True),
        tf.train.piecewise_constant(step, [100, 200, 300], [1.0, 0.5, 0.25, 0.1]),
        tf.train.cosine_decay(0.1, step, 1000, alpha=0.1),
    ]


def waves(tf):
    step = tf.placeholder_with_default(np.int64(250), [], "step")
    tf.set_random_seed(3)
    return [
        tf.train.cosine_decay_restarts(0.1, step, 100),
        tf.train.cosine_decay_restarts(0.1, step, 100, 1.0, 0.5, 0.1, name="even"),
        tf.train.linear_cosine_decay(0.1, step, 1000, 2.0, 0.1),
        tf.train.noisy_linear_cosine_decay(0.1, step, 1000, alpha=0.1),
        tf.train.noisy_linear_cosine_decay(0.1, 7, 1000, 0.5, name="noisy"),
    ]


# ---- averages


def _averages(tf, use_resource):
    """Averages of variables and of a tensor, faster in the first steps."""
    w = tf.get_variable("w", initializer=tf.constant(X), use_resource=use_resource)
    b = tf.get_variable("b", initializer=tf.constant(0.5), use_resource=use_resource)
    step = tf.get_variable("step", initializer=1.0, use_resource=use_resource)
    plain = tf.train.ExponentialMovingAverage(0.9)
    fast = tf.train.ExponentialMovingAverage(0.9, step, zero_debias=True, name="fast")
    changes = [w.assign_add(w * 0.5), b.assign_add(3.0), step.assign_add(1.0)]
    with tf.control_dependencies([tf.group(*changes)]):
        first = plain.apply()
    with tf.control_dependencies([first]), tf.name_scope("more"):
        second = fast.apply([b, tf.multiply(w, 2.0, name="twice")])
    return second


def averages_ref(tf):
    return _averages(tf, False)


def averages_resource(tf):
    return _averages(tf, True)


# ---- optimizers


def _train(tf, optimizer, use_resource):
    """Dense and row updates of variables of rank 0, 1 and 2."""
    w = tf.get_variable("w", initializer=tf.constant(X), use_resource=use_resource)
    b = tf.get_variable("b", initializer=tf.constant(0.5), use_resource=use_resource)
    table = tf.get_variable(
        "table", initializer=tf.constant(X.T.copy()), use_resource=use_resource
    )
    rows = tf.nn.embedding_lookup(table, [2, 0, 2])
    loss = tf.reduce_sum(tf.square(w)) * b + tf.reduce_sum(tf.square(rows) * rows)
    with tf.name_scope("train"):
        return optimizer.minimize(
            loss, global_step=tf.train.get_or_create_global_step()
        )


OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "lazy_adam": lambda tf: tf.contrib.opt.LazyAdamOptimizer(0.1),
    "add_sign": lambda tf: tf.contrib.opt.AddSignOptimizer(
        0.1, sign_decay_fn=lambda step: 1.0 / (1.0 + tf.to_float(step))
    ),
    "power_sign": lambda tf: tf.contrib.opt.PowerSignOptimizer(0.1, 2.0),
    "nadam": lambda tf: tf.contrib.opt.NadamOptimizer(0.1),
    "ada_max": lambda tf: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "adam_w": lambda tf: tf.contrib.opt.AdamWOptimizer(0.01, 0.1),
    "momentum_w": lambda tf: tf.contrib.opt.MomentumWOptimizer(0.01, 0.1, 0.9),
    "adagrad_w": lambda tf: tf.contrib.opt.extend_with_decoupled_weight_decay(
        tf.train.AdagradOptimizer
    )(weight_decay=0.1, learning_rate=0.1),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-2),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(
        0.1, tf.train.get_or_create_global_step(), 0.1, 0.3, 0.1
    ),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.3, l2_regularization_strength=0.1
    ),
    "ftrl_shrinking": lambda tf: tf.train.FtrlOptimizer(
        0.1, -0.4, l2_shrinkage_regularization_strength=0.2, accum_name="n"
    ),
    "proximal_sgd": lambda tf: tf.train.ProximalGradientDescentOptimizer(
        0.1, 0.2, 0.1, use_locking=True
    ),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(
        0.1, 0.1, 0.2, 0.1
    ),
}


# TF's reference variables decay while their gradients are computed; and the rules of
# signs have no sparse updates of resource variables.
LACKS = {"adam_w": False, "momentum_w": False, "adagrad_w": False}
LACKS.update(add_sign=True, power_sign=True)


def _optimizer_graph(name, use_resource):
    def build(tf):
        return _train(tf, OPTIMIZERS[name](tf), use_resource)

    build.__name__ = name + ("_resource" if use_resource else "_ref")
    return build


def shapeless(tf):
    v = tf.Variable(
        tf.placeholder_with_default(X, None), validate_shape=False, name="v"
    )
    return tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(v * v))


def minimize_options(tf):
    v = tf.Variable(X, name="v")
    u = tf.Variable(X[0], name="u", trainable=False)
    w = tf.Variable(X[1], name="w")
    loss = tf.multiply(v * u, w, name="loss")
    optimizer = tf.train.GradientDescentOptimizer(0.5, use_locking=True, name="half")
    pairs = optimizer.compute_gradients(
        loss,
        [v, [u, w]],
        gate_gradients=optimizer.GATE_GRAPH,
        grad_loss=tf.constant(X),
    )
    tf.train.MomentumOptimizer(tf.constant(0.1), lambda: 0.5).minimize(
        loss, var_list=[v], gate_gradients=optimizer.GATE_NONE
    )
    return optimizer.apply_gradients([(g * 2.0, v) for g, v in pairs], name="first")


GRAPHS = [
    several_paths, weights_and_stops, gated_and_colocated, tree_sum, row_gradients,
    rows_and_dense, branches, unused_outputs, unconnected, second_order,
    multilayer_perceptron,
    bias_and_layers, cross_entropies, logistic_losses, norms_and_moments, dropouts,
    lookups, schedules, waves, averages_ref, averages_resource, shapeless,
    minimize_options,
    *(
        _optimizer_graph(n, r)
        for n in OPTIMIZERS
        for r in (False, True)
        if r is not LACKS.get(n)
    ),
]  # fmt: skip


def results(tf, graph, target):
    """What running gives, as nested lists (or a dict of them by variable)."""
    with tf.Session(graph=graph) as sess:
        sess.run(graph.get_operation_by_name("init") if _has_init(graph) else [])
        if isinstance(target, list):
            return [np.asarray(v).tolist() for v in sess.run(target)]
        for _ in range(3):
            sess.run(target)
        variables = graph.get_collection("variables")
        values = sess.run(variables)
        names = [v.name for v in variables]
        return dict(zip(names, [np.asarray(a).tolist() for a in values]))


def _has_init(graph):
    return any(op.name == "init" for op in graph.get_operations())


def build(tf, function):
    """A function's graph, with an op "init" if there are variables, and its target."""
    with tf.Graph().as_default() as graph:
        target = function(tf)
        if graph.get_collection("variables"):
            tf.global_variables_initializer()
    return graph, target


if __name__ == "__main__":
    import tensorflow as tf

    *module, path = sys.argv[1:]
    found = {}
    for function in importlib.import_module(module[0]).GRAPHS if module else GRAPHS:
        graph, target = build(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "values": results(tf, graph, target),
        }
    with open(path, "w") as f:
        json.dump(found, f, indent=0)
