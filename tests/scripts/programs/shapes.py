"""einsum, tensordot, slicing and shape gymnastics."""
import numpy as np
import tensorflow as tf
def _(f):
    try:
        return f()
    except AttributeError as e:
        print('MISSING', e); return tf.constant(0)
t = tf.reshape(tf.range(60.), [3, 4, 5])
ph = tf.placeholder(tf.float32, [None, 4, None], name='ph')
k = tf.placeholder(tf.int32, [], name='k')
r = [_(lambda: t[0]), _(lambda: t[1, 2]), _(lambda: t[..., 1]), _(lambda: t[:, tf.newaxis, 1:3]), _(lambda: t[::-1, ::2, -1]), _(lambda: t[1:, :-1, ::2]), _(lambda: t[k]), _(lambda: t[k:, :k + 1]), _(lambda: t[0, ..., None, k]),
     _(lambda: ph[:, 1]), _(lambda: ph[:, -1:, k:]), _(lambda: ph[tf.newaxis, ..., 0]), _(lambda: t[-1][None])]
for v in r: print(v)
m = tf.constant(np.arange(20.).reshape(4, 5) / 7)
q = tf.constant(np.arange(15.).reshape(5, 3) / 3)
es = [_(lambda: tf.einsum('ij,jk->ik', m, q)), _(lambda: tf.einsum('ij->ji', m)), _(lambda: tf.einsum('ij->', m)), _(lambda: tf.einsum('bij,jk->bik', tf.cast(t, tf.float64), q)),
      _(lambda: tf.einsum('ij,kj->ik', m, m)), _(lambda: tf.tensordot(m, q, 1)), _(lambda: tf.tensordot(t, tf.cast(q, tf.float32), [[2], [0]])), _(lambda: tf.tensordot(m, m, axes=[[0, 1], [0, 1]])),
      _(lambda: tf.einsum('bij,bkj->bik', t, t))]
print(es)
idx = tf.constant([[0, 1], [2, 3]])
more = [_(lambda: tf.gather(t, [2, 0])), _(lambda: tf.gather(t, idx[:, 1], axis=1)), _(lambda: tf.gather_nd(t, idx)), _(lambda: tf.gather_nd(t, [[[0, 1, 2]], [[2, 3, 4]]])), _(lambda: tf.boolean_mask(t[0], [True, False, True, True])),
        _(lambda: tf.where(m > 1)), _(lambda: tf.where(m > 1, m, -m)), _(lambda: tf.transpose(t)), _(lambda: tf.transpose(t, [1, 0, 2])), _(lambda: tf.stack([m, m + 1], axis=1)), _(lambda: tf.unstack(q)[2]), _(lambda: tf.split(m, [1, 3], 0)[1]), _(lambda: tf.split(t, 2, axis=1)[0]),
        _(lambda: tf.tile(q, [1, 2])), _(lambda: tf.pad(m, [[1, 0], [0, 2]], 'CONSTANT', constant_values=9)), _(lambda: tf.pad(m, [[1, 1], [2, 2]], 'REFLECT')), _(lambda: tf.pad(q, [[2, 1], [1, 0]], 'SYMMETRIC')), _(lambda: tf.reverse(m, [1])),
        _(lambda: tf.one_hot([0, 2, -1, 1], 3, on_value=5, off_value=-1)), _(lambda: tf.scatter_nd([[1], [3], [1]], [9., 10., 11.], [5])), _(lambda: tf.sequence_mask([1, 3, 2], 4)), _(lambda: tf.squeeze(tf.expand_dims(m, 1), [1])),
        _(lambda: tf.concat([m, m], -1)), _(lambda: tf.meshgrid([1, 2, 3], [4, 5])[1]), _(lambda: tf.strided_slice(t, [0, 0, 1], [2, 3, 5], [1, 2, 2])), _(lambda: tf.slice(t, [1, 0, 2], [-1, 2, 3])), _(lambda: tf.linspace(0., 1., 5)), _(lambda: tf.cumsum(m, 1, exclusive=True, reverse=True)),
        _(lambda: tf.unique([1, 1, 5, 2, 5])[1]), _(lambda: tf.setdiff1d([1, 2, 3, 4], [2, 4])[0]), _(lambda: tf.invert_permutation([2, 0, 1])), _(lambda: tf.top_k(m, 2)[1] if hasattr(tf, 'top_k') else tf.nn.top_k(m, 2)[1]), _(lambda: tf.segment_sum(q, [0, 0, 1, 1, 3])),
        _(lambda: tf.unsorted_segment_max(q, [0, 2, 0, 2, 0], 3)), _(lambda: tf.broadcast_to([1, 2, 3], [2, 3])), _(lambda: tf.matrix_band_part(m, 1, 0)), _(lambda: tf.diag([1., 2.])), _(lambda: tf.matrix_diag_part(m)), _(lambda: tf.trace(m)), _(lambda: tf.reduce_logsumexp(m, [0, 1])), _(lambda: tf.norm(m, axis=1)),
        _(lambda: tf.reverse_sequence(t, [1, 3, 5], seq_axis=2, batch_axis=0)), _(lambda: tf.space_to_depth(tf.reshape(tf.range(16.), [1, 4, 4, 1]), 2)), _(lambda: tf.eye(2, 3, [2])), _(lambda: tf.dynamic_partition([10, 20, 30], [0, 1, 0], 2)[0]), _(lambda: tf.dynamic_stitch([[0, 2], [1]], [[1., 3.], [2.]])),
        _(lambda: tf.roll(m, [1, 2], [0, 1]))]
