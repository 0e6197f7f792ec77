# ruff: noqa: E501 -- each call is one line
"""Calls with a mistake in them (some only look like it): TensorFlow 1.15's answers.

`python bad_calls.py bad_calls.json`, with TensorFlow's Python.  `late(value)` is a
tensor whose shape only a run knows, so that the mistake meets the kernel.
"""

import json
import sys

LATE = "tf.placeholder_with_default(shape=None, input="

CALLS = """
tf.nn.conv2d(tf.ones([4, 4, 1]), tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], 'SAME')
tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 2, 2]), [1, 1, 1, 1], 'SAME')
tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], 'VALID')
tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 2]), [1, 1, 1], 'SAME')
tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], 'FULL')
tf.nn.conv2d(late(tf.ones([1, 2, 2, 1])), tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], 'VALID')
tf.nn.conv2d(tf.ones([0, 4, 4, 1]), tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], 'SAME')
tf.nn.conv2d(tf.ones([1, 4, 4, 1], tf.int32), tf.ones([3, 3, 1, 2], tf.int32), [1] * 4, 'SAME')
tf.nn.max_pool(tf.ones([4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
tf.nn.max_pool(tf.ones([1, 4, 4, 1]), [1, 2, 2], [1, 2, 2, 1], 'SAME')
tf.nn.max_pool(tf.ones([1, 4, 4, 1]), [1, 5, 5, 1], [1, 2, 2, 1], 'VALID')
tf.nn.max_pool(tf.ones([0, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
tf.nn.fused_batch_norm(tf.ones([2, 2, 2, 3]), [1.0, 1.0], [0.0, 0.0, 0.0])
tf.nn.fused_batch_norm(tf.ones([2, 2, 3]), [1.0] * 3, [0.0] * 3)
tf.nn.fused_batch_norm(tf.ones([2, 2, 2, 3]), [1.0] * 3, [0.0] * 3, is_training=False)
tf.nn.moments(tf.ones([2, 3]), [2])
tf.nn.bias_add(tf.ones([2, 3]), tf.ones([4]))
tf.nn.bias_add(late(tf.ones([2, 3])), tf.ones([4]))
tf.nn.dropout(tf.ones([2]), keep_prob=0.0)
tf.nn.dropout(tf.ones([2], tf.int32), 0.5)
tf.nn.dropout(tf.ones([2]), rate=1.5)
tf.nn.lrn(tf.ones([2, 3]))
tf.layers.dense(tf.ones([3]), 2)
tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 2)
tf.layers.conv2d(tf.ones([2, 4, 4]), 2, 3)
tf.layers.conv2d(tf.ones([2, 4, 4, 1]), 2, 3, padding='full')
tf.layers.conv2d(tf.ones([2, 4, 4, 1]), 2, 3, strides=2, dilation_rate=2)
tf.layers.conv2d(tf.ones([2, 4, 4, 1]), 2, (3, 3, 3))
tf.layers.max_pooling2d(tf.ones([2, 4, 4]), 2, 2)
tf.layers.batch_normalization(tf.ones([2, 3]), axis=4)
tf.layers.batch_normalization(tf.placeholder(tf.float32, [None, None]))
tf.nn.rnn_cell.BasicRNNCell(2)(tf.ones([3]), tf.ones([3, 2]))
tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([3, 4, 5]))
tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([3]), dtype=tf.float32)
tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([3, 4, 5]), [[1]], dtype=tf.float32)
tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), [], dtype=tf.float32)
tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3]), dtype=tf.float32)
tf.nn.dynamic_rnn(3, tf.ones([3, 4, 5]), dtype=tf.float32)
tf.losses.mean_squared_error(tf.ones([2]), tf.ones([3]))
tf.losses.mean_squared_error(None, tf.ones([3]))
tf.losses.mean_squared_error(tf.ones([2, 3]), tf.ones([2, 3]), weights=tf.ones([3]))
tf.losses.sparse_softmax_cross_entropy([[1], [0]], tf.ones([3, 2]))
tf.losses.softmax_cross_entropy(tf.ones([2, 3]), tf.ones([2, 4]))
tf.losses.cosine_distance(tf.ones([2, 3]), tf.ones([2, 3]))
tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.ones([2, 3]), logits=tf.ones([2, 4]))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=tf.ones([1, 3]))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=late([1, 0]), logits=tf.ones([1, 3]))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1.0], logits=tf.ones([1, 3]))
tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([2]), logits=tf.ones([3]))
tf.nn.in_top_k(tf.ones([2, 3]), [1, 2, 0], 1)
tf.nn.top_k(tf.ones([2, 3]), 4)
tf.nn.top_k(late(tf.ones([2, 3])), 4)
tf.nn.softmax(tf.ones([2, 3]), axis=2)
tf.nn.embedding_lookup(tf.ones([3, 2]), [3])
tf.nn.embedding_lookup([], [3])
tf.nn.embedding_lookup([tf.ones([3, 2])] * 2, [1], partition_strategy='hash')
tf.nn.embedding_lookup(tf.ones([3, 2]), [1.0])
tf.gather(late(tf.ones([3, 2])), [-1])
tf.gather_nd(tf.ones([3, 2]), [[3, 0]])
tf.one_hot([1, 2], depth=-1)
tf.metrics.accuracy(tf.ones([2]), tf.ones([3]))
tf.metrics.mean(tf.ones([2]), weights=tf.ones([3]))
tf.metrics.precision_at_k([[1]], tf.ones([1, 3]), 0)
tf.gradients(tf.constant(1.0), tf.constant(2))
tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))
tf.train.GradientDescentOptimizer(0.1).minimize(3)
tf.train.AdamOptimizer().apply_gradients([])
tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.Variable(tf.ones([2], tf.int32)))
tf.train.piecewise_constant(tf.constant(1), [1.5], [0.1, 0.2])
tf.while_loop(lambda i: i, lambda i: i + 1, [0])
tf.while_loop(lambda i: i < 3, lambda i: [i + 1, i], [0])
tf.while_loop(lambda i: i[0] < 3, lambda i: tf.concat([i, i], 0), [tf.ones([1])])
tf.while_loop(3, lambda i: i, [0])
tf.while_loop(lambda: True, lambda: None, [])
tf.cond(True, lambda: 1, lambda: 2.0)
tf.cond(True, lambda: [1, 2], lambda: 2)
tf.cond(tf.constant(True), 3, lambda: 2)
tf.cond(late([True, False]), lambda: 1, lambda: 2)
tf.map_fn(lambda v: v, 3)
tf.scan(lambda a, b: a, [tf.ones([2]), 3], initializer=0.0)
tf.TensorArray(tf.float32, 2).read(2)
tf.TensorArray(tf.float32, 2).write(0, 1.0).stack()
tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0, 3.0]).flow
tf.constant([6, 7]) // late([0, 1])
tf.constant([6, 7]) % late([0, 1])
tf.check_numerics(tf.log(late([-1.0])), 'bad log')
tf.verify_tensor_all_finite(late([1e38]) * 10.0, 'not finite')
tf.SparseTensor([[0, 1]], [1.0, 2.0], [3, 4])
tf.sparse_tensor_dense_matmul(tf.SparseTensor([[0, 1]], [1.0], [3, 4]), tf.ones([4]))
tf.sparse_to_dense([[3, 0]], [3, 4], 1.0)
tf.unsorted_segment_sum(tf.ones([2]), [0, 3], 2)
tf.segment_sum(tf.ones([2]), [1, 0])
tf.string_to_number('x')
tf.strings.substr('abc', 5, 1)
tf.contrib.lookup.index_table_from_tensor(['a', 'b']).lookup(tf.constant(['a']))
tf.contrib.lookup.index_table_from_tensor(['a', 'a']).lookup(tf.constant([1]))
tf.concat([tf.ones([2, 3]), tf.ones([3])], 0)
tf.concat([tf.ones([3]), tf.ones([2, 3])], tf.placeholder(tf.int32))
tf.concat([tf.ones([2, 3]), tf.ones([2, 3])], 5)
tf.gather(tf.ones([2, 3]), [0], axis=4)
tf.pad(tf.ones([2, 3]), [[1, 1], [-1, 0]])
tf.zeros([-2])
tf.ones([2, -5, 3], tf.int32)
tf.zeros([2, -1])
tf.fill([-2], 0.0)
tf.zeros(tf.constant([-2]))
tf.random_normal([-2])
tf.reshape(tf.ones([2]), [-2])
tf.broadcast_to(tf.ones([2]), [-2])
tf.tile(tf.ones([2]), [-2])
tf.placeholder(tf.float32, [-2])
tf.placeholder('floot')
tf.placeholder(None)
tf.argmax([1, 2], output_type='floot')
tf.argmax([1, 2], output_type=tf.float32)
tf.convert_to_tensor([tf.constant(1), tf.constant(2.0)])
tf.nn.relu(None)
tf.matmul(None, tf.ones([2, 2]))
tf.ensure_shape(tf.ones([2, 3]), [3, 3])
tf.ensure_shape(late(tf.ones([2, 3])), [None, 3])
tf.nn.conv2d(late(tf.ones([4, 4, 3])), tf.ones([2, 2, 3, 1]), [1, 1, 1, 1], 'SAME')
tf.nn.max_pool(late(tf.ones([4, 4, 3])), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
tf.decode_base64(late(['%']))
tf.nn.softmax(late(tf.ones([0, 3])))
tf.nn.log_softmax(late(tf.ones([2, 0])))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=late([0, 0]), logits=late(tf.ones([2, 0])))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=late([0, 5]), logits=tf.ones([2, 3]))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=late(tf.zeros([0], tf.int32)), logits=tf.ones([0, 3]))
tf.reduce_mean(tf.losses.mean_squared_error(late(tf.ones([0, 3])), late(tf.ones([0, 3]))))
tf.argmax(late(tf.ones([0, 3])), 0)
tf.reduce_max(late(tf.ones([0, 3])), 0)
tf.nn.embedding_lookup(tf.ones([3, 2]), late([5]))
tf.gather(tf.ones([3, 2]), late([[0, 1], [2, -1]]))
tf.gather_nd(late(tf.ones([3, 2])), [[0, 2]])
tf.constant(4) // late(0)
tf.cond(late(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0)).op.inputs[0]
tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name='inc'), [0]).op.inputs[0]
"""


def calls():
    """The expressions, in order."""
    lines = [line for line in CALLS.splitlines() if line]
    return [line.replace("late(", LATE) for line in lines]


if __name__ == "__main__":
    import tensorflow
    from calls import record

    results = {call: record(tensorflow, call) for call in calls()}
    for result in results.values():
        del result["nodes"]
    with open(sys.argv[1], "w") as file:
        json.dump(results, file, indent=0, sort_keys=True)
        file.write("\n")
