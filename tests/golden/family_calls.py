# ruff: noqa: E501 -- each call is one line
"""Calls of one family after the other: what TensorFlow 1.15 builds, returns, refuses.

`python -m tests.golden.family_calls FILE`, with TensorFlow's Python, writes them anew;
`--new` before FILE asks only what is not yet in it.  `late(value, shape)` is a tensor of
which the graph knows only that shape; `slope(f, *x)` are the gradients of the sum of
`f(*x)`.  Variables are initialized before a call's value is computed.
"""

import importlib
import json
import os
import sys

import numpy as np

from tests.golden import calls as golden

KEYS = """
{name: key for name, key in vars(tf.GraphKeys).items() if name.strip('_') == name and name != 'VARIABLES'}
tf.GraphKeys.VARIABLES
"""
EINSUM = """
tf.einsum('i,i,i->', [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
tf.einsum('i,i,i->', tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.constant([5.0, 6.0]))
tf.einsum('ij,ik,il->jkl', tf.constant(M), 2.0 * tf.constant(M), 3.0 * tf.constant(M))
tf.einsum('ij,ik,il->ljk', tf.constant(M), tf.constant(M), late(M, [None, 2]), name='e')
tf.einsum('ji,ik,il->kjl', tf.constant(M), tf.constant(M), late(M, [2, None]))
tf.einsum('ij,ik,il', tf.constant(M), tf.constant(M), tf.constant(M))
tf.einsum('ij,ik,il->jkl', tf.constant(M), tf.constant(M), late(M, [None, None]))
tf.einsum('ij,ik,il->jkl', tf.constant(M), tf.constant(M), tf.ones([3, 2]))
tf.einsum('ij,ik,i->jk', tf.constant(M), tf.constant(M), tf.ones([1]))
tf.einsum('ij,ik,il->jkl', tf.constant(M), tf.constant(M), tf.ones([3]))
tf.einsum('ij,ik,il->jkm', tf.constant(M), tf.constant(M), tf.constant(M))
tf.einsum('ij,jk,kl->il', tf.constant(M), tf.constant(M), tf.constant(M))
tf.einsum('ij,ik,il->ijkl', tf.constant(M), tf.constant(M), tf.constant(M))
tf.einsum('b...,b...,b...->...', tf.constant(M), tf.constant(M), tf.constant(M))
tf.einsum('i,i,i,i->', tf.constant([1, 2]), tf.constant([3, 4]), tf.constant([5, 6]), tf.constant([1, 2]))
slope(lambda x, y: tf.einsum('ij,ik,il->jkl', x, y, x), M, M)
tf.einsum('abba', tf.reshape(tf.range(16), [2, 2, 2, 2]))
tf.einsum('aba', tf.reshape(tf.range(8), [2, 2, 2]))
tf.einsum('abba->', tf.reshape(tf.range(16), [2, 2, 2, 2]))
tf.einsum('ii,i,i->', tf.constant(M), tf.ones([2]), tf.ones([2]))
tf.einsum('i,i,i->', tf.zeros([0]), tf.zeros([0]), tf.zeros([0]))
"""

OPTIMIZERS = """
trained(lambda step: tf.contrib.opt.AdamGSOptimizer(step, 0.1), False, False)
trained(lambda step: tf.contrib.opt.AdamGSOptimizer(step, 0.1, 0.8), True, True)
trained(lambda step: tf.contrib.opt.AdamGSOptimizer(step, 0.1), True, False)
trained(lambda step: tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1), False, True)
trained(lambda step: tf.contrib.opt.LazyAdamGSOptimizer(step, lambda: 0.1, name='L'), True, True)
trained(lambda step: tf.contrib.opt.LazyAdamGSOptimizer(learning_rate=0.1), True, True)
"""

# `normalized(f)`: outputs and gradients of a layer, and its variables after two updates.
BATCH_NORM = """
normalized(lambda x: tf.layers.batch_normalization(x, training=True, renorm=True))
normalized(lambda x: tf.layers.batch_normalization(x, training=late(True, []), renorm=True, renorm_momentum=0.5, renorm_clipping={'rmax': 2.0, 'rmin': 0.5, 'dmax': 0.1}))
normalized(lambda x: tf.layers.batch_normalization(x, training=late(False, []), renorm=True))
normalized(lambda x: tf.layers.batch_normalization(x, renorm=True, name='q'))
normalized(lambda x: tf.layers.batch_normalization(x, training=True, renorm=True, center=False, moving_variance_initializer=tf.constant_initializer(4.0)))
normalized(lambda x: tf.layers.batch_normalization(x, training=True, renorm=True, fused=True), [4, 2, 2, 3])
normalized(lambda x: tf.layers.batch_normalization(x, 1, training=True, renorm=True), [4, 2, 2, 3])
normalized(lambda x: tf.layers.batch_normalization(x, [1, 3], training=True, renorm=True), [4, 2, 2, 3])
tf.layers.batch_normalization(tf.ones([2, 3]), renorm=True, renorm_clipping={'rax': 1})
normalized(lambda x: tf.layers.batch_normalization(x, training=True, virtual_batch_size=4), [8, 3])
normalized(lambda x: tf.layers.batch_normalization(x, training=late(True, []), virtual_batch_size=4), [8, 3])
normalized(lambda x: tf.layers.batch_normalization(x, training=False, virtual_batch_size=4), [8, 3])
normalized(lambda x: tf.layers.batch_normalization(late(x, [None, 3]), training=True, virtual_batch_size=3))
normalized(lambda x: tf.layers.batch_normalization(x, training=True, virtual_batch_size=2, fused=True), [4, 2, 2, 3])
normalized(lambda x: tf.layers.batch_normalization(x, 1, training=True, virtual_batch_size=2, renorm=True), [4, 2, 2, 3])
tf.layers.batch_normalization(tf.ones([5, 3]), training=True, virtual_batch_size=2)
tf.layers.batch_normalization(late(np.ones([5, 3], 'f'), [None, 3]), training=True, virtual_batch_size=2)
tf.layers.batch_normalization(late(np.ones([4, 3, 3], 'f'), [None, None, 3]), training=True, virtual_batch_size=2)
tf.layers.batch_normalization(tf.ones([4, 3]), virtual_batch_size=0)
tf.layers.batch_normalization(tf.ones([4, 3]), 0, virtual_batch_size=2)
tf.layers.batch_normalization(tf.ones([4, 3]), virtual_batch_size=2, adjustment=lambda s: (1.0, 1.0))
normalized(lambda x: tf.layers.batch_normalization(x, training=True, adjustment=lambda s: (tf.fill([s[0], 1], 2.0), tf.fill([s[0], 1], 0.5))))
normalized(lambda x: tf.layers.batch_normalization(x, training=late(True, []), scale=False, adjustment=lambda s: (tf.fill([s[0], 1], 2.0), tf.fill([s[0], 1], 0.5))))
normalized(lambda x: tf.layers.batch_normalization(x, adjustment=lambda s: (tf.fill([s[0], 1], 2.0), tf.fill([s[0], 1], 0.5)), center=False), [4, 2, 2, 3])
normalized(lambda x: tf.layers.batch_normalization(x, training=True, renorm=True, adjustment=lambda s: (tf.fill([s[0], 1], 2.0), tf.fill([s[0], 1], 0.5))))
normalized(lambda x: tf.contrib.layers.batch_norm(x, renorm=True, renorm_decay=0.9, renorm_clipping={'rmax': 1.5}))
normalized(lambda x: tf.contrib.layers.batch_norm(x, adjustment=lambda s: (tf.fill([s[0], 1], 2.0), tf.fill([s[0], 1], 0.5)), scale=True), [4, 2, 2, 3])
tf.contrib.layers.batch_norm(tf.ones([2, 3]), renorm=True, updates_collections=None)
colocated(tf.layers.batch_normalization(tf.ones([2, 3]), renorm=True, training=True))
"""
CONSTRAINTS = """
constrained(lambda x: tf.layers.dense(x, 2, kernel_constraint=clip, bias_constraint=clip))
constrained(lambda x: tf.layers.batch_normalization(x, gamma_constraint=clip, beta_constraint=clip, training=True))
constrained(lambda x: tf.layers.batch_normalization(x, gamma_constraint=clip, beta_constraint=clip, fused=False))
constrained(lambda x: tf.layers.conv2d(x, 2, 2, kernel_constraint=clip, bias_constraint=clip))
constrained(lambda x: tf.layers.conv2d_transpose(x, 2, 2, kernel_constraint=clip, bias_constraint=clip))
constrained(lambda x: tf.layers.separable_conv2d(x, 2, 2, depthwise_constraint=clip, pointwise_constraint=clip, bias_constraint=clip))
constrained(lambda x: tf.layers.separable_conv1d(x[0], 2, 2, depthwise_constraint=clip, pointwise_constraint=clip, bias_constraint=clip))
"""

