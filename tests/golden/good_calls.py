# ruff: noqa: E501 -- each call is one line
"""Calls as programs make them, found by random ones: TensorFlow 1.15's answers.

`python -m tests.golden.good_calls FILE`, with TensorFlow's Python, writes them anew.
`late(value, shape)` is a tensor of which the graph knows only that shape; `slope(f, x)`
is the gradient of the sum of `f(x)`, with `x` a constant.
"""

import sys

import numpy as np

from tests.golden import calls as golden

CALLS = """
tf.convert_to_tensor([tf.ones([2]), late([1.0, 2.0]), tf.Variable([1.0, 2.0]).initial_value])
tf.shape([tf.Variable(1.0), tf.Variable(2.0)])
tf.reduce_sum([tf.Variable(1.0).initial_value, 2.0])
tf.zeros_like([tf.Variable([1.0]), [2.0]])
tf.shape([2.0, tf.Variable(1.0, use_resource=True)])
tf.constant(tf.constant(2))
tf.constant([1, tf.constant(2)])
tf.cast([1.5], None)
tf.cast(tf.IndexedSlices(tf.constant([1.5, -2.5]), tf.constant([0, 2]), tf.constant([4])), tf.int32).values
tf.truncatediv([7.5, -7.5], [2.0, 2.0])
tf.betainc(late([1.0, 2.0]), [1.0, 3.0], 0.5)
tf.linspace(1, 2.0, 3)
tf.minimum(True, tf.constant(2))
late([1j], [1]) > 's'
late(np.zeros([2, 0], 'f'), [None, None]) + tf.zeros([0])
tf.bitcast(late([1.0], [1]), tf.int32)
tf.bitcast(tf.zeros([2, 4], tf.uint8), tf.int16)
tf.bitcast(tf.zeros([2, 2], tf.uint8), tf.int16)
slope(lambda x: tf.bitcast(x, tf.float32), [1.5])
slope(lambda x: tf.unique(x)[0], [1.5, 1.5])
slope(lambda x: tf.setdiff1d(x, [2.0])[0], [1.5, 1.5])
slope(lambda x: tf.fill(late([2]), x), 1.5)
slope(lambda x: tf.fill(late([2], [1]), x), 1.5)
slope(lambda x: tf.nn.bias_add(tf.ones([3, 3, 0]), x, data_format='N...C'), np.zeros(0, 'f'))
tf.cast(tf.nn.selu(tf.constant([1.0], tf.bfloat16)), tf.float32)
tf.batch_gather([[1.0, 2.0], [3.0, 4.0]], [[1], [0]])
tf.matrix_triangular_solve([[2.0, 0.0], [1.0, 4.0]], late([[2.0], [5.0]]))
tf.matrix_set_diag(late([[1, 2], [3, 4]]), [5, 6])
tf.matrix_set_diag(late([[[1, 2], [3, 4]]], [None] * 3), [[5, 6]])
tf.dynamic_stitch([[0, 2]], [[1.0, 2.0], [3.0]])
tf.scatter_nd([[1], [3]], ['a', 'b'], [4])
tf.unique(late([1, 2, 1]))
tf.expand_dims([1, 2], late(0))
tf.one_hot([1], 3, on_value=5, dtype=tf.bool)
tf.one_hot([1], 3, on_value=5, off_value=1.0)
tf.einsum('ij,ij->i', late([[1.0, 2.0]], [None, None]), tf.constant([[3.0, 4.0]]))
tf.nn.softmax(tf.ones([2, 2, 2]), axis=-2)
tf.nn.log_softmax(late([[0.0], [0.0]], [None, None]), 0)
tf.shape(tf.nn.dropout(tf.ones([2]), tf.constant(1.0)))
tf.nn.leaky_relu(tf.constant(-1.0, tf.float64), 0.3) + 0.3
slope(lambda x: tf.nn.leaky_relu(x, 0.3) + 0.3 * x, np.float64(-1.0))
slope(lambda x: x * tf.image.hsv_to_rgb(tf.stack([x] * 3)), 0.5)
slope(lambda x: [x * 2.0, tf.metrics.mean(x)[1]], 0.5)
tf.nn.atrous_conv2d(tf.ones([1, 3, 3, 1]), late(np.ones([2, 2, 1, 1], 'f'), [None, 2, None, 1]), 2, 'VALID')
tf.strings.split([' a b', '', 'a'], maxsplit=0).values
tf.strings.split([' a b  c', '', 'a'], maxsplit=1).values
tf.reduce_join([['a', 'b']], 0, name='q')
tf.substr(['ab', 'cd'], [0, 1], 1)
tf.abs(tf.SparseTensor([[0, 1]], [-1.0], [1, 2])).values
tf.square(tf.SparseTensor([[0, 1]], [-2.0], [1, 2]), 'q').values
tf.sparse_add(tf.SparseTensor(late(np.int64([[0, 1]]), [None, 2]), [1.0], late(np.int64([1, 2]))), tf.SparseTensor([[0, 1]], [-2.0], [1, 2])).dense_shape
tf.sparse_add(tf.SparseTensor([[0, 1], [1, 1]], [0.1, 0.1], [2, 2]), tf.SparseTensor([[0, 0], [1, 1]], [0.1, 0.1], [2, 2]), thresh=1.0).values
tf.reduce_join(np.zeros([2, 3, 0], 'S1'), 0, separator='-')
tf.reduce_join(np.zeros([2, 3, 0], 'S1'), -1, separator='-')
slope(lambda x: tf.sparse_reduce_sum_sparse(tf.SparseTensor([[0, 1]], x, [2, 2]), 0).values, [1.0])
tf.reshape([[1, 2]], -1)
tf.reshape([[1, 2]], 2)
tf.fill(3, 1.0)
tf.random_normal(3)
tf.random_uniform([[3]])
tf.zeros(3)
tf.slice([1, 2, 3], 0, 2)
tf.strided_slice([1, 2, 3], 0, 2)
tf.transpose([[1, 2]], 1)
tf.pad([1, 2], 1)
tf.pad([1, 2], [1, 1])
tf.convert_to_tensor(1, preferred_dtype=tf.float32, dtype_hint=tf.int32)
slope(lambda x: tf.matrix_set_diag(x, late([[5.0]])), [[[1.0, 2.0]]])
tf.sequence_mask(late(2))
slope(lambda x: tf.gather(x * x, [0, 0]), [1.0, 2.0])
slope(lambda x: tf.gather(x + 2.0 * x, [1]), [1.0, 2.0])
slope(lambda x: tf.gather(x - [1.0, 0.0], [1, 0]), [1.0, 2.0])
slope(lambda x: tf.nn.embedding_lookup(x * tf.ones([2, 1]), [0, 1, 1]), [1.0, 2.0])
slope(lambda x: tf.gather(tf.squared_difference(x, 3.0), [1, 0]), [1.0, 2.0])
slope(lambda x: tf.gather(x * late([2.0, 3.0], [2]), [1, 0]), [1.0, 2.0])
slope(lambda x: tf.gather(tf.tile(x, [2]), [3, 0]), [1.0, 2.0])
tf.sparse_maximum(tf.SparseTensor([[0, 1]], [-1.0], [1, 2]), tf.SparseTensor([[0, 1]], [1.0], [1, 2])).indices
"""


def calls():
    """The expressions."""
    return [line for line in CALLS.splitlines() if line]


def record(tf, call):
    """{nodes, static, value} or {nodes, error} of one expression."""

    def late(value, shape=None):
        return tf.placeholder_with_default(value, shape)

    def slope(function, value):
        x = tf.constant(value)
        return tf.gradients(function(x), x)

    names = {"np": np, "late": late, "slope": slope}
    return golden.record(tf, call, names, static=True)


if __name__ == "__main__":
    import tensorflow

    golden.write(sys.argv[1], {call: record(tensorflow, call) for call in calls()})
