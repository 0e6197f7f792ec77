"""TensorArrays, map_fn, scan and the folds, with gradients; see loops.py."""

import numpy as np

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)
W = np.array([[0.5, -0.5, 0.25], [0.1, 0.2, 0.3], [-0.4, 0.6, 0.8]], np.float32)


def ta_loop(tf):
    x = tf.constant(X, name="x")
    w = tf.constant(W)
    ta = tf.TensorArray(tf.float32, 2).unstack(x)
    out = tf.TensorArray(tf.float32, 2)

    def body(i, h, out):
        h = tf.tanh(tf.matmul(h + ta.read(i)[None], w))
        return (i + 1, h, out.write(i, h))

    _, h, out = tf.while_loop(lambda i, *_: i < 2, body, [0, tf.zeros([1, 3]), out])
    s = out.stack()
    return [s, h, *tf.gradients([s, h], [x, w])]


def ta_ops(tf):
    x = tf.constant(X[0], name="x")
    ta = tf.TensorArray(tf.float32, 2, infer_shape=False, name="parts").split(x, [1, 2])
    y = ta.concat(name="all")
    d = tf.TensorArray(
        tf.float32, 0, dynamic_size=True, clear_after_read=False, element_shape=[]
    ).unstack(x)
    z = d.read(1) * d.read(2) * d.gather([0, 2])
    s = d.identity().size()
    return [y, z, s, *tf.gradients([y * y, z], x)]


def map_grad(tf):
    x = tf.constant(X, name="x")
    w = tf.constant(W[0])
    y = tf.map_fn(lambda r: tf.reduce_sum(r * w * r), x)
    return [y, *tf.gradients(y, [x, w])]