CTC = """
tf.nn.ctc_loss(labels([[1, 2], [0]]), logits(5, 2, 4), [5, 4])
slope(lambda x: tf.nn.ctc_loss(labels([[1, 2], [0]]), x, [5, 4]), LOGITS)
slope(lambda x: 2.0 * tf.nn.ctc_loss(labels([[1, 1], [0, 2, 0]]), x, [5, 4])[0], LOGITS)
slope(lambda x: tf.nn.ctc_loss(labels([[1, 1], [0]]), x, [5, 4], ctc_merge_repeated=False), LOGITS)
slope(lambda x: tf.nn.ctc_loss(labels([[1, 1], [0]]), x, [5, 4], preprocess_collapse_repeated=True), LOGITS)
slope(lambda x: tf.nn.ctc_loss(labels([[1, 1], [0]]), x, [5, 4], True, False), LOGITS)
slope(lambda x: tf.nn.ctc_loss(labels([[1, 2], [0]]), x, [1, 4], ignore_longer_outputs_than_inputs=True), LOGITS)
slope(lambda x: tf.nn.ctc_loss(labels([[1, 1], [0]]), x, [2, 4]), LOGITS)
slope(lambda x: tf.nn.ctc_loss(labels([[1, 2], [0]]), x, [2, 1]), np.float64(LOGITS))
slope(lambda x: tf.nn.ctc_loss(labels([[1, 2], [0]]), logits=x, sequence_length=[2, 1], time_major=False), LOGITS.transpose(1, 0, 2))
slope(lambda x: tf.nn.ctc_loss(labels([[1, 2], [0]]), 1000 * x, [5, 4]), LOGITS)
slope(lambda x: tf.nn.ctc_loss(labels([[1, 2], [0]]), 60 * x, [5, 4]), LOGITS)
tf.nn.ctc_loss(labels([[1, 2], [0]]), np.nan * logits(5, 2, 4), [5, 4])
slope(lambda x: tf.nn.ctc_loss(labels([[1, 3], [0, 1, 3, 3]]), x, [5, 4]), LOGITS)
slope(lambda x: slope(lambda y: tf.nn.ctc_loss(labels([[1, 2], [0]]), y, [5, 4]), x), LOGITS)
slope(lambda x: tf.gradients(tf.nn.ctc_loss(labels([[1, 2], [0]]), x, [5, 4]), x), LOGITS)
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS), late([5, 4]))
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS, [None, None, 4]), [5, 4])
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS), late([6, 4]))
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS), late([-1, 4]))
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS), late([0, 4]))
tf.nn.ctc_loss(labels([[1], []]), LOGITS, [5, 4])
tf.nn.ctc_loss(labels([[1, 3, 2], [1]]), LOGITS, [5, 4])
tf.nn.ctc_loss(labels([[1, -2], [1]]), LOGITS, [5, 4])
tf.nn.ctc_loss(labels([[1, 2], [0]]), LOGITS, [1, 4])
tf.nn.ctc_loss(labels([[1, 2], [0], [1]]), LOGITS, [5, 4])
tf.nn.ctc_loss(tf.SparseTensor([[0, 1], [0, 0], [1, 0]], [1, 2, 0], [2, 2]), LOGITS, [5, 4])
tf.nn.ctc_loss(tf.SparseTensor([[0, 1], [0, 1], [1, 0]], [1, 2, 0], [2, 2]), LOGITS, [5, 4])
tf.nn.ctc_loss(tf.SparseTensor([[0, 1], [0, 7], [1, 0]], [1, 2, 0], [2, 2]), LOGITS, [5, 4])
tf.nn.ctc_loss(tf.SparseTensor(late(np.int64([[0, 0]])), late([1, 2]), [1, 2]), LOGITS, [5, 4])
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS), late([5, 4, 3]))
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS), late(5))
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS[0]), late([5, 4]))
tf.nn.ctc_loss(labels([[1, 2], [0]]), LOGITS[0], [5, 4])
tf.nn.ctc_loss(labels([[1, 2], [0]]), late(LOGITS[:, :0]), late(np.int32([])))
tf.nn.ctc_loss(labels([[1, 2], [0]]), LOGITS, [5, 4, 3])
tf.nn.ctc_loss([[1]], LOGITS, [5, 4])
tf.nn.ctc_loss(labels([[1]]), LOGITS, [5, 4], logits=LOGITS)
tf.nn.ctc_loss(labels([[1]]), sequence_length=[5, 4])
tf.nn.ctc_loss(labels([[1]]), LOGITS)
tf.nn.ctc_loss(labels([[1], [1]]), np.int32(LOGITS), [5, 4])
tf.nn.ctc_greedy_decoder(LOGITS, [5, 4])
tf.nn.ctc_greedy_decoder(LOGITS, [5, 4], merge_repeated=False)
tf.nn.ctc_greedy_decoder(late(LOGITS), late([-1, 0]))
tf.nn.ctc_greedy_decoder(np.zeros([3, 2, 3]), [3, 2])
tf.nn.ctc_greedy_decoder(np.nan * logits(5, 2, 4), [3, 2])
tf.nn.ctc_greedy_decoder(late(LOGITS), late([6, 4]))
tf.nn.ctc_greedy_decoder(late(LOGITS), late([5, 4, 1]))
tf.nn.ctc_greedy_decoder(late(LOGITS[0]), late([5, 4, 1]))
tf.nn.ctc_greedy_decoder(late(LOGITS), late([[5, 4]]))
tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], beam_width=4, top_paths=3)
tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], beam_width=4, top_paths=3, merge_repeated=False)
tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], 1)
tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], 2, 2)
tf.nn.ctc_beam_search_decoder_v2(LOGITS, [5, 4], top_paths=5)
tf.nn.ctc_beam_search_decoder_v2(logits(30, 3, 6), [30, 0, 21], 7)
tf.nn.ctc_beam_search_decoder_v2(logits(40, 3, 6), [40, 2, 21], 20, 6)
tf.nn.ctc_beam_search_decoder_v2(1.7 * logits(25, 4, 9), [25, 20, 12, 5], 50, 10)
tf.nn.ctc_beam_search_decoder(np.float64(LOGITS), [5, 4], 3, 2)
tf.nn.ctc_beam_search_decoder(100 * logits(5, 2, 4), [5, 4], 3, 2)
tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], 2, 3)
tf.nn.ctc_beam_search_decoder(LOGITS, [0, 1], 20, 9)
tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], 0)
tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], 4, 0)
tf.nn.ctc_beam_search_decoder(late(LOGITS), late([6, 4]))
tf.nn.ctc_beam_search_decoder(late(LOGITS), late([5, 4, 4]))
"""

