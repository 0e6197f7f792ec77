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


def matrix_functions(tf):
    x = tf.constant(A, name="x")
    many = tf.constant(np.stack([A * 0.05, A * 0.4, A * 5.0]), name="many")
    wide = tf.constant(A.astype(np.float64), name="wide")
    free = shapeless(tf, A, "free")
    z = tf.complex(x, x * 0.25, name="z")
    root, power = tf.linalg.sqrtm(x), tf.linalg.expm(many)
    found = [root, tf.linalg.logm(z), power, tf.linalg.expm(wide), tf.linalg.expm(free)]
    found += [tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]), tf.linalg.pinv(TALL)]
    found += [tf.norm(x, 2, axis=[0, 1]), tf.norm(many, 2, [-1, 0], keepdims=True)]
    found += [tf.linalg.matrix_rank(free), *tf.linalg.normalize(x, axis=1)]
    return found + tf.gradients(root, [x]) + tf.gradients(tf.linalg.pinv(x), [x])


def least_squares(tf):
    found = []
    for i, a in enumerate((TALL, TALL.T)):
        x = tf.constant(a, name=f"x{i}")
        b = tf.constant(B[: len(a)], name=f"b{i}")
        plain = tf.matrix_solve_ls(x, b, l2_regularizer=0.5)
        slow = tf.linalg.lstsq(x, b, fast=False, name=f"slow{i}")
        found += [plain, slow, tf.matrix_solve_ls(x, b)]
        found += tf.gradients(plain, [x, b])
    x, b = tf.fill([8000, 3, 3], 0.5) + A, tf.ones([8000, 3, 1])
    solved = tf.matrix_solve_ls(x, b, 0.25)
    return found + [solved[-1]] + [g[-1] for g in tf.gradients(solved, [x, b])]


def three_diagonals(tf):
    x = tf.constant(A, name="x")
    b = tf.constant(B, name="b")
    free = tf.placeholder_with_default(A, [None, 3], name="free")
    parts = [x[0, :2], x[1], x[2, 1:]]
    solve, times = tf.linalg.tridiagonal_solve, tf.linalg.tridiagonal_matmul
    found = [solve(x, b), solve(x, b[:, 0], partial_pivoting=False), solve(free, b)]
    found += [solve(parts, b, "sequence"), solve(x, tf.transpose(b), "matrix", True)]
    found += [times(x, b), times([x[0], x[1], x[2]], b, "sequence", "s")]
    found += [times(x, b, "matrix")]
    for y in found[:]:
        found += tf.gradients(y * y, [b])
    found += tf.gradients(found[:2], [x]) + tf.gradients(found[2], [free])
    return found + tf.gradients(found[5], [x])


# ---- counts, orders, segments


def counts(tf):
    i = shapeless(tf, np.array([3, 1, 1, 0], np.int32), "i")
    x = tf.constant([0.5, -1.0, 3.5, 9.0], name="x")
    weighted = tf.bincount([0, 3, 3, 1], weights=x, minlength=3, maxlength=7)
    return [
        tf.bincount(i), tf.bincount([[1, 2], [2, 5]], dtype=tf.float32), weighted,
        tf.histogram_fixed_width(x, [0.0, 5.0], 4, dtype=tf.int64),
        tf.histogram_fixed_width_bins(x, [0.0, 5.0], nbins=4),
        tf.unravel_index([2, 5, 7], [3, 4]), *tf.gradients(weighted, [x]),
    ]  # fmt: skip


def orders(tf):
    x = tf.constant(A, name="x")
    y = shapeless(tf, A, "y")
    found = [tf.sort(x), tf.sort(x, axis=0, direction="DESCENDING"), tf.sort(y, -2)]
    found += [tf.argsort(x, axis=-2), tf.argsort(y, 0, "DESCENDING", name="places")]
    return found + tf.gradients(found[0] * [[1.0, 2.0, 3.0]], [x])


def sparse_segments(tf):
    x = tf.constant(A, name="x")
    found = []
    for f in (tf.sparse_segment_sum, tf.sparse_segment_mean, tf.sparse_segment_sqrt_n):
        found.append(f(x, [0, 2, 2], [0, 0, 1]))
        found.append(f(x, [1, 0], [0, 3], num_segments=5))
        found += tf.gradients(found[-1] + 1.0, [x]) + tf.gradients(found[-2], [x])
    return found


def bits(tf):
    x, y = tf.constant([6, -3, 100], name="x"), tf.constant([3, 5, 12], name="y")
    b = tf.bitwise
    names = "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()
    return [getattr(b, n)(x, y) for n in names] + [b.invert(x, name="all")]


# ---- Fourier transforms