with tf.Session() as sess:
    f = {ph: np.arange(24.).reshape(2, 4, 3), k: 1}
    for v in r + es + more:
        o = sess.run(v, f); print(v.shape, o.shape, o.dtype, (np.round(o, 4) if o.dtype.kind == 'f' else o).ravel()[:40].tolist())
    print(sess.run([tf.shape(ph), tf.rank(ph), tf.size(ph), tf.shape_n([ph, t])[0]], f))
va = tf.Variable(tf.zeros([3, 2]))
up = [va[1, 0].assign(5.), tf.scatter_update(va, [0, 2], [[1., 2.], [3., 4.]]), tf.scatter_add(va, [0, 0], tf.ones([2, 2])), tf.scatter_nd_add(va, [[1, 1]], [7.])]
with tf.Session() as sess:
    sess.run(va.initializer)
    for u in up: print(sess.run(u).tolist())
g = tf.gradients([t[0, 1:3], tf.gather(t, [0, 0]), tf.concat([t, t], 0), tf.boolean_mask(t, tf.reduce_sum(t, [1, 2]) > 100)], t)
print(g, tf.Session().run(g)[0].sum())
for bad in (lambda: t[5], lambda: t['a'], lambda: t[1.5], lambda: t[[0, 1]], lambda: tf.reshape(t, [7, -1]), lambda: tf.concat([m, q], 0), lambda: tf.matmul(m, m),
            lambda: tf.split(m, 3, 0), lambda: tf.stack([m, q]), lambda: tf.squeeze(m, [0]), lambda: tf.expand_dims(m, 4), lambda: tf.transpose(m, [0, 0]), lambda: tf.gather(m, [9]), lambda: tf.reduce_sum(m, 5), lambda: tf.slice(m, [0, 0], [5, 9]),
            lambda: tf.tile(m, [1]), lambda: tf.pad(m, [[1, 1]]), lambda: tf.unstack(ph), lambda: tf.tensordot(m, q, [[0], [0]]), lambda: tf.broadcast_to(m, [3]), lambda: tf.range(0, 5, 0), lambda: tf.fill([-1], 0.), lambda: m + q, lambda: tf.where(m > 1, m)):
    try: print(bad())
    except Exception as e: print(type(e).__name__, str(e).split('\n')[0])