COLLAPSED = """
tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 4, 5]], [5, 4])
tf.nn.collapse_repeated(late([[1, 1, 2, 2, 1]]), late([3]), name='c')
tf.nn.collapse_repeated(late([[1, 1, 2, 2, 1]], [None, None]), late([3], [None]))
tf.nn.collapse_repeated(late(np.zeros([2, 0], 'i'), [2, None]), late([0, 0], [2]))
tf.nn.collapse_repeated([['a', 'a', 'b']], tf.constant([3], tf.int64))
tf.nn.ctc_loss_v2(labels([[1, 2], [0]]), LOGITS, None, [5, 4], blank_index=-1)
tf.nn.ctc_loss_v2(labels([[1, 2], [3]]), LOGITS, None, [5, 4], blank_index=0)
slope(lambda x: tf.nn.ctc_loss_v2(labels([[1, 3], [3]]), x, None, [2, 4], False, blank_index=2), LOGITS.transpose(1, 0, 2))
tf.nn.ctc_loss_v2(labels([[1, 2], [0]]), LOGITS, None, [5, 4])
"""
# TensorFlow runs the steps of these in a functional While.
DENSE_CTC = """
tf.nn.ctc_loss_v2([[1, 2], [3, 0]], LOGITS, [2, 1], [5, 4])
tf.nn.ctc_loss_v2(np.int64([[1, 2], [3, 0]]), LOGITS, [2, 1], [5, 4], name='q')
slope(lambda x: tf.nn.ctc_loss_v2([[1, 2], [3, 0]], x, [2, 1], [5, 4]), LOGITS)
slope(lambda x: tf.nn.ctc_loss_v2([[1, 1, 2], [3, 0, 0]], x, [3, 0], [5, 3], blank_index=0), LOGITS)
slope(lambda x: tf.nn.ctc_loss_v2([[1, 2], [0, 0]], x, [2, 1], [5, 4], blank_index=-1), LOGITS)
slope(lambda x: tf.nn.ctc_loss_v2([[1, 3], [0, 0]], x, [2, 1], [5, 4], logits_time_major=False, blank_index=2), LOGITS.transpose(1, 0, 2))
slope(lambda x: tf.nn.ctc_loss_v2([[1, 2], [3, 0]], x, [2, 1], [1, 4]), LOGITS)
slope(lambda x: tf.nn.ctc_loss_v2(late([[1, 2], [3, 0]], [None, None]), late(x, [None, None, None]), late([2, 1], [None]), late([5, 4], [None])), LOGITS)
slope(lambda x: tf.nn.ctc_loss_v2([[1, 2, 1], [3, 0, 0]], x, [3, 1], [5, 4], unique=tf.nn.ctc_unique_labels([[1, 2, 1], [3, 0, 0]])), LOGITS)
tf.nn.ctc_unique_labels([[3, 4, 4, 3], [1, 0, 0, 0]])
"""

CONSTANT_VALUES = """
tf.constant(np.zeros([0, 3], 'S1'))
tf.constant(np.zeros([2, 0, 3], 'U1'))
tensor_util.constant_value(tf.stack([tf.placeholder(tf.int32, []),3]))
tensor_util.constant_value(tf.stack([tf.placeholder(tf.int32, []),3]), partial=True)
tensor_util.constant_value(tf.stack([tf.placeholder(tf.int32, []),tf.placeholder(tf.int32, [])]), partial=True)
tensor_util.constant_value(tf.stack([2,tf.constant(3)]), partial=True)
tensor_util.constant_value(tf.stack([[tf.placeholder(tf.int32, []),1],[2,3]]), partial=True)
tensor_util.constant_value(tf.stack([tf.stack([tf.placeholder(tf.int32, []),1]),tf.stack([tf.constant(4),tf.placeholder(tf.int32, [])])]), partial=True)
tensor_util.constant_value(tf.stack([tf.placeholder(tf.int32, [2]),tf.constant([1,2])]), partial=True)
tensor_util.constant_value(tf.stack([tf.constant([1]),tf.constant([2])],axis=1), partial=True)
tensor_util.constant_value(tf.stack([tf.constant([1]),tf.constant([2])],axis=1))
tensor_util.constant_value(tf.concat([tf.stack([tf.placeholder(tf.int32, []),1]),[2]],0), partial=True)
tensor_util.constant_value(tf.constant(1)+tf.constant(2))
tensor_util.constant_value(tf.shape(tf.placeholder(tf.float32, [None, 3])), partial=True)
tensor_util.constant_value(tf.fill([2],tf.placeholder(tf.int32, [])), partial=True)
tensor_util.constant_value(tf.fill([2],3))
tensor_util.constant_value(tf.range(3))
tensor_util.constant_value(tf.cast(tf.constant([1.5]),tf.int64))
tensor_util.constant_value(tf.equal(tf.constant([1,2]),2))
tensor_util.constant_value(3)
tensor_util.constant_value([1,2])
tensor_util.constant_value(tf.SparseTensor([[0]],[1],[1]))
tensor_util.constant_value(tf.identity(tf.constant(1)))
tensor_util.constant_value(None)
tensor_util.constant_value(tf.constant(['a','b']))
tensor_util.constant_value(tf.size(tf.ones([2,3])))
tensor_util.constant_value(tf.rank(tf.placeholder(tf.float32, [None, 3])))
tensor_util.constant_value(tf.rank(tf.placeholder(tf.float32)))
tensor_util.constant_value(tf.size(tf.ones([2,3]),out_type=tf.int64))
tensor_util.constant_value(tf.shape(tf.ones([2,3]),out_type=tf.int64))
shape_of(tf.shape(tf.placeholder(tf.float32, [None, 3])))
shape_of(tf.stack([tf.placeholder(tf.int32, []),3,-1]))
shape_of(tf.concat([tf.stack([tf.placeholder(tf.int32, []),3]),tf.shape(tf.placeholder(tf.float32, [None, 3]))],0))
shape_of(tf.shape(tf.placeholder(tf.float32, [None, 3]))[1:])
shape_of(tf.shape(tf.placeholder(tf.float32, [None, 3]))[-1:])
shape_of(tf.shape(tf.placeholder(tf.float32, [None, 3]))[::-1])
shape_of(tf.constant([2,-1,4]))
shape_of(tf.constant([2,-2]))
shape_of(tf.constant(-1))
shape_of(tf.constant(2))
shape_of(tf.placeholder(tf.int32, []))
shape_of(tf.placeholder(tf.int32, [2]))
shape_of(tf.placeholder(tf.int32))
shape_of(tf.placeholder(tf.int32,[None]))
shape_of(tf.constant([],tf.int32))
shape_of(tf.constant([[1]]))
shape_of(tf.cast(tf.shape(tf.placeholder(tf.float32, [None, 3])),tf.int64))
shape_of(tf.shape(tf.placeholder(tf.float32, [None, 3]))+1)
shape_of(tf.shape(tf.placeholder(tf.float32)))
tensor_util.constant_value(tf.Variable(3))
(lambda c: [tensor_util.constant_value(c), fed(c, 1)])(tf.constant(5))
"""

# `frozen(resource, names)`: parts of a small model, with its variables made constants.
GRAPH_UTIL = """
frozen(False, ['y'])
frozen(False, ['z'])
frozen(False, ['y', 'z', 'q'], variable_names_blacklist=['s/e'])
frozen(False, ['y'], variable_names_whitelist=['s/w'])
frozen(True, ['y'])
frozen(True, ['z'])
frozen(True, ['i'])
frozen(True, ['nope'])
part_of(tf.square(tf.constant(2.0), name='y'), ['y'])
part_of(tf.square(tf.constant(2.0), name='y'), 'y')
part_of(tf.square(tf.constant(2.0), name='y'), ['z'])
tf.graph_util.extract_sub_graph(1, ['z'])
[tf.graph_util.must_run_on_cpu(tf.cast(n, tf.float32).op) for n in (1, 1.5, tf.constant(3, tf.int64))]
[tf.graph_util.must_run_on_cpu(tf.convert_to_tensor(n).op) for n in (1, 1.5, 'a', tf.constant(3, tf.int64))]
[tf.graph_util.must_run_on_cpu(tf.dynamic_stitch([[0]], [n]).op.node_def) for n in ([1], [1.5])]
[tf.graph_util.must_run_on_cpu(tf.Variable(1.5).op, pin) for pin in (False, True)]
tf.graph_util.must_run_on_cpu(1)
(lambda x: str(tf.graph_util.tensor_shape_from_node_def_name(x.graph, 'x')))(tf.placeholder(tf.int32, [2, None], 'x'))
(lambda x: str(tf.graph_util.tensor_shape_from_node_def_name(x.graph, 'x:1')))(tf.placeholder(tf.int32, [2, None], 'x'))
"""