def transforms(tf):
    z = tf.constant((A + 1j * A.T).astype(np.complex64), name="z")
    cube = tf.stack([z, z * 2.0])
    f = tf.signal
    found = [tf.fft(z), tf.ifft(z), f.fft2d(cube), f.ifft2d(z), f.fft3d(cube)]
    found.append(tf.ifft3d(cube))
    for y in list(found):
        found += tf.gradients(tf.abs(y), [z])
    return [*found, f.fftshift(z), f.ifftshift(z, 1), f.fftshift(z, [0, 1], name="s")]


def real_transforms(tf):
    x = tf.constant(A, name="x")
    y = tf.placeholder_with_default(A, [None, 3], name="y")
    w = shapeless(tf, np.array([4], np.int32), "w")
    f = tf.signal
    found = [f.rfft(x), f.rfft(x, [6]), f.rfft(y), f.rfft(x, w), f.rfft2d(x, [4, 3])]
    found += [f.irfft(found[0]), f.irfft(found[2]), f.irfft2d(found[4], [4, 3])]
    found += [f.rfft3d(tf.stack([x, x + 1.0])), f.irfft2d(f.rfft2d(y))]
    found.append(f.irfft3d(found[8], [2, 3, 3]))
    for y in found[:8]:
        found += tf.gradients(tf.abs(y), [x])
    return [t for t in found if t is not None]


# ---- special functions


def special_functions(tf):
    a = tf.constant([[0.5, 2.0], [3.0, 20.0]], name="a")
    x = tf.constant([0.75, 8.0], name="x")
    m = tf.math
    found = [m.igamma(a, x), tf.igammac(a, x), m.bessel_i0e(x), m.bessel_i1e(x)]
    found += [m.bessel_i0(x), m.bessel_i1(x), tf.lbeta(a), m.nextafter(a, x)]
    found += [m.betainc(a, a + 1.0, x[0] * 0.5), m.reciprocal_no_nan(a - 2.0)]
    found += [m.polyval([x, 2.0, x], a), tf.cross(A, A + 1.0)]
    found += [tf.log_sigmoid(x - 4.0), m.log_sigmoid(a, name="ls")]
    found += [m.cumulative_logsumexp(a, 1), m.cumulative_logsumexp(x, reverse=True)]
    for y in found[:11] + found[12:]:
        found += [g for g in tf.gradients(y * 2.0, [a, x]) if g is not None]
    return found


# ---- whole graphs, counts of classes, hints


def second_derivatives(tf):
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.constant(B, name="y")
    loss = tf.reduce_sum(x**3) * tf.reduce_prod(x) + tf.reduce_sum(tf.exp(y) * x)
    return tf.hessians(loss, [x, y]) + tf.hessians([x * x[::-1]], x)


def confusion(tf):
    labels, guesses = tf.constant([0, 2, 2], name="labels"), [0, 1, 2]
    known = shapeless(tf, np.array([1, 0, 0], np.int64), "known")
    return [
        tf.confusion_matrix(labels, guesses),
        tf.math.confusion_matrix(labels, guesses, 4, tf.float32, None, [1.0, 2.0, 0.5]),
        tf.confusion_matrix(known, known, num_classes=3, name="cm"),
    ]  # fmt: skip


def checks(tf):
    x = tf.placeholder_with_default(A, [3, 3], name="x")
    y = tf.matmul(x, tf.cast(x, tf.float32)) + tf.cast(tf.argmax(x), tf.float32)
    tf.add_check_numerics_ops()
    return [y, tf.parallel_stack([x[0], x[1]])]


def hinted_products(tf):
    x, y = tf.constant(A, name="x"), tf.constant(B, name="y")
    first = tf.matmul(tf.nn.relu(x), y, a_is_sparse=True)
    second = tf.matmul(first, x, transpose_a=True, b_is_sparse=True)
    third = tf.matmul(x, second, transpose_b=True, a_is_sparse=True, name="third")
    last = tf.sparse_matmul(x, y, transpose_a=True)
    return [second, third, last, *tf.gradients([third, last], [x, y])]


GRAPHS = [
    inverses, determinants, solutions, triangular_solutions, choleskys, eigenvalues,
    singular_values, orthogonal_triangular, matrix_parts,
    matrix_functions, least_squares, three_diagonals, counts, orders,
    sparse_segments, bits, transforms, real_transforms, special_functions,
    second_derivatives, confusion, checks, hinted_products,
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


def write(tf, functions, path):
    """Write what TensorFlow makes of the functions."""
    found = {}
    for function in functions:
        graph, tensors = built(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "values": values(tf, graph, tensors),
        }
    with open(path, "w") as f:
        json.dump(found, f, indent=0)


if __name__ == "__main__":
    import tensorflow

    write(tensorflow, GRAPHS, sys.argv[1])
