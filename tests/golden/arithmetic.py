# ruff: noqa: B015, B018, E501, E741, RUF005 - terse graphs, results unused
"""Graphs of arithmetic and gradients from real TensorFlow 1.15.

Run with the oracle's Python: `python arithmetic.py arithmetic.json`.  Each function
builds a graph; the file gets the GraphDefs, with the static shapes.
"""

import base64
import json
import sys
import zlib


def operators(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    i = tf.placeholder(tf.int32, [3], name="i")
    b = tf.placeholder(tf.bool, [3], name="b")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    tf.placeholder(tf.float32, name="u")
    x + 1
    1 + x
    x - 1.0
    1 - x
    x * 2
    2 * x
    x / 2
    2 / x
    i / 2
    2 / i
    x // 2
    2 // x
    i // 2
    x % 2
    2 % i
    x**2
    2**x
    -x
    abs(x)
    ~b
    b & b
    b | True
    b ^ b
    True ^ b
    x < 1
    x <= 1
    x > 1
    x >= 1
    x > 1
    x @ tf.transpose(x)
    x + y
    x + [1.0, 2.0, 3.0]
    tf.div(i, 2)
    tf.div(x, 2.0)
    tf.truediv(i, 3)
    tf.floordiv(x, 2.0)
    tf.divide(x, 2.0)
    tf.divide(x, 2.0, name="dd")
    tf.mod(i, 2)
    tf.floor_div(i, 2)
    tf.truncatediv(i, 2)
    tf.cast(x, tf.int32)
    tf.cast([1, 2], tf.float32)
    tf.cast(3, tf.int32)
    tf.to_float(i)
    tf.to_int32(x)
    tf.saturate_cast(x, tf.uint8)
    tf.saturate_cast(i, tf.int8)
    tf.add(x, 1.0)
    tf.add(2, 5)
    tf.pow(x, 2.0)
    tf.pow(2, 3)
    tf.abs(-3)
    tf.round(x)
    tf.round(i)
    tf.sigmoid([1.0])
    tf.tanh(x)
    tf.square(2.0)
    tf.div_no_nan(x, 2.0)
    tf.scalar_mul(2.0, x)
    tf.add_n([x, x])
    tf.add_n([x], name="q")
    tf.accumulate_n([x, x])
    tf.clip_by_value(x, 0.0, 1.0)
    tf.clip_by_value(x, 0.0, 1.0, name="clipped")
    tf.logical_xor(b, b)
    tf.equal(x, 1.0)
    tf.not_equal(x, y)
    tf.maximum(x, 0.0)
    tf.squared_difference(x, 1.0)
    tf.range(5)
    tf.range(1, i[0])
    tf.range(0.0, 2.0, 0.5)
    tf.range(3, 10, dtype=tf.int64)
    tf.range(1, 2.5)
    tf.linspace(0.0, 1.0, 5)
    tf.cumsum(x)
    tf.cumsum(x, 1, exclusive=True)
    tf.cumprod(x, axis=1, reverse=True, name="cp")
    tf.complex(1.0, 2.0)
    c = tf.complex(x, x)
    tf.abs(c)
    tf.real(c)
    tf.imag(c)
    tf.angle(c)
    tf.conj(c)
    tf.real(x)
    tf.imag(x)
    tf.conj(x)


def reductions(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    u = tf.placeholder(tf.float32, name="u")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    tf.reduce_sum(x)
    tf.reduce_sum(x, 1)
    tf.reduce_sum(x, [0, 1], keepdims=True)
    tf.reduce_mean(u)
    tf.reduce_mean(x, axis=-1, keep_dims=True)
    tf.reduce_max(x, reduction_indices=[1])
    tf.reduce_sum([1.0, 2.0])
    tf.reduce_mean([[1, 2]], 0, name="m")
    tf.reduce_any(x > 0)
    tf.reduce_all(x > 0, 1)
    tf.reduce_prod(y)
    tf.reduce_min(y, 0)
    tf.reduce_logsumexp(x, 1)
    tf.reduce_logsumexp(x)
    tf.reduce_logsumexp(u)
    tf.count_nonzero(x)
    tf.count_nonzero(x, 1, dtype=tf.int32)
    tf.math.reduce_std(x)
    tf.math.reduce_variance(x, 1)
    tf.math.reduce_euclidean_norm(x, 1)
    tf.argmax(x, 1)
    tf.argmin(x)
    tf.argmax(x, 1, output_type=tf.int32)
    tf.arg_max(x, 0)
    v = tf.Variable([1.0, 2.0], name="v")
    tf.reduce_sum(v)
    tf.reduce_mean(v, 0)


def products(tf):
    a = tf.placeholder(tf.float32, [2, 3], name="a")
    b = tf.placeholder(tf.float32, [3, 4], name="b")
    t = tf.placeholder(tf.float32, [5, 2, 3], name="t")
    p = tf.placeholder(tf.float32, [None, 3], name="p")
    u = tf.placeholder(tf.float32, name="u")
    tf.matmul(a, b)
    tf.matmul(a, a, transpose_b=True)
    tf.matmul(t, t, transpose_a=True)
    tf.matmul(t, b)
    tf.matmul([[1.0]], [[2.0]])
    tf.matmul(a, b, name="mm")
    tf.matmul(u, b)
    tf.matmul(a, a, adjoint_a=True)
    tf.linalg.matvec(a, [1.0, 2.0, 3.0])
    tf.norm(a)
    tf.norm(a, axis=1)
    tf.norm(a, ord=1)
    tf.norm(a, ord=3, axis=1, keepdims=True)
    tf.norm(a, axis=[0, 1], ord="fro")
    tf.norm(a, ord=1, axis=(0, 1))
    tf.norm(a, ord=float("inf"))
    tf.tensordot(a, b, 1)
    tf.tensordot(a, b, [[1], [0]])
    tf.tensordot(p, b, 1)
    tf.tensordot(t, b, axes=[2, 0])
    tf.tensordot(p, u, [[1], [0]])
    tf.tensordot(t, t, [[0, 1], [0, 1]])
    tf.einsum("ij,jk->ik", a, b)
    tf.einsum("bij,jk->bik", t, b)
    tf.einsum("ij->ji", a)
    tf.einsum("ij,ij->", a, a)
    tf.einsum("i,j->ij", a[0], b[0])
    tf.einsum("ij,jk->ik", p, b)
    tf.einsum("...ij,jk->...ik", t, b)
    tf.einsum("ij,jk", a, b, name="es")


def binary_gradients(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    r = tf.placeholder(tf.float32, [3], name="r")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    s = tf.placeholder(tf.float32, [], name="s")
    z = x + r
    z = z - s
    z = z * r
    z = z / (x + 1.0)
    tf.gradients(z, [x, r, s])
    z = x * x + tf.square(x) - x
    tf.gradients(z, [x])
    z = (y + r) * s
    z = z - y
    tf.gradients(z, [y, r, s])
    z = tf.pow(x, r)
    tf.gradients(z, [x, r])
    tf.gradients(tf.pow(y, 2.0), [y])
    tf.gradients(tf.maximum(x, r), [x, r])
    tf.gradients(tf.minimum(y, r), [y])
    tf.gradients(tf.squared_difference(x, r), [x, r])
    tf.gradients(tf.squared_difference(x, x + 1.0), [x])
    tf.gradients(x % r, [x, r])
    tf.gradients(tf.div_no_nan(x, r), [x, r])
    tf.gradients(x // r, [x])
    tf.gradients(tf.atan2(x, x), [x])
    tf.gradients(tf.math.xlogy(x, r), [x, r])
    tf.gradients(tf.math.xdivy(x, r), [x, r])
    tf.gradients(tf.div(x, r), [x, r])


def unary_gradients(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    for f in "negative abs sign square sqrt rsqrt reciprocal exp expm1 log log1p sin cos tan asin acos atan sinh cosh asinh acosh atanh tanh sigmoid erf erfc lgamma digamma floor ceil round rint".split():
        g = tf.gradients(getattr(tf, f)(x), [x])
        if f in ("sqrt", "rsqrt", "reciprocal", "tanh", "sigmoid", "exp", "square"):
            tf.gradients(g[0], [x])
    tf.gradients(tf.cast(x, tf.float64), [x])
    c = tf.complex(x, x + 1.0)
    tf.gradients(tf.abs(c), [x])
    tf.gradients(tf.real(c) * tf.imag(c), [x])
    tf.gradients(tf.angle(c), [x])
    tf.gradients(tf.real(tf.conj(c)), [x])
    tf.gradients(tf.add_n([x, x]), [x])
    tf.gradients(tf.accumulate_n([x, x]), [x])
    tf.gradients(tf.clip_by_value(x, 0.0, 1.0), [x])


def reduction_gradients(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    u = tf.placeholder(tf.float32, name="u")
    for t in (x, y, u):
        for f in (
            "reduce_sum",
            "reduce_mean",
            "reduce_max",
            "reduce_prod",
            "reduce_min",
        ):
            tf.gradients(getattr(tf, f)(t), [t])
            tf.gradients(getattr(tf, f)(t, 1), [t])
            tf.gradients(getattr(tf, f)(t, [0], keepdims=True), [t])
    tf.gradients(tf.reduce_logsumexp(x, 1), [x])
    tf.gradients(tf.cumsum(x), [x])
    tf.gradients(tf.cumprod(x, 1, exclusive=True), [x])


def product_gradients(tf):
    a = tf.placeholder(tf.float32, [2, 3], name="a")
    b = tf.placeholder(tf.float32, [3, 4], name="b")
    t = tf.placeholder(tf.float32, [5, 2, 3], name="t")
    p = tf.placeholder(tf.float32, [None, 3], name="p")
    tf.gradients(tf.matmul(a, b), [a, b])
    tf.gradients(tf.matmul(b, a, transpose_a=True, transpose_b=True), [a, b])
    tf.gradients(tf.matmul(a, a, transpose_a=True), [a])
    tf.gradients(tf.matmul(a, a, transpose_b=True), [a])
    tf.gradients(tf.matmul(p, b), [p, b])
    tf.gradients(tf.matmul(t, b), [t, b])
    tf.gradients(tf.matmul(t, t, transpose_b=True), [t])
    tf.gradients(tf.matmul(t, t, adjoint_a=True), [t])
    tf.gradients(tf.norm(a), [a])


def clipping(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    tf.placeholder(tf.float32, name="u")
    tf.clip_by_norm(x, 1.0)
    tf.clip_by_norm(y, 2.0, axes=[1], name="cn")
    tf.global_norm([x, None, y])
    tf.clip_by_global_norm([x, None, y], 3.0)
    tf.clip_by_global_norm([x], 3.0, use_norm=tf.constant(2.0), name="z")
    tf.clip_by_average_norm(x, 1.0)
    tf.gradients(tf.clip_by_norm(x, 1.0), [x])


def model_gradients(tf):
    a = tf.placeholder(tf.float32, [2, 3], name="a")
    b = tf.placeholder(tf.float32, [3, 4], name="b")
    w = tf.Variable(tf.zeros([3, 4]), name="w")
    bias = tf.Variable(tf.zeros([4]), name="bias")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    z = tf.sigmoid(tf.matmul(y, w) + bias)
    l = tf.reduce_mean(tf.square(z - 1.0))
    tf.gradients(l, [w, bias])
    tf.gradients(tf.tensordot(a, b, 1), [a, b])
    tf.gradients(tf.einsum("ij,jk->ik", y, w), [y, w])
    tf.gradients(tf.reduce_logsumexp(y), [y])
    tf.gradients(tf.reduce_max(tf.matmul(y, w) * 2.0), [w])
    tf.gradients(tf.math.reduce_std(a * 2.0), [a])


GRAPHS = [
    operators, reductions, products, binary_gradients, unary_gradients,
    reduction_gradients, product_gradients, clipping, model_gradients,
]  # fmt: skip

if __name__ == "__main__":
    import tensorflow as tf

    found = {}
    for build in GRAPHS:
        with tf.Graph().as_default() as graph:
            build(tf)
        data = graph.as_graph_def(add_shapes=True).SerializeToString()
        found[build.__name__] = base64.b64encode(zlib.compress(data, 9)).decode()
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