ORDER = """
tf.contrib.nn.nth_element([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], 1)
tf.contrib.nn.nth_element([[3, 1, 2], [6, 5, 4]], 0, reverse=True, name='q')
tf.contrib.nn.nth_element(late([3, 1, 2]), late(2))
tf.contrib.nn.nth_element(late([[3, 1, 2]], [None, 3]), late(2, []))
tf.contrib.nn.nth_element(np.zeros([0, 3], 'f'), 2)
tf.contrib.nn.nth_element([[3, 1, 2]], 3)
tf.contrib.nn.nth_element([[3, 1, 2]], -1)
tf.contrib.nn.nth_element(late([[3, 1, 2]]), late(3))
tf.contrib.nn.nth_element(late([[3, 1, 2]]), late(-1))
tf.contrib.nn.nth_element(late([[3, 1, 2]]), late([1]))
tf.contrib.nn.nth_element(3, 0)
tf.contrib.nn.nth_element(late(3), 0)
tf.contrib.nn.nth_element([True], 0)
tf.contrib.nn.nth_element([[3.0, 1.0]], [0])
slope(lambda x: 3.0 * tf.contrib.nn.nth_element(x, 1), [[3.0, 1.0, 2.0, 2.0], [5.0, 5.0, 5.0, 4.0]])
slope(lambda x: tf.contrib.nn.nth_element(late(x), 0, True) ** 2, [[3.0, 1.0, 2.0, 2.0], [5.0, 5.0, 5.0, 4.0]])
"""

SPARSE = """
tf.sparse.cross([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),sparse([[0, 0], [1, 0]], ['d', 'e'], [2, 1]),tf.constant([['f'], ['g']])])
tf.sparse.cross_hashed([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),sparse([[0, 0], [1, 0]], ['d', 'e'], [2, 1]),tf.constant([['f'], ['g']])])
tf.sparse.cross_hashed([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),sparse([[0, 0], [1, 0]], ['d', 'e'], [2, 1]),tf.constant([['f'], ['g']])],num_buckets=100,hash_key=7)
tf.sparse.cross([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),sparse([[0,0],[1,0]],[5,-6],[2,1],'i8'),tf.constant([[3],[4]])])
tf.sparse.cross_hashed([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),sparse([[0,0],[1,0]],[5,-6],[2,1],'i8'),tf.constant([[3],[4]])])
tf.sparse.cross([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2])])
tf.sparse.cross([tf.constant([['f'], ['g']]),tf.constant([[1,2],[3,4]])])
tf.sparse.cross([sparse([[1,0]],['a'],[2,1]),tf.constant([['f'], ['g']])])
tf.sparse.cross([])
tf.sparse.cross(sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]))
tf.sparse.cross([[1]])
tf.sparse.cross([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),sparse([[0,0]],['d'],[3,1])])
tf.sparse.cross([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),late([['f'],['g'],['h']])])
tf.sparse.cross([tf.constant([[1.7]])])
tf.sparse.cross([sparse([[0, 0], [1, 0], [1, 1]], ['a', 'b', 'c'], [2, 2]),sparse([[5,0]],['d'],[2,1])])
tf.sparse.cross([sparse([[1,0],[0,0]],['d','e'],[2,1]),tf.constant([['f'], ['g']])])
tf.serialize_sparse(tf.SparseTensor([[0,1],[2,0]],[1.5,2.5],[3,4]))
tf.serialize_sparse(tf.SparseTensor([[0,1],[2,0]],['ab',''],[3,4]))
tf.serialize_sparse(sparse([],[],[3,4],'f4'))
tf.serialize_sparse(tf.SparseTensor([[0,1]],[True],[3,4]))
tf.serialize_sparse(sparse([[1]],[1],[3]))
tf.serialize_sparse([1])
tf.serialize_sparse(sparse([[5,5]],[1],[3,4]))
tf.serialize_many_sparse(tf.SparseTensor([[0,1],[2,0],[2,3]],[1,2,3],[3,4]))
tf.serialize_many_sparse(sparse([[1]],[1],[3]))
tf.serialize_many_sparse(sparse([[2,0],[0,1]],[1,2],[3,4]))
tf.serialize_many_sparse(sparse([[5,0]],[1],[3,4]))
tf.serialize_many_sparse(sparse([],[],[0,4],'f4'))
tf.deserialize_many_sparse(tf.serialize_many_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.int32)
tf.deserialize_many_sparse(tf.serialize_many_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.int32,rank=1)
tf.deserialize_many_sparse(tf.serialize_many_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.int32,rank=2)
tf.deserialize_many_sparse(tf.serialize_many_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.float32)
tf.deserialize_many_sparse(tf.stack([tf.serialize_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.serialize_sparse(tf.SparseTensor([[1,5]],[7],[2,6]))]),tf.int32)
tf.deserialize_many_sparse(tf.stack([tf.serialize_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.serialize_sparse(tf.SparseTensor([[1]],[7],[2]))]),tf.int32)
tf.deserialize_many_sparse([['a','b','c']],tf.int32)
tf.deserialize_many_sparse(late([['a','b']]),tf.int32)
tf.deserialize_many_sparse(late(['a','b','c']),tf.int32)
tf.deserialize_many_sparse([['a','b']],tf.int32)
tf.deserialize_many_sparse(late(np.zeros([0,3],'S1')),tf.int32)
sparse_ops.deserialize_sparse(tf.serialize_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.int32)
sparse_ops.deserialize_sparse(tf.stack([tf.serialize_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4]))]*2),tf.int32)
sparse_ops.deserialize_sparse(tf.stack([tf.serialize_many_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4]))]*2),tf.int32,rank=2)
sparse_ops.deserialize_sparse(tf.serialize_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.float32)
sparse_ops.deserialize_sparse(['a','b','c'],tf.int32)
sparse_ops.deserialize_sparse(late(['a','b']),tf.int32)
sparse_ops.deserialize_sparse(late('a'),tf.int32)
sparse_ops.deserialize_sparse(tf.stack([tf.serialize_sparse(tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [3, 4])),tf.serialize_sparse(tf.SparseTensor([[1]],[7],[2]))]),tf.int32)
sparse_ops.deserialize_sparse(late(np.zeros([0,3],'S1')),tf.int32)
sparse_ops.deserialize_sparse(tf.serialize_sparse(tf.SparseTensor([[0,1],[2,0]],['ab',''],[3,4])),tf.string)
tf.sparse_merge([ids([3,1,2]),ids([0,4,1],tf.int32)],tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),[5,6])
tf.sparse_merge((ids([3,1,2]),),tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),(5,),already_sorted=True)
tf.sparse_merge([ids([3,1,2])],tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),[5,6])
tf.sparse_merge([ids([3,1,2])],tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),5)
tf.sparse_merge([ids([3,1,2])],tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),['a'])
tf.sparse_merge(ids([3,1,2]),tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),[5])
tf.sparse_merge(ids([3,1,2]),tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),5.0)
tf.sparse_merge(3,tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),5)
tf.sparse_merge(ids([3.,1.,2.],tf.float32),tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),5)
tf.sparse_merge(tf.SparseTensorValue(np.int64([[0,0],[0,1],[1,0]]),np.int64([3,1,2]),np.int64([2,2])),tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),5)
"""

