# ruff: noqa: E501 -- each call is one line
"""Good calls of functions whose docstrings show none that stands by itself."""

from __future__ import annotations

import ast

# Not called, and why.
_LEFT_OUT = {
    r"tf\.(io\.)?gfile\.|tf\.io\.write_graph|tf\.train\.write_graph": "changes files",
    r"tf\.summary\.FileWriter|tf\.train\.(Summary|summary_iterator)": "writes files",
    r"tf\.contrib\.(learn|tensorboard)|.*slim\.learning\.train$": "reads or writes files",
    r"tf\.(config|test|app|flags|logging|resource_loader|client)\b": "not of graphs",
    r"tf\.(install_as_tensorflow|load_ipython_extension|simulate_gpus)": "not TF's",
    r"tf\.(with_dependencies)": "not TF's public name",
    r"tf\.(reset_default_graph|get_logger|InteractiveSession)": "outlive the call",
    r"tf\.(enable|disable)_.*|tf\.register_tensor_conversion.*": "outlive the call",
    r"tf\.(RegisterGradient|NoGradient|NotDifferentiable|no_gradient)": "outlive the call",
    r".*(RegisterKL|add_arg_scope|custom_gradient|set_random_seed)": "outlive the call",
    r"tf\.(Tensor|Operation|DType|GraphKeys|VariableScope|OpError)$": "made by others",
    r"tf\.(Aggregation.*|Unconnected.*|VariableAgg.*|VariableSync.*)": "enumerations",
    r".*(ResizeMethod|ReparameterizationType|InferenceHelper|RNNCell)$": "abstract",
    r"tf\.errors\.|tf\.(lookup|contrib\.lookup)\.Text.*|.*_from_file": "needs files",
    r"tf\.contrib\.rnn\.(CompiledWrapper|LayerRNNCell|FusedRNNCell)$": "abstract",
    r"tf\.contrib\.opt\.(extend|Decoupled).*": "makes classes",
}
LEFT_OUT = "|".join(f"(?:{pattern})" for pattern in _LEFT_OUT)

