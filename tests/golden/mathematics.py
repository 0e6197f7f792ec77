"""Graphs and numbers of linear algebra, arrays, sets and random ops from real TF 1.15.

`python mathematics.py mathematics.json`, with TensorFlow's Python, writes the file
anew: for each function below its GraphDef (zlib, base64) and the values of the tensors
that it returns.  Vectors of undetermined sign are returned as products that have none.
"""

import base64
import json
import sys
import zlib

import numpy as np

A = np.array([[4.0, 1.5, -0.5], [1.25, 3.0, 0.75], [0.25, -1.0, 2.5]], np.float32)
TALL = np.array([[1.0, 2.0], [3.0, -4.0], [-5.0, 6.5]], np.float32)
B = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]], np.float32)


def shapeless(tf, array, name=None):
    return tf.placeholder_with_default(np.asarray(array), None, name=name)


# ---- linear algebra


def inverses(tf):
    x = tf.constant(A, name="x")
    y = tf.matrix_inverse(x)
    z = tf.linalg.inv(tf.stack([x, x * 2.0]), adjoint=True, name="z")
    return [y, z, *tf.gradients([y, tf.reduce_sum(z * z)], [x])]


def determinants(tf):
    x = tf.constant(A, name="x")
    d = tf.matrix_determinant(x)
    batch = tf.linalg.det(tf.stack([x, x * 2.0]), name="batch")
    sign, log = tf.linalg.slogdet(x)
    return [d, batch, sign, log, *tf.gradients([d, batch, log], [x])]


def solutions(tf):
    x, b = tf.constant(A, name="x"), tf.constant(B, name="b")
    y = tf.matrix_solve(x, b)
    z = tf.linalg.solve(x, b, adjoint=True, name="z")
    return [y, z, *tf.gradients(y * y, [x, b]), *tf.gradients(z, [x, b])]


def triangular_solutions(tf):
    x, b = tf.constant(A, name="x"), tf.constant(B, name="b")
    y = tf.matrix_triangular_solve(x, b)
    z = tf.linalg.triangular_solve(x, b, lower=False, adjoint=True, name="z")
    w = tf.cholesky_solve(x, b)
    found = tf.gradients([y, w], [x, b]) + tf.gradients(z, [x, b])
    return [y, z, w, *found]


def choleskys(tf):
    x = tf.constant(A, name="x")
    y = tf.cholesky(tf.matmul(x, x, transpose_b=True))
    z = tf.linalg.logdet(tf.stack([tf.matmul(x, x, transpose_a=True)] * 2))
    return [y, z, *tf.gradients(y * [[1.0, 2.0, 3.0]], [x]), *tf.gradients(z, [x])]


def eigenvalues(tf):
    x = tf.constant(A, name="x")
    e, v = tf.self_adjoint_eig(x)
    values = tf.self_adjoint_eigvals(x, name="values")
    again = tf.matmul(v, tf.exp(e)[:, None] * tf.transpose(v))
    loss = tf.reduce_sum(again * [[1.0, 2.0, 4.0]])
    return [e, again, values, *tf.gradients(loss, [x]), *tf.gradients(values * e, [x])]


def singular_values(tf):
    found = []
    for i, matrix in enumerate((TALL, TALL.T, A)):
        x = tf.constant(matrix, name=f"x{i}")
        s, u, v = tf.svd(x, full_matrices=i == 2)
        again = tf.matmul(u * tf.square(s), v, transpose_b=True)
        only = tf.linalg.svd(x, compute_uv=False)
        weights = np.arange(matrix.size, dtype=np.float32).reshape(matrix.shape)
        loss = tf.reduce_sum(again * weights)
        found += [s, again, only, *tf.gradients(loss, [x]), *tf.gradients(only, [x])]
    return found


def orthogonal_triangular(tf):
    x = tf.constant(TALL, name="x")
    q, r = tf.qr(x)
    return [q, r, *tf.gradients(q * [[1.0, 2.0]] + tf.matmul(x, r), [x])]


def matrix_parts(tf):
    x = tf.constant(A, name="x")
    z = tf.complex(x, x * 2.0)
    lu, p = tf.linalg.lu(x)
    return [
        lu, p, tf.linalg.adjoint(z), tf.trace(x), tf.linalg.lu(x, tf.int64)[1],
        tf.linalg.tensor_diag([1.0, 2.0]), tf.linalg.matvec(x, [1.0, 2.0, 3.0]),
        tf.linalg.l2_normalize(x, 0),
    ]  # fmt: skip


GRAPHS = [
    inverses, determinants, solutions, triangular_solutions, choleskys, eigenvalues,
    singular_values, orthogonal_triangular, matrix_parts,
]  # fmt: skip


def plain(value):
    """A value as JSON can hold it: complex numbers as pairs, text as text."""
    value = np.asarray(value)
    if value.dtype.kind == "c":
        value = np.stack([value.real, value.imag], -1)
    if value.dtype == object:
        return np.vectorize(bytes.decode, otypes=[object])(value).tolist()
    return value.tolist()


def built(tf, function):
    """A function's graph and the tensors it returns."""
    with tf.Graph().as_default() as graph:
        return graph, list(function(tf))


def values(tf, graph, tensors):
    """What running them gives."""
    with tf.Session(graph=graph) as sess:
        return [plain(v) for v in sess.run(tensors)]


if __name__ == "__main__":
    import tensorflow as tf

    found = {}
    for function in GRAPHS:
        graph, tensors = built(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "values": values(tf, graph, tensors),
        }
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