HPARAMS = """
str(tf.contrib.training.HParams(rate=0.1, sizes=[64, 10], name='a', on=True))
repr(tf.contrib.training.HParams(rate=0.1, sizes=[64, 10], name='a', on=True))
str(tf.contrib.training.HParams(rate=0.1, n=3, on=True).parse('rate=1,n=-2, on=false'))
str(tf.contrib.training.HParams(rate=0.1, n=3, on=True).parse('rate=.5e-3,on=1,'))
str(tf.contrib.training.HParams(sizes=[1], names=['a'], fs=[1.0]).parse('sizes=[1, 2,3],names=[x y],fs=[1]'))
tf.contrib.training.HParams(sizes=[1, 2]).parse('sizes[1]=5')
tf.contrib.training.HParams(sizes=[1, 2]).parse('sizes=5')
tf.contrib.training.HParams(n=1).parse('n=[5]')
tf.contrib.training.HParams(n=1).parse('n=1.5')
tf.contrib.training.HParams(n=1).parse('m=1')
tf.contrib.training.HParams(n=1).parse('n')
tf.contrib.training.HParams(n=1).parse('n=1,n=2')
tf.contrib.training.HParams(on=True).parse('on=maybe')
tf.contrib.training.HParams(on=[True]).parse('on=[maybe,no]')
tf.contrib.training.HParams(s='a').parse('s=b c').s
tf.contrib.training.HParams(s='').parse('s=').s
tf.contrib.training.HParams(n=1, n2=[]).n
tf.contrib.training.HParams(parse=1)
tf.contrib.training.HParams(values=[1])
tf.contrib.training.HParams(n=1).set_hparam('m', 1)
tf.contrib.training.HParams(n=1).set_hparam('n', 1.5)
tf.contrib.training.HParams(n=1).set_hparam('n', True)
tf.contrib.training.HParams(x=1.0).override_from_dict({'x': 3}).x
tf.contrib.training.HParams(x=1.0).override_from_dict({'x': 'a'})
tf.contrib.training.HParams(s='a').override_from_dict({'s': 3})
tf.contrib.training.HParams(x=None).override_from_dict({'x': 'a'}).x
tf.contrib.training.HParams(x=(1, 2)).override_from_dict({'x': [3]}).x
tf.contrib.training.HParams(x=1).set_hparam('x', [3])
tf.contrib.training.HParams(x=[1]).set_hparam('x', 3)
tf.contrib.training.HParams(x=[1.0, 2.0], y='b').to_json(sort_keys=True)
tf.contrib.training.HParams(x=[1.0, 2.0], y='b').parse_json('{"x": [4], "y": "c"}').values()
[tf.contrib.training.HParams(x=1).get('x'), tf.contrib.training.HParams(x=1).get('y', 4), 'x' in tf.contrib.training.HParams(x=1), 'y' in tf.contrib.training.HParams(x=1)]
tf.contrib.training.HParams(x=1).get('x', 'a')
tf.contrib.training.HParams(x=1).get('x', [1])
(lambda h: [h.del_hparam('x'), h.del_hparam('y'), h.values()])(tf.contrib.training.HParams(x=1))
tf.contrib.training.parse_values('a=1,b=[x,y],c[2]=0.5,c[0]=1', {'a': int, 'b': str, 'c': float})
tf.contrib.training.parse_values('a=1,z=3', {'a': int}, ignore_unknown=True)
tf.contrib.training.parse_values('c[2]=0.5,c[2]=1', {'c': float})
tf.contrib.training.parse_values('c=0.5,c[2]=1', {'c': float})
tf.contrib.training.parse_values('c[2]=[1]', {'c': float})
tf.contrib.training.parse_values('a.b=1', {'a.b': int})
"""

CRF = """
tf.contrib.crf.crf_log_likelihood(tf.constant(logits(2, 4, 3)), tf.constant([[0, 1, 2, 0], [2, 2, 1, 0]]), tf.constant([4, 2]), tf.constant(TRANSITIONS))
slope(lambda x, t: tf.contrib.crf.crf_log_likelihood(x, tf.constant([[0, 1, 2, 0], [2, 2, 1, 0]], tf.int64), tf.constant([4, 2], tf.int64), t)[0], logits(2, 4, 3), TRANSITIONS)
tf.contrib.crf.crf_log_likelihood(tf.constant(logits(3, 4, 3)), tf.constant([[0, 1, 2, 0], [2, 2, 1, 0], [0, 0, 0, 0]]), tf.constant([4, 1, 0]))
tf.contrib.crf.crf_log_likelihood(tf.constant(logits(2, 1, 3)), tf.constant([[0], [2]]), tf.constant([1, 0]), tf.constant(TRANSITIONS))
tf.contrib.crf.crf_log_likelihood(late(logits(2, 4, 3), [None, None, 3]), late([[0, 1, 2, 0], [2, 2, 1, 0]], [None, None]), late([4, 2], [None]), tf.constant(TRANSITIONS))
tf.contrib.crf.crf_log_likelihood(late(logits(2, 1, 3), [None, None, 3]), late([[0], [2]], [None, None]), late([1, 1], [None]), tf.constant(TRANSITIONS))
tf.contrib.crf.crf_multitag_sequence_score(tf.constant(logits(2, 4, 3)), tf.constant(logits(2, 4, 3) > -1), tf.constant([4, 2]), tf.constant(TRANSITIONS))
tf.contrib.crf.crf_multitag_sequence_score(tf.constant(logits(2, 1, 3)), tf.constant(logits(2, 1, 3) > -1), tf.constant([1, 1]), tf.constant(TRANSITIONS))
tf.contrib.crf.crf_unary_score(tf.constant([[0, 1], [2, 2]]), tf.constant([2, 1]), tf.constant(logits(2, 2, 3)))
tf.contrib.crf.crf_binary_score(tf.constant([[0, 1], [2, 2]]), tf.constant([2, 1]), tf.constant(TRANSITIONS))
tf.contrib.crf.crf_decode(tf.constant(logits(3, 5, 3)), tf.constant(TRANSITIONS), tf.constant([5, 2, 0]))
tf.contrib.crf.crf_decode(late(logits(3, 5, 3), [None, None, 3]), tf.constant(TRANSITIONS), late([5, 2, 1], [None]))
tf.contrib.crf.crf_decode(tf.constant(logits(2, 1, 3)), tf.constant(TRANSITIONS), tf.constant([1, 1]))
list(tf.contrib.crf.viterbi_decode(logits(1, 6, 3)[0], TRANSITIONS))
list(tf.contrib.crf.viterbi_decode(logits(1, 1, 3)[0], TRANSITIONS))
tf.contrib.crf.CrfForwardRnnCell(tf.constant(TRANSITIONS))(tf.constant(logits(1, 2, 3)[0]), tf.constant(logits(1, 2, 3)[0]))
"""

SIGNAL = """
tf.signal.frame(tf.range(7), 3, 2)
tf.signal.frame(tf.range(7), 3, 2, pad_end=True, pad_value=-1)
tf.signal.frame(tf.reshape(tf.range(24), [2, 4, 3]), 2, 1, axis=1, name='f')
tf.signal.frame(tf.reshape(tf.range(24), [2, 4, 3]), 4, 2, True, axis=-2)
tf.signal.frame(late(np.arange(7.0)), late(4), late(2))
tf.signal.frame(late(np.arange(7.0), [None]), 4, late(2, []), pad_end=True)
tf.signal.frame(tf.range(3), 5, 2)
tf.signal.frame(tf.zeros([0]), 5, 2)
tf.signal.frame(3, 5, 2)
tf.signal.frame(tf.range(3), [5], 2)
slope(lambda x: tf.signal.frame(x, 3, 2) ** 2, np.arange(7.0))
tf.signal.overlap_and_add(tf.reshape(tf.range(12), [3, 4]), 2)
tf.signal.overlap_and_add(tf.reshape(tf.range(24), [2, 3, 4]), 3, name='o')
tf.signal.overlap_and_add(tf.reshape(tf.range(12), [3, 4]), 4)
tf.signal.overlap_and_add(late(np.arange(12.0).reshape(3, 4)), late(3))
tf.signal.overlap_and_add(tf.range(3), 4)
tf.signal.overlap_and_add(tf.ones([3, 2]), 4.0)
slope(lambda x: tf.signal.overlap_and_add(x, 1) ** 2, np.arange(6.0).reshape(2, 3))
tf.signal.hann_window(5)
tf.signal.hann_window(6, dtype=tf.float64)
tf.signal.hann_window(6, periodic=False)
tf.signal.hamming_window(late(4, []), name='h')
tf.signal.hamming_window(late(1, []))
tf.signal.hamming_window(1)
tf.signal.hann_window(5, dtype=tf.int32)
tf.signal.stft(tf.constant(logits(1, 2, 20)[0]), 6, 3)
tf.signal.stft(tf.constant(logits(1, 1, 20)[0, 0]), 6, 3, fft_length=16, window_fn=None, pad_end=True)
tf.signal.stft(late(logits(1, 1, 20)[0, 0]), late(6), late(3), name='s')
tf.signal.stft(late(logits(1, 1, 20)[0, 0], [None]), 5, 2, window_fn=tf.signal.hamming_window)
slope(lambda x: tf.abs(tf.signal.stft(x, 4, 2)), logits(1, 1, 12)[0, 0])
tf.signal.inverse_stft(tf.signal.stft(tf.constant(logits(1, 1, 20)[0, 0]), 6, 3), 6, 3)
tf.signal.inverse_stft(tf.signal.stft(tf.constant(logits(1, 1, 20)[0, 0]), 8, 2), 8, 2, window_fn=tf.signal.inverse_stft_window_fn(2))
tf.signal.inverse_stft(tf.signal.stft(tf.constant(logits(1, 1, 20)[0, 0]), 6, 3), 6, 3, window_fn=tf.signal.inverse_stft_window_fn(3, tf.signal.hamming_window), name='i')
tf.signal.inverse_stft(tf.signal.stft(late(logits(1, 1, 20)[0, 0]), 6, 3), late(6), late(3), fft_length=8)
tf.signal.inverse_stft(tf.signal.stft(tf.constant(logits(1, 1, 20)[0, 0]), 6, 3), 12, 3, fft_length=8, window_fn=None)
tf.signal.linear_to_mel_weight_matrix(5, 17)
tf.signal.linear_to_mel_weight_matrix(4, 9, tf.constant(16000.0), 20.0, 7000.0, tf.float64, name='m')
tf.signal.linear_to_mel_weight_matrix(4, 9, late(16000.0))
tf.signal.linear_to_mel_weight_matrix(0)
tf.signal.linear_to_mel_weight_matrix(4, 9, 100)
tf.signal.linear_to_mel_weight_matrix(4, 9, lower_edge_hertz=4000.0)
tf.signal.linear_to_mel_weight_matrix(4, 9, lower_edge_hertz=-1.0)
tf.signal.linear_to_mel_weight_matrix(4, 9, dtype=tf.int32)
tf.signal.mfccs_from_log_mel_spectrograms(tf.constant(logits(1, 2, 5)))
tf.signal.mfccs_from_log_mel_spectrograms(late(logits(1, 2, 5)), name='c')
tf.signal.mfccs_from_log_mel_spectrograms(tf.zeros([2, 0]))
tf.signal.dct(tf.constant(logits(1, 2, 5)))
tf.signal.dct(tf.constant(logits(1, 2, 5)), norm='ortho', name='d')
tf.signal.dct(tf.constant(logits(1, 2, 5)), 3)
tf.signal.dct(tf.constant(logits(1, 2, 5)), 3, norm='ortho', n=3)
tf.signal.dct(tf.constant(logits(1, 2, 5)), 1, n=7)
tf.signal.dct(late(logits(1, 2, 5), [None, None, None]), 2, norm='ortho')
tf.signal.dct(late(logits(1, 2, 5), [None, None, None]), 3, norm='ortho')
tf.signal.idct(tf.signal.dct(tf.constant(logits(1, 2, 5)), norm='ortho'), norm='ortho')
tf.spectral.idct(tf.constant(logits(1, 2, 5)), 3)
tf.spectral.idct(tf.constant(logits(1, 2, 5)), 1)
slope(lambda x: tf.signal.dct(x) ** 2, logits(1, 2, 5))
tf.signal.dct(tf.ones([3]), 4)
tf.signal.dct(tf.ones([3]), 1, norm='ortho')
tf.signal.dct(tf.ones([1]), 1)
tf.signal.dct(tf.ones([3]), n=0)
tf.signal.dct(tf.ones([3]), axis=0)
tf.signal.dct(tf.ones([3]), norm='x')
"""

