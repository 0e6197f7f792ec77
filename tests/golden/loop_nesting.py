"""Loops and branches in each other, gradients in and through them; see loops.py."""

import numpy as np

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)
W = np.array([[0.5, -0.5, 0.25], [0.1, 0.2, 0.3], [-0.4, 0.6, 0.8]], np.float32)


def nested(tf):
    x = tf.constant(2.0, name="x")

    def inner(i, y):
        _, z = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x), [0, y])
        return (i + 1, z + y)

    _, y = tf.while_loop(lambda i, y: i < 3, inner, [0, tf.constant(1.0)])
    return [y, *tf.gradients(y, x)]


def nested_dyn(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")
    w = tf.placeholder_with_default(W, [None, 3], name="w")

    def inner(i, y):
        _, z = tf.while_loop(
            lambda j, z: j < i,
            lambda j, z: (j + 1, tf.sigmoid(tf.matmul(z, w))),
            [0, y],
        )
        return (i + 1, z * y)

    _, y = tf.while_loop(lambda i, y: i < 3, inner, [0, x])
    return [y, *tf.gradients(y, [x, w])]


def nested_cond(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, y):

        def deep():
            return tf.while_loop(
                lambda j, z: j < 2, lambda j, z: (j + 1, tf.cos(z * x)), [0, y]
            )[1]

        return (i + 1, tf.cond(tf.equal(i % 2, 1), deep, lambda: tf.square(y)))

    _, y = tf.while_loop(lambda i, y: i < 3, body, [0, x])
    return [y, *tf.gradients(y, [x])]


def cond_in_loop(tf):
    x = tf.constant(2.0, name="x")
    z = tf.constant(3.0)

    def body(i, y):
        return (
            i + 1,
            tf.cond(
                tf.equal(i % 2, 0), lambda: y * x * tf.exp(y * 0.01), lambda: y + z
            ),
        )

    _, y = tf.while_loop(lambda i, y: i < 4, body, [0, tf.constant(1.0)])
    return [y, *tf.gradients(y, [x, z])]


def cond_in_loop_dyn(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, y):
        return (
            i + 1,
            tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(y * x), lambda: tf.square(y)),
        )

    _, y = tf.while_loop(lambda i, y: i < 4, body, [0, x])
    return [y, *tf.gradients(y, [x])]


def cond_one_side(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, y):
        return (i + 1, y + tf.cond(i < 2, lambda: tf.exp(x), lambda: tf.ones_like(y)))

    _, y = tf.while_loop(lambda i, y: i < 4, body, [0, x])
    return [y, *tf.gradients(y, [x])]


def loop_in_cond(tf):
    x = tf.constant(2.0, name="x")
    p = tf.placeholder_with_default(True, [], "p")

    def loop():
        return tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, y * x),
            [tf.constant(0), tf.constant(1.0)],
        )[1]

    y = tf.cond(p, loop, lambda: x * 3.0)
    return [y, *tf.gradients(y, x)]


def loop_in_cond_not(tf):
    x = tf.constant(2.0, name="x")
    p = tf.placeholder_with_default(False, [], "p")

    def loop():
        return tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, y * x),
            [tf.constant(0), tf.constant(1.0)],
        )[1]

    y = tf.cond(p, loop, lambda: x * 3.0)
    return [y, *tf.gradients(y, x)]


def cond_cond(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, y):
        return (
            i + 1,
            tf.cond(
                tf.equal(i % 2, 1),
                lambda: tf.cond(i < 2, lambda: tf.sin(y * x), lambda: y * y),
                lambda: tf.exp(-y),
            ),
        )

    _, y = tf.while_loop(lambda i, y: i < 4, body, [0, x])
    return [y, *tf.gradients(y, [x])]


def cond_rows(tf):
    t = tf.constant(W, name="t")

    def body(i, y):
        return (
            i + 1,
            y
            + tf.cond(
                tf.equal(i % 2, 0),
                lambda: tf.reduce_sum(tf.gather(t, [i, 0]) ** 2),
                lambda: 0.0,
            ),
        )

    _, y = tf.while_loop(lambda i, y: i < 3, body, [0, 0.0])
    g = tf.gradients(y, t)[0]
    return [y, tf.convert_to_tensor(g)]


def cond_ref(tf):
    w = tf.get_variable("w", initializer=W[0], use_resource=False)

    def body(i, y):
        return (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * w, lambda: y))

    _, y = tf.while_loop(lambda i, y: i < 3, body, [0, tf.ones([3])])
    return [y, *tf.gradients(y, w)]


def one_par(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, y):
        return (
            i + 1,
            tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(y * x), lambda: tf.square(y)),
        )

    _, y = tf.while_loop(
        lambda i, y: i < 5, body, [0, x], parallel_iterations=1, swap_memory=True
    )
    return [y, *tf.gradients(y, [x])]


def nested_rows(tf):
    t = tf.constant(W, name="t")

    def inner(i, s):
        _, r = tf.while_loop(
            lambda j, r: j < 2,
            lambda j, r: (j + 1, r + tf.reduce_sum(tf.gather(t, [j]) ** 2)),
            [0, s],
        )
        return (i + 1, r * 1.5)

    _, y = tf.while_loop(lambda i, y: i < 2, inner, [0, 0.0])
    g = tf.gradients(y, t)[0]
    return [y, tf.convert_to_tensor(g)]