_TEXT = """
tf.Assert(tf.constant(True), [tf.constant(1)])
tf.Print([1.0, 2.0], [tf.constant(1)], 'shape: ')
tf.Session(graph=graph())
tf.assign(variable(), [3.0, 4.0])
tf.assign_add(variable(), [3.0, 4.0])
tf.assign_sub(variable(), [3.0, 4.0])
tf.batch_to_space_nd(tf.ones([4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]])
tf.boolean_mask([1, 2, 3], [True, False, True])
tf.case([(tf.constant(True), lambda: tf.constant(1))], default=lambda: tf.constant(2))
tf.cholesky_solve([[2.0, 0.0], [1.0, 1.0]], [[1.0], [2.0]])
tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))
tf.control_dependencies([operation()])
tf.count_up_to(variable(3), 5)
tf.cumsum([1.0, 2.0, 3.0])
tf.device('/cpu:0')
tf.dynamic_partition([1.0, 2.0, 3.0], [0, 1, 0], 2)
tf.dynamic_stitch([[0, 2], [1]], [[1.0, 3.0], [2.0]])
tf.einsum('ij,jk->ik', tf.ones([2, 3]), tf.ones([3, 2]))
tf.ensure_shape(tf.ones([2, 3]), [None, 3])
tf.foldl(lambda a, x: a + x, np.array([1.0, 2.0, 3.0]))
tf.foldr(lambda a, x: a + x, np.array([1.0, 2.0, 3.0]))
tf.gather([[1, 2], [3, 4]], [1, 0])
tf.gather_nd([[1, 2], [3, 4]], [[0, 1]])
tf.get_collection('trainable_variables')
tf.get_variable('v', [2, 3])
tf.gradients(variable() * 2.0, [variable()])
tf.group(operation())
tf.identity_n([1.0, 2])
tf.import_graph_def(graph().as_graph_def())
tf.map_fn(lambda x: x * 2.0, np.array([1.0, 2.0]))
tf.matmul([[1.0, 2.0]], [[1.0], [2.0]])
tf.name_scope('a')
tf.one_hot([0, 2], 3)
tf.pad([[1, 2]], [[1, 1], [0, 2]])
tf.parallel_stack([[1.0], [2.0]])
tf.py_func(lambda x: x, [1.0], tf.float32)
tf.reverse_sequence([[1, 2, 3]], [2], seq_axis=1)
tf.scan(lambda a, x: a + x, np.array([1.0, 2.0, 3.0]))
tf.scatter_add(variable(), [0], [1.0])
tf.scatter_nd([[1], [3]], [9, 10], [5])
tf.scatter_nd_update(variable(), [[0]], [1.0])
tf.scatter_update(variable(), [0], [1.0])
tf.slice([[1, 2], [3, 4]], [0, 1], [2, 1])
tf.space_to_batch_nd(tf.ones([1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]])
tf.split(tf.ones([4, 2]), 2)
tf.stack([[1, 2], [3, 4]], axis=1)
tf.strided_slice([1, 2, 3, 4], [0], [3], [2])
tf.switch_case(tf.constant(0), [lambda: tf.constant(1), lambda: tf.constant(2)])
tf.tensordot(tf.ones([2, 3]), tf.ones([3, 2]), 1)
tf.tuple([tf.constant(1), tf.constant(2)])
tf.where([True, False], [1, 2], [3, 4])
tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
tf.contrib.layers.optimize_loss(tf.reduce_sum(variable() * 1.0), None, 0.1, 'SGD')
tf.contrib.rnn.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)])
tf.contrib.seq2seq.sequence_loss(tf.ones([2, 3, 4]), tf.ones([2, 3], tf.int32),
tf.ones([2, 3])) tf.hessians(tf.reduce_sum(tf.square(variable())), variable())
tf.image.adjust_brightness(tf.ones([2, 2, 3]), 0.1)
tf.image.adjust_contrast(tf.ones([2, 2, 3]), 2.0)
tf.image.adjust_hue(tf.ones([2, 2, 3]), 0.1)
tf.image.central_crop(tf.ones([4, 4, 3]), 0.5)
tf.image.crop_and_resize(tf.ones([1, 4, 4, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])
tf.image.crop_to_bounding_box(tf.ones([4, 4, 3]), 1, 1, 2, 2)
tf.image.draw_bounding_boxes(tf.ones([1, 4, 4, 3]), [[[0.0, 0.0, 1.0, 1.0]]])
tf.image.flip_left_right(tf.ones([2, 2, 3]))
tf.image.non_max_suppression([[0.0, 0.0, 1.0, 1.0]], [0.5], 3)
tf.image.pad_to_bounding_box(tf.ones([4, 4, 3]), 1, 1, 8, 8)
tf.image.resize(tf.ones([1, 4, 4, 3]), [2, 2])
tf.image.resize_bilinear(tf.ones([1, 4, 4, 3]), [2, 2])
tf.image.resize_with_crop_or_pad(tf.ones([4, 4, 3]), 2, 6)
tf.image.rgb_to_grayscale(tf.ones([2, 2, 3]))
tf.layers.batch_normalization(tf.ones([2, 3]))
tf.layers.conv1d(tf.ones([2, 4, 3]), 2, 3)
tf.layers.conv2d(tf.ones([2, 4, 4, 3]), 2, 3)
tf.layers.conv2d_transpose(tf.ones([2, 4, 4, 3]), 2, 3)
tf.layers.dense(tf.ones([2, 3]), 4)
tf.layers.dropout(tf.ones([2, 3]), 0.5)
tf.layers.flatten(tf.ones([2, 3, 4]))
tf.layers.max_pooling2d(tf.ones([2, 4, 4, 3]), 2, 2)
tf.layers.average_pooling2d(tf.ones([2, 4, 4, 3]), 2, 2)
tf.losses.absolute_difference([1.0, 2.0], [1.0, 3.0])
tf.losses.mean_squared_error([1.0, 2.0], [1.0, 3.0])
tf.losses.softmax_cross_entropy([[1.0, 0.0]], [[2.0, 3.0]])
tf.losses.sparse_softmax_cross_entropy([1], [[2.0, 3.0]])
tf.metrics.accuracy([1, 0], [1, 1])
tf.metrics.auc([1, 0], [0.2, 0.8])
tf.metrics.mean([1.0, 2.0])
tf.nn.avg_pool(tf.ones([1, 4, 4, 3]), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
tf.nn.batch_normalization(tf.ones([2, 3]), 0.0, 1.0, 0.0, 1.0, 0.001)
tf.nn.bias_add(tf.ones([2, 3]), [1.0, 2.0, 3.0])
tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(3),
tf.ones([2, 3, 4]), dtype=tf.float32) tf.nn.conv1d(tf.ones([1, 4, 3]), tf.ones([2, 3,
2]), 1, 'SAME') tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 2]), [1, 1, 1, 1],
'SAME') tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 3]), tf.ones([2, 2, 2, 3]), [1, 4, 4,
2], [1, 2, 2, 1]) tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([1, 1, 1, 1, 2]), [1,
1, 1, 1, 1], 'SAME') tf.nn.depthwise_conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3,
2]), [1, 1, 1, 1], 'SAME') tf.nn.dropout(tf.ones([2, 3]), 0.5)
tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3, 4]), dtype=tf.float32)
tf.nn.embedding_lookup(tf.ones([4, 2]), [1, 0])
tf.nn.fused_batch_norm(tf.ones([1, 2, 2, 3]), [1.0] * 3, [0.0] * 3)
tf.nn.in_top_k([[1.0, 2.0]], [1], 1)
tf.nn.max_pool(tf.ones([1, 4, 4, 3]), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
tf.nn.moments(tf.ones([2, 3]), [0])
tf.nn.nce_loss(tf.ones([5, 2]), tf.ones([5]), [[1]], tf.ones([1, 2]), 2, 5)
tf.nn.separable_conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 1]), tf.ones([1, 1, 3,
2]), [1, 1, 1, 1], 'SAME') tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0],
logits=[2.0]) tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[2.0,
3.0]]) tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[1.0, 0.0]], logits=[[2.0,
3.0]]) tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[2.0, 3.0]])
tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), [tf.ones([2, 3])], dtype=tf.float32)
tf.nn.top_k([1.0, 3.0, 2.0], 2)
tf.nn.weighted_cross_entropy_with_logits([1.0], [2.0], 0.5)
tf.nn.xw_plus_b(tf.ones([2, 3]), tf.ones([3, 2]), [1.0, 2.0])
tf.sparse_add(sparse(), sparse())
tf.sparse_concat(1, [sparse(), sparse()])
tf.sparse_placeholder(tf.float32)
tf.sparse_reduce_sum(sparse(), 0)
tf.sparse_reorder(sparse())
tf.sparse_reshape(sparse(), [3, 2])
tf.sparse_retain(sparse(), [True, False])
tf.sparse_slice(sparse(), [0, 0], [1, 2])
tf.sparse_tensor_dense_matmul(sparse(), tf.ones([3, 2]))
tf.sparse_tensor_to_dense(sparse())
tf.sparse_to_dense([[0, 1]], [2, 3], [5.0])
tf.sparse_transpose(sparse())
tf.summary.histogram('h', [1.0, 2.0])
tf.summary.image('i', tf.ones([1, 4, 4, 3]))
tf.summary.scalar('s', 1.0)
tf.train.Saver([variable()])
tf.train.exponential_decay(0.1, tf.constant(3), 10, 0.9)
tf.train.piecewise_constant(tf.constant(1), [1, 2], [0.1, 0.2, 0.3])
tf.variables_initializer([variable()])
graph().add_to_collection('c', 1)
graph().as_graph_element('no_op')
graph().colocate_with(operation())
graph().control_dependencies([operation()])
graph().device('/cpu:0')
graph().get_collection('c')
graph().get_operation_by_name('a')
graph().get_tensor_by_name('a:0')
graph().gradient_override_map({'Relu': 'Mine'})
graph().is_feedable(tf.constant(1))
graph().is_fetchable(tf.constant(1))
graph().name_scope('a')
graph().prevent_feeding(tf.constant(1))
graph().unique_name('a')
session().run(tf.constant(1))
session().run([late(1.0), operation()], {late(2.0): 3.0})
session().partial_run_setup([late(1.0)], [late(2.0)])
session().make_callable(tf.constant(1))
tf.constant(1.0).eval(session=session())
tf.constant([1.0]).set_shape([1])
late([1.0]).set_shape([1])
operation().run(session=session())
operation().get_attr('T')
tf.constant([1.0, 2.0]).__getitem__(0)
tf.constant([[1.0, 2.0]]).__getitem__((0, slice(0, 1)))
tf.constant([1.0]).__add__([2.0])
tf.constant([1.0]).__radd__([2.0])
tf.constant([1]).__floordiv__([2])
tf.constant([1.0]).__lt__([2.0])
tf.constant([[1.0]]).__matmul__([[2.0]])
tf.constant([1.0]).__pow__(2.0)
tf.constant([True]).__and__([True])
store().write(0, 1.0)
store().read(0)
store().unstack([1.0, 2.0])
store().scatter([0, 1], [1.0, 2.0])
store().split([1.0, 2.0], [1, 1])
variable().assign([1.0, 2.0])
variable().assign_add([1.0, 2.0])
variable().scatter_update(slices())
variable().__getitem__(0)
resource().assign([1.0, 2.0])
resource().assign_sub([1.0, 2.0])
resource().sparse_read([0])
tf.TensorShape([2, None]).merge_with([2, 3])
tf.TensorShape([2, None]).assert_is_compatible_with([2, 3])
tf.TensorShape([2, None]).concatenate([2, 3])
tf.TensorShape([2, None]).with_rank(2)
tf.TensorShape([2, None]).__getitem__(0)
tf.Dimension(3).merge_with(3)
tf.Dimension(3).__add__(2)
tf.float32.is_compatible_with(tf.float32)
tf.layers.Dense(3).__call__(tf.ones([2, 3]))
tf.layers.Conv2D(3, 2).__call__(tf.ones([2, 3, 3, 1]))
tf.nn.rnn_cell.GRUCell(2).__call__(tf.ones([2, 3]), tf.ones([2, 2]))
tf.nn.rnn_cell.LSTMCell(2).zero_state(2, tf.float32)
tf.nn.rnn_cell.BasicLSTMCell(2).__call__(tf.ones([2, 3]), (tf.ones([2, 2]), tf.ones([2,
2]))) tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(variable() * 1.0))
tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(variable() * 1.0))
tf.train.GradientDescentOptimizer(0.1).compute_gradients(tf.reduce_sum(variable() *
1.0)) tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(tf.ones([2]), variable())])
tf.train.ExponentialMovingAverage(0.9).apply([variable()])
tf.zeros_initializer().__call__([2, 3])
tf.truncated_normal_initializer(0.0, 1.0).__call__([2, 3])
tf.contrib.layers.xavier_initializer().__call__([2, 3])
tf.distributions.Normal(0.0, [1.0, 2.0]).log_prob([1.0, 2.0])
tf.distributions.Categorical(probs=[0.5, 0.5]).sample(3)
"""

# function -> its good call
EXAMPLES = {
    ast.unparse(ast.parse(line, mode="eval").body.func): line  # type: ignore[attr-defined]
    for line in _TEXT.splitlines()
    if line
}