CONTRIB_NN = """
tf.contrib.sparsemax.sparsemax([[3.0, 1.0, 0.5], [0.1, 0.2, 0.3], [-1.0, -1.0, 2.0]])
tf.contrib.sparsemax.sparsemax(late(logits(3, 2, 5)[0]), name='p')
tf.contrib.sparsemax.sparsemax(tf.constant([[np.nan, 1.0], [np.inf, 1.0], [-np.inf, -np.inf], [-np.inf, 1.0]], tf.float64))
slope(lambda x: tf.contrib.sparsemax.sparsemax(x) ** 2, logits(3, 2, 5)[0])
(lambda x: tf.contrib.sparsemax.sparsemax_loss(x, tf.contrib.sparsemax.sparsemax(x), [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))(tf.constant([[3.0, 1.0, 0.5], [0.1, 0.2, 0.3]]))
(lambda x: tf.contrib.sparsemax.sparsemax_loss(x, tf.contrib.sparsemax.sparsemax(x), [[0.0, 1.0]], name='l'))(tf.constant([[-np.inf, 1.0]]))
slope(lambda x: tf.contrib.sparsemax.sparsemax_loss(x, tf.contrib.sparsemax.sparsemax(x), [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]), [[3.0, 1.0, 0.5], [0.1, 0.2, 0.3]])
tf.contrib.nn.alpha_dropout(tf.ones([3, 4]), 0.7, seed=5)
tf.contrib.nn.alpha_dropout(tf.ones([3, 4]), late(0.7, []), noise_shape=[3, 1], seed=5, name='a')
tf.contrib.nn.alpha_dropout(tf.ones([3, 4]), 1.0)
tf.contrib.nn.alpha_dropout(tf.ones([3, 4]), 0.0)
tf.contrib.nn.alpha_dropout(tf.ones([3, 4]), [0.5])
tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits([[1.0, 2.0]], [[0.0, 1.0]])
tf.contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits([[1.0, 2.0]], [1], name='x')
tf.contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits([[1.0, 2.0]], [[0.0, 1.0]])
"""

METRICS = """
metric(tf.contrib.metrics.streaming_auc(tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([True, False, False, True]), None, 5, curve='PR'))
metric(tf.contrib.metrics.streaming_auc(tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([True, False, False, True]), tf.constant([1.0, 2.0, 0.5, 1.0]), num_thresholds=7, name='a'))
metric(tf.contrib.metrics.streaming_specificity_at_sensitivity(tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([True, False, False, True]), 0.5, num_thresholds=6))
metric(tf.contrib.metrics.streaming_sensitivity_at_specificity(tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([True, False, False, True]), 0.5, None, 6))
metric(tf.contrib.metrics.streaming_precision_at_thresholds(tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([True, False, False, True]), [0.3, 0.5]))
metric(tf.contrib.metrics.streaming_recall_at_thresholds(tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([True, False, False, True]), [0.3, 0.5]))
metric(tf.contrib.metrics.streaming_sparse_recall_at_k(tf.constant(logits(1, 3, 4)[0]), tf.constant([[2], [0], [3]], tf.int64), 2))
metric(tf.contrib.metrics.streaming_sparse_precision_at_k(tf.constant(logits(1, 3, 4)[0]), tf.constant([[2], [0], [3]], tf.int64), 2, class_id=2))
metric(tf.contrib.metrics.streaming_sparse_average_precision_at_k(tf.constant(logits(1, 3, 4)[0]), tf.constant([[2], [0], [3]], tf.int64), 2))
metric(tf.contrib.metrics.streaming_recall_at_k(tf.constant(logits(1, 3, 4)[0]), tf.constant([2, 0, 3]), 2))
metric(tf.contrib.metrics.streaming_mean_tensor(tf.constant([0.9, 0.2, 0.6, 0.4])))
metric(tf.contrib.metrics.streaming_mean_relative_error(tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([1.0, 0.0, 1.0, 0.5]), tf.constant([1.0, 2.0, 0.0, 0.5])))
metric(tf.contrib.metrics.streaming_percentage_less(tf.constant([0.9, 0.2, 0.6, 0.4]), 0.5))
metric(tf.contrib.metrics.streaming_mean_iou(tf.constant([0, 1, 1]), tf.constant([0, 1, 0]), 2))
tf.contrib.metrics.accuracy(tf.constant([1, 2, 3]), tf.constant([1, 0, 3]))
tf.contrib.metrics.accuracy(tf.constant(['a', 'b']), tf.constant(['a', 'c']), tf.constant([1.0, 3.0]), 'acc')
tf.contrib.metrics.accuracy(tf.constant([1.0]), tf.constant([1.0]))
tf.contrib.metrics.accuracy(tf.constant([1]), tf.constant([True]))
tf.contrib.metrics.set_size(tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2]))
"""