def nested_exit_unused(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, y):
        _, a, _b = tf.while_loop(
            lambda j, a, b: j < 2,
            lambda j, a, b: (j + 1, a * b, b * x),
            [0, y, y * 2.0],
        )
        return (i + 1, a)

    _, y = tf.while_loop(lambda i, y: i < 2, body, [0, x])
    return [y, *tf.gradients(y, x)]


def grad_inside(tf):
    x = tf.constant(2.0, name="x")

    def body(i, y):
        z = y * y * x
        return (i + 1, y - 0.1 * tf.gradients(z, y)[0])

    _, y = tf.while_loop(lambda i, y: i < 3, body, [0, x])
    return [y]


def grad_loop_inside(tf):
    x = tf.constant(2.0, name="x")

    def body(i, y):
        z = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * y), [0, y])[1]
        return (i + 1, y - 0.01 * tf.gradients(z, y)[0])

    _, y = tf.while_loop(lambda i, y: i < 3, body, [0, x])
    return [y]


def in_branch(tf):
    x = tf.constant(X, name="x")
    p = tf.placeholder_with_default(True, [], "p")

    def f():
        y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [0, x]
        )[1]
        return tf.gradients(y, x)[0]

    return [tf.cond(p, f, lambda: x)]


def in_loop_rnn(tf):
    x = tf.placeholder_with_default(X, [None, 3], "x")

    def body(i, v):
        z = tf.while_loop(
            lambda j, z: j < 2, lambda j, z: (j + 1, tf.tanh(z * v)), [0, x]
        )[1]
        return (i + 1, v - 0.1 * tf.gradients(z, v)[0])

    return [tf.while_loop(lambda i, v: i < 3, body, [0, tf.ones([3])])[1]]


def variable_in_one_branch(tf):
    w = tf.get_variable("w", initializer=W, use_resource=True)
    p = tf.placeholder_with_default(True, [], "p")
    y = tf.cond(p, lambda: w * 2.0, lambda: tf.ones([3, 3]))
    return [y, *tf.gradients(y, w)]


def variable_in_both_branches(tf):
    w = tf.get_variable("w", initializer=W, use_resource=True)
    p = tf.placeholder_with_default(True, [], "p")
    y = tf.cond(p, lambda: w * 2.0, lambda: w * w)
    return [y, *tf.gradients(y, w)]


def variable_rows_in_a_branch(tf):
    w = tf.get_variable("w", initializer=W, use_resource=True)
    p = tf.placeholder_with_default(True, [], "p")
    y = tf.cond(p, lambda: tf.gather(w, [0, 1]), lambda: w[:2])
    g = tf.gradients(y, w)[0]
    return [y, tf.convert_to_tensor(g)]


def zeros_for_a_variable(tf):
    w = tf.get_variable("w", initializer=W, use_resource=True)
    x = tf.constant(2.0)
    return tf.gradients(x * x, [w, x], unconnected_gradients="zero")


def rows_of_two_index_types(tf):
    p = tf.placeholder_with_default(True, [], "p")

    def a():
        return tf.IndexedSlices(
            tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2])
        )

    def b():
        return tf.IndexedSlices(
            tf.constant([[1.0, 2.0]]), tf.constant([1], tf.int64), tf.constant([3, 2])
        )

    r = tf.cond(p, a, b)
    return [r.values, r.indices, r.dense_shape]


def sparse_branches(tf):
    s = tf.SparseTensor([[1, 1]], [2.0], [3, 3])
    r = tf.cond(
        tf.placeholder_with_default(True, [], "p"),
        lambda: s,
        lambda: tf.SparseTensor(s.indices, s.values * 3.0, s.dense_shape),
    )
    return [r.values, r.indices]


def case_gradient(tf):
    x = tf.placeholder_with_default(2.0, [], "x")
    y = tf.case(
        [(x < 1.0, lambda: x * 2.0), (x < 3.0, lambda: x * x * x)], default=lambda: -x
    )
    return [y, *tf.gradients(y, x)]


def exclusive_case(tf):
    x = tf.placeholder_with_default(2.0, [], "x")
    y = tf.case(
        [(x < 1.0, lambda: (x * 2.0, x)), (x > 1.0, lambda: (x * x * x, x))],
        exclusive=True,
        strict=True,
    )
    return list(y) + tf.gradients(y[0], x)


def loop_in_a_case(tf):
    x = tf.placeholder_with_default(2.0, [], "x")
    y = tf.case(
        [
            (x < 1.0, lambda: x * 2.0),
            (x < 3.0, lambda: tf.while_loop(lambda y: y < 30.0, lambda y: y * x, [x])),
        ],
        default=lambda: -x,
    )
    return [y, *tf.gradients(y, x)]


GRAPHS = [
    nested,
    nested_dyn,
    nested_cond,
    cond_in_loop,
    cond_in_loop_dyn,
    cond_one_side,
    loop_in_cond,
    loop_in_cond_not,
    cond_cond,
    cond_rows,
    cond_ref,
    one_par,
    nested_rows,
    nested_exit_unused,
    grad_inside,
    grad_loop_inside,
    in_branch,
    in_loop_rnn,
    variable_in_one_branch,
    variable_in_both_branches,
    variable_rows_in_a_branch,
    zeros_for_a_variable,
    rows_of_two_index_types,
    sparse_branches,
    case_gradient,
    exclusive_case,
    loop_in_a_case,
]