def map_many(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    y = (
        tf.map_fn(
            lambda r: {"a": r[0] * 2.0, "b": tf.cast(r[1]["k"], tf.int32)},
            (x, {"k": x}),
            dtype={"a": tf.float32, "b": tf.int32},
            parallel_iterations=1,
            back_prop=False,
            swap_memory=True,
            name="m",
        )
        if False
        else tf.map_fn(
            lambda r: (r[0] * 2.0, tf.cast(r[1], tf.int32)),
            (x, x),
            dtype=(tf.float32, tf.int32),
            parallel_iterations=1,
            back_prop=False,
            swap_memory=True,
            name="m",
        )
    )
    return list(y)


def scan_grad(tf):
    x = tf.constant(X, name="x")
    y = tf.scan(lambda a, r: a * r + 1.0, x)
    return [y, *tf.gradients(y, x)]


def scan_init(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    h = tf.ones([3])
    y, z = tf.scan(
        lambda a, r: (a[0] * r, a[1] + tf.reduce_sum(r)),
        x,
        initializer=(h, 0.5),
        reverse=True,
    )
    return [y, z, *tf.gradients([y, z], [x, h])]


def folds(tf):
    x = tf.constant(X[0], name="x")
    a = tf.foldl(lambda a, r: a * 0.5 + r, x)
    b = tf.foldr(lambda a, r: a * 0.5 - r, x, initializer=tf.constant(1.0))
    c = tf.foldr(lambda a, r: a * 0.5 - r * r, x, name="last")
    return [a, b, c, *tf.gradients([a, b, c], x)]


def folds_nested(tf):
    x = tf.placeholder_with_default(X, None, "x")
    a = tf.foldl(lambda a, r: (a[0] + r, a[1] * r), x, initializer=(0.0 * x[0], x[0]))
    return list(a) + tf.gradients(a, x)


def rnn_like(tf):
    x = tf.placeholder_with_default(np.stack([X, X * 2, X - 1]), [None, None, 3], "x")
    w = tf.get_variable("w", initializer=W, use_resource=False)
    b = tf.get_variable("b", initializer=W[0], use_resource=False)
    lens = tf.constant([2, 3])
    t = tf.shape(x)[0]
    ta = tf.TensorArray(tf.float32, t, tensor_array_name="in").unstack(x)
    out = tf.TensorArray(tf.float32, t, tensor_array_name="out")
    zero = tf.zeros_like(x[0])

    def body(i, h, out):
        new = tf.tanh(tf.matmul(ta.read(i), w) + h + b)

        def step():
            return (tf.where(i >= lens, zero, new), tf.where(i >= lens, h, new))

        o, h = tf.cond(i < tf.reduce_min(lens), lambda: (new, new), step)
        return [i + 1, h, out.write(i, o)]

    _, h, out = tf.while_loop(
        lambda i, *_: i < t,
        body,
        [0, zero, out],
        parallel_iterations=32,
        maximum_iterations=t,
    )
    loss = tf.reduce_sum(tf.square(out.stack())) + tf.reduce_sum(h)
    return [loss, *tf.gradients(loss, [x, w, b])]


def twice_ta(tf):
    x = tf.constant(X, name="x")
    y = tf.map_fn(lambda r: r * r * r, x)
    z = tf.scan(lambda a, r: a * r, y)
    return tf.gradients(y, x) + tf.gradients([y * y, z], x)


def nested_map(tf):
    x = tf.constant(X, name="x")
    c = tf.constant(2.0)
    y = tf.map_fn(lambda r: tf.map_fn(lambda e: e * e * c, r), x)
    return [y, *tf.gradients(y, [x, c])]


def map_cond(tf):
    x = tf.constant(X, name="x")
    y = tf.map_fn(
        lambda r: tf.cond(
            r[0] > 1.0, lambda: tf.reduce_sum(r * r), lambda: tf.reduce_max(r)
        ),
        x,
    )
    return [y, *tf.gradients(y, x)]


def map_var(tf):
    x = tf.constant(X, name="x")

    def f(r):
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            w = tf.get_variable(
                "w", [3], initializer=tf.constant_initializer(2.0), use_resource=False
            )
        return r * w * w

    y = tf.map_fn(f, x)
    return [y, *tf.gradients(y, [x, *tf.trainable_variables()])]


def grow(tf):
    x = tf.constant(X[0], name="x")
    ta = tf.TensorArray(tf.float32, 1, dynamic_size=True)
    _, ta = tf.while_loop(
        lambda i, ta: i < 4,
        lambda i, ta: (i + 1, ta.write(i, tf.reduce_sum(x * x) * tf.to_float(i))),
        [0, ta],
    )
    y = ta.gather([1, 3])
    return [y, *tf.gradients(y, x)]


def ta_in_nested(tf):
    x = tf.constant(X, name="x")
    ta = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)

    def body(i, s):
        _, t = tf.while_loop(
            lambda j, t: j < 2, lambda j, t: (j + 1, t * ta.read(j)), [0, s]
        )
        return (i + 1, t + s)

    _, s = tf.while_loop(lambda i, s: i < 2, body, [0, tf.ones([3])])
    return [s, *tf.gradients(s, x)]


def scan_cond_ta(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    y = tf.scan(
        lambda a, r: tf.cond(tf.reduce_sum(r) > 0.0, lambda: a + r, lambda: a * r),
        x,
        initializer=tf.ones([3]),
        parallel_iterations=1,
    )
    return [y, *tf.gradients(y, x)]


def concat_ta(tf):
    x = tf.constant(X, name="x")
    out = tf.TensorArray(tf.float32, 2, infer_shape=False)
    _, out = tf.while_loop(
        lambda i, o: i < 2, lambda i, o: (i + 1, o.write(i, x[: i + 1] * 2.0)), [0, out]
    )
    y = out.concat()
    return [y, *tf.gradients(y * y, x)]


GRAPHS = [
    ta_loop,
    ta_ops,
    map_grad,
    map_many,
    scan_grad,
    scan_init,
    folds,
    folds_nested,
    rnn_like,
    twice_ta,
    nested_map,
    map_cond,
    map_var,
    grow,
    ta_in_nested,
    scan_cond_ta,
    concat_ta,
]