IMAGES = """
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0, 0.5, 0, 1, 0.5, 0, 0], 'NEAREST')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0, -0.5, 0, 1, -0.5, 0, 0], 'NEAREST')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0.1, -0.3, 0.2, 1, 0.4, 0.1, -0.2], 'NEAREST')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0, 0, 0, 1, 0, -1, 0], 'NEAREST')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [np.nan, 0, 0, 0, 1, 0, 0, 0], 'NEAREST')
tf.contrib.image.transform(tf.cast(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), tf.int32), [1, 0, 0.3, 0, 1, 0.6, 0, 0], 'NEAREST')
tf.contrib.image.transform(tf.cast(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)) * 20.0, tf.uint8), [1, 0, 0.3, 0, 1, 0.6, 0, 0], 'NEAREST', [2, 6], 't')
tf.contrib.image.rotate(tf.constant(logits(2, 5, 4)), 0.7, 'NEAREST')
slope(lambda x: tf.contrib.image.rotate(x, [0.7, -0.2], 'NEAREST') ** 2, logits(2, 4, 5).reshape(2, 4, 5, 1))
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0, 0.5, 0, 1, 0.5, 0, 0], 'BILINEAR')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0, -0.5, 0, 1, -0.5, 0, 0], 'BILINEAR')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0.1, -0.3, 0.2, 1, 0.4, 0.1, -0.2], 'BILINEAR')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [1, 0, 0, 0, 1, 0, -1, 0], 'BILINEAR')
tf.contrib.image.transform(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), [np.nan, 0, 0, 0, 1, 0, 0, 0], 'BILINEAR')
tf.contrib.image.transform(tf.cast(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)), tf.int32), [1, 0, 0.3, 0, 1, 0.6, 0, 0], 'BILINEAR')
tf.contrib.image.transform(tf.cast(tf.constant(np.arange(12.0, dtype='f').reshape(1, 3, 4, 1)) * 20.0, tf.uint8), [1, 0, 0.3, 0, 1, 0.6, 0, 0], 'BILINEAR', [2, 6], 't')
tf.contrib.image.rotate(tf.constant(logits(2, 5, 4)), 0.7, 'BILINEAR')
slope(lambda x: tf.contrib.image.rotate(x, [0.7, -0.2], 'BILINEAR') ** 2, logits(2, 4, 5).reshape(2, 4, 5, 1))
tf.contrib.image.rotate(tf.constant(logits(1, 4, 4)[0]), tf.constant(1.5707963), name='r')
tf.contrib.image.translate(tf.constant(logits(2, 4, 4).reshape(2, 4, 4, 1)), [[1.0, 0.0], [-1.5, 2.0]], 'bilinear')
tf.contrib.image.translate(tf.constant(logits(2, 4, 4)), [1.0, -1.0])
tf.contrib.image.compose_transforms([1.0, 0.2, 3.0, 0.0, 1.0, 2.0, 0.1, 0.0], tf.constant([[1.0, 0.0, 0.5, 0.3, 1.0, 0.0, 0.0, 0.2]]))
tf.contrib.image.transform(tf.ones([1, 1, 1, 1, 1]), tf.ones([8]))
tf.contrib.image.transform(tf.ones([2, 2]), tf.ones([1, 1, 8]))
tf.contrib.image.transform(tf.ones([1, 2, 2, 1]), tf.ones([2, 8]))
tf.contrib.image.transform(tf.ones([1, 2, 2, 1]), tf.ones([1, 7]))
tf.contrib.image.transform(tf.ones([1, 2, 2, 1]), tf.ones([8]), output_shape=[2, 3, 4])
tf.contrib.image.transform(tf.ones([1, 2, 2, 1]), tf.ones([8]), output_shape=[0, 3])
tf.contrib.image.transform(late(np.zeros([0, 3, 4, 1], 'f'), [None, 3, 4, 1]), tf.ones([8]))
tf.contrib.image.transform(tf.constant([[True]]), tf.ones([8]))
tf.contrib.image.transform(late(np.ones([2, 2], 'f')), tf.ones([8]))
tf.contrib.image.rotate(tf.ones([2, 2]), [[0.1]])
tf.contrib.image.translate(tf.ones([2, 2]), 1.0)
tf.contrib.image.flat_transforms_to_matrices(1.0)
tf.contrib.image.matrices_to_flat_transforms([1.0])
"""

QUANTIZATION = """
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'))
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'), 0.0, 1.0, 2)
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'), -1.0, 3.1, 4, True, 'q')
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'), 2.0, 5.0, 3)
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'), -5.0, -2.0, 3)
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'), 1.0, 1.0)
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'), num_bits=1)
tf.fake_quant_with_min_max_args(np.linspace(-8, 8, 23).astype('f'), num_bits=17)
slope(lambda x: tf.fake_quant_with_min_max_args(x, -1.0, 3.1) ** 2, np.linspace(-8, 8, 23).astype('f'))
tf.fake_quant_with_min_max_args_gradient(np.linspace(-8, 8, 23).astype('f'), np.linspace(-8, 8, 23).astype('f'), -2.0, 2.0)
tf.quantization.fake_quant_with_min_max_vars(np.linspace(-8, 8, 23).astype('f'), -1.0, 3.1, 5)
tf.fake_quant_with_min_max_vars(np.linspace(-8, 8, 23).astype('f'), 0.0, 0.0)
slope(lambda x, a, b: tf.fake_quant_with_min_max_vars(x, a, b, 4) ** 2, np.linspace(-8, 8, 23).astype('f'), np.float32(-1.3), np.float32(3.0))
slope(lambda x, a, b: tf.fake_quant_with_min_max_vars(x, a, b, 4), np.linspace(-8, 8, 23).astype('f'), np.float32(0), np.float32(0))
tf.fake_quant_with_min_max_vars(np.linspace(-8, 8, 23).astype('f'), [0.0], 1.0)
tf.fake_quant_with_min_max_vars_gradient(np.linspace(-8, 8, 23).astype('f'), np.linspace(-8, 8, 23).astype('f'), -2.0, 2.0)
tf.fake_quant_with_min_max_vars_per_channel(np.linspace(-3, 3, 12).astype('f').reshape(4, 3), [-1.0, 0.0, -2.0], [1.0, 2.0, -0.5], 3)
slope(lambda x, a, b: tf.fake_quant_with_min_max_vars_per_channel(x, a, b, 3) ** 2, np.linspace(-3, 3, 12).astype('f').reshape(4, 3), np.float32([-1, 0, -2]), np.float32([1, 2, 0.5]))
tf.fake_quant_with_min_max_vars_per_channel(np.linspace(-3, 3, 12).astype('f').reshape(4, 3), [-1.0, 0.0], [1.0, 2.0])
tf.fake_quant_with_min_max_vars_per_channel(late(np.linspace(-3, 3, 12).astype('f').reshape(4, 3)), late([-1.0, 0.0]), late([1.0, 2.0]))
tf.fake_quant_with_min_max_vars_per_channel(np.linspace(-3, 3, 12).astype('f').reshape(4, 3)[:, 0], np.arange(4.0) - 5.0, np.arange(4.0) + 1.0)
"""

FAMILIES = {
    "fake_quant": QUANTIZATION,
    "contrib.image": IMAGES,
    "contrib.metrics": METRICS,
    "contrib.nn": CONTRIB_NN,
    "signal": SIGNAL,
    "crf": CRF,
    "hparams": HPARAMS,
    "sparse": SPARSE,
    "order": ORDER,
    "graph_util": GRAPH_UTIL,
    "constant values": CONSTANT_VALUES,
    "collapsed labels": COLLAPSED,
    "dense ctc": DENSE_CTC,
    "ctc": CTC,
    "keys": KEYS,
    "batch_norm": BATCH_NORM,
    "constraints": CONSTRAINTS,
    "einsum": EINSUM,
    "optimizers": OPTIMIZERS,
}

OTHER_NODES = ("dense ctc",)


def calls():
    """(family, expression) of each call."""
    return [
        (family, line)
        for family, text in FAMILIES.items()
        for line in text.splitlines()
        if line
    ]


def module(tf, path):
    """An inner module of TensorFlow's, or what stands for it."""
    root = "tensorflow.python." if tf.__name__ == "tensorflow" else ""
    if root:
        return importlib.import_module(root + path)
    return importlib.import_module("tfteach.compat.internals").inner(path)


def helpers(tf):
    """The names that calls use besides `tf`."""

    def late(value, shape=None):
        return tf.placeholder_with_default(value, shape)

    def slope(function, *values):
        inputs = [tf.constant(value) for value in values]
        return tf.gradients(function(*inputs), inputs)

    def trained(make, resource, rows, steps=3):
        """A variable after some steps, of which each uses two rows or all."""
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable(
            "w",
            initializer=np.float32([[1, 2], [3, -4], [5, 6]]),
            use_resource=resource,
        )
        used = tf.gather(w, [0, 2, 0]) if rows else w
        loss = tf.reduce_sum(tf.square(used))
        train = make(step).minimize(loss, global_step=step)
        return lambda sess: [(sess.run(train), sess.run(w))[1] for _ in range(steps)]

    def normalized(layer, shape=(6, 3)):
        size = int(np.prod(shape))
        x = tf.constant((np.arange(size) ** 2 % 17).reshape(shape), tf.float32)
        y = layer(x)
        grads = tf.gradients(tf.reduce_sum(y**3), [*tf.trainable_variables(), x])
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)

        def run(sess):
            found = []
            for _ in range(2):
                found.append(sess.run([y, *grads]))
                sess.run(updates)
                found.append([[v.op.name, sess.run(v)] for v in tf.global_variables()])
            return found

        return run

    def clip(variable):
        return tf.clip_by_value(variable, -0.25, 0.25)

    def constrained(layer):
        """The variables after a step of which the constraints undo most."""
        x = tf.constant(np.arange(96).reshape(2, 4, 4, 3) % 7, tf.float32)
        with tf.variable_scope("in", use_resource=True):
            loss = tf.reduce_sum(tf.square(layer(x) - 2.0))
        train = tf.train.GradientDescentOptimizer(1e-5).minimize(loss)

        def run(sess):
            for index, v in enumerate(tf.trainable_variables()):
                size = int(np.prod(v.shape.as_list()))
                values = np.arange(size) * (-1.0) ** (index + np.arange(size)) / 64
                v.load(values.reshape(v.shape.as_list()), sess)
            sess.run(train)
            return [[v.op.name, sess.run(v)] for v in tf.trainable_variables()]

        return run

    def colocated(result):
        nodes = result.graph.as_graph_def().node
        return [[n.name, *n.attr["_class"].list.s] for n in nodes]

    def logits(times, batch, classes):
        numbers = np.arange(times * batch * classes)
        return np.float32(np.sin(numbers**1.7) * 3).reshape(times, batch, classes)

    def labels(rows):
        places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
        values = np.int32([label for row in rows for label in row])
        return tf.SparseTensor(places, values, [len(rows), max(map(len, rows))])

    def shown(graph_def):
        return [
            [n.name, n.op, list(n.input), sorted(n.attr), str(n.attr.get("T", ""))]
            for n in graph_def.node
        ] + [graph_def.versions.producer]

    def part_of(tensor, names):
        graph_def = tensor.graph.as_graph_def()
        return shown(tf.graph_util.extract_sub_graph(graph_def, names))

    def frozen(resource, names, **options):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        i = tf.placeholder(tf.int64, [None], name="i")
        with tf.variable_scope("s", use_resource=resource):
            w = tf.get_variable("w", initializer=np.float32([[1, 2], [3, 4]]))
            e = tf.get_variable("e", initializer=np.float32([[1, 2], [3, 4]]))
            t = tf.get_variable("t", initializer=["a", "b"])
        with tf.control_dependencies([tf.check_numerics(x, "m")]):
            h = tf.matmul(x, w)
        tf.identity(h + tf.nn.embedding_lookup(e, i), name="y")
        c = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, w), lambda: x)
        grown = tf.while_loop(
            lambda k: tf.reduce_sum(k) < 100.0, lambda k: tf.matmul(k, w) + k, [c]
        )
        with tf.control_dependencies([h]):
            tf.identity(tf.identity(grown), name="z")
        tf.identity(t, name="q")

        def run(sess):
            util = tf.graph_util
            whole = sess.graph.as_graph_def()
            made = util.convert_variables_to_constants(sess, whole, names, **options)
            small = util.remove_training_nodes(made, protected_nodes=["y"])
            found = [shown(made), shown(small)]
            found += [shown(util.extract_sub_graph(whole, names))]
            if not options and names != ["i"]:
                with tf.Graph().as_default() as graph, tf.Session() as alone:
                    tf.import_graph_def(small, name="")
                    feeds = {"x:0": [[1, 2]], "i:0": [1]}
                    found += [alone.run(names[0] + ":0", feeds)]
                    assert not [op for op in graph.get_operations() if "Var" in op.type]
            return found

        return run

    def sparse(places, values, shape, dtype=None):
        """A sparse tensor of which the graph knows only the shape."""
        places = np.int64(places).reshape(-1, len(shape))
        values = np.array(values, dtype)
        parts = late(places, [None, len(shape)]), late(values, [None])
        return tf.SparseTensor(parts[0], parts[1], np.int64(shape))

    def ids(values, dtype=tf.int64):
        values = tf.constant(values, dtype)
        return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], values, [2, 2])

    def metric(pair):
        """A metric after each of two updates, which are run alone."""
        value, update = pair

        def run(sess):
            return [[sess.run(update), sess.run(value)][1] for _ in range(2)]

        return run

    tensor_util = module(tf, "framework.tensor_util")

    def shape_of(tensor):
        return str(tensor_util.constant_value_as_shape(tensor))

    def fed(tensor, value):
        return lambda sess: sess.run(tensor, {tensor: value})

    return {
        "tensor_util": tensor_util,
        "sparse_ops": module(tf, "ops.sparse_ops"),
        "sparse": sparse,
        "ids": ids,
        "shape_of": shape_of,
        "metric": metric,
        "frozen": frozen,
        "part_of": part_of,
        "fed": fed,
        "TRANSITIONS": np.float32([[0.5, -1, 0.25], [1, 0, -0.5], [-2, 0.75, 1.5]]),
        "LOGITS": logits(5, 2, 4),
        "np": np,
        "labels": labels,
        "logits": logits,
        "clip": clip,
        "colocated": colocated,
        "constrained": constrained,
        "normalized": normalized,
        "trained": trained,
        "late": late,
        "slope": slope,
        "M": np.float32([[1, 2], [3, 4]]),
    }


def described(result):
    """Types and static shapes; what is no tensor as its value."""
    if isinstance(result, dict):
        return {str(key): described(part) for key, part in sorted(result.items())}
    if isinstance(result, (list, tuple)):
        return [described(part) for part in result]
    if hasattr(result, "dense_shape"):
        return [described(result.indices), described(result.values)]
    if hasattr(result, "dtype") and hasattr(result, "op"):
        return result.dtype.name + " " + str(result.shape)
    return "value"


def record(tf, call):
    """{nodes, static, value} or {nodes, error} of one expression."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        found = {}
        try:
            result = eval(call, dict(helpers(tf), tf=tf))
            nodes = graph.as_graph_def().node
            found["static"] = described(result)
            starts = [
                v.initializer for v in tf.global_variables() + tf.local_variables()
            ]
            with tf.Session() as sess:
                if starts:
                    sess.run(starts)
                found["value"] = golden.plain(value_of(sess, result))
        except Exception as error:
            nodes = graph.as_graph_def().node
            text = getattr(error, "message", None) or str(error)
            if text.startswith("in converted code"):
                text = text.strip().splitlines()[-1].partition(": ")[2]
            found["error"] = [type(error).__name__, text.split("\n\t")[0]]
        found["nodes"] = [
            "{} {}({})".format(n.name, n.op, ", ".join(n.input)) for n in nodes
        ]
    return found


def value_of(sess, result):
    """The value of a structure of tensors; what is none of them stays as it is."""
    if isinstance(result, dict):
        return {str(key): value_of(sess, part) for key, part in sorted(result.items())}
    if isinstance(result, (list, tuple)) and not hasattr(result, "dense_shape"):
        return [value_of(sess, part) for part in result]
    if callable(result):
        return result(sess)
    if hasattr(result, "graph") or hasattr(result, "initializer"):
        value = sess.run(result)
        if isinstance(value, (np.ndarray, np.generic)) and np.iscomplexobj(value):
            return np.stack([np.real(value), np.imag(value)], -1)
        return list(value) if isinstance(value, tuple) else value
    return result


if __name__ == "__main__":
    import tensorflow

    path = sys.argv[-1]
    results = {}
    if sys.argv[1] == "--new" and os.path.exists(path):
        with open(path) as file:
            results = json.load(file)
    wanted = [call for _, call in calls()]
    results = {call: results[call] for call in wanted if call in results}
    for call in wanted:
        if call not in results:
            results[call] = record(tensorflow, call)
    golden.write(path, results)
