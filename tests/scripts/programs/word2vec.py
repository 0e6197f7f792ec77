"""Skip-gram with a full softmax: sparse gradients through the embedding."""
import numpy as np
import tensorflow as tf

V, E, B = 30, 6, 8
with tf.name_scope('data'):
    center = tf.placeholder(tf.int32, shape=[B], name='center_words')
    target = tf.placeholder(tf.int32, shape=[B, 1], name='target_words')
with tf.device('/cpu:0'):
    with tf.name_scope('embed'):
        embed_matrix = tf.Variable(tf.random_uniform([V, E], -1.0, 1.0, seed=2), name='embed_matrix')
        embed = tf.nn.embedding_lookup(embed_matrix, center, name='embed')
with tf.name_scope('loss'):
    softmax_w = tf.Variable(tf.truncated_normal([E, V], stddev=1.0 / E ** 0.5, seed=3), name='softmax_w')
    softmax_b = tf.Variable(tf.zeros([V]), name='softmax_b')
    logits = tf.matmul(embed, softmax_w) + softmax_b
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.squeeze(target, 1), logits=logits), name='loss')
g = tf.gradients(loss, [embed_matrix, softmax_w, softmax_b])
print(g[0])
print(type(g[0]).__name__, g[0].indices, g[0].values, g[0].dense_shape)
opts = [tf.train.GradientDescentOptimizer(1.0), tf.train.AdagradOptimizer(0.5), tf.train.AdamOptimizer(0.05),
        tf.train.MomentumOptimizer(0.1, 0.9), tf.train.RMSPropOptimizer(0.01, momentum=0.5)]
trains = [o.minimize(loss) for o in opts]
norm = tf.sqrt(tf.reduce_sum(tf.square(embed_matrix), 1, keep_dims=True))
normalized = embed_matrix / norm
sim = tf.matmul(tf.nn.embedding_lookup(normalized, tf.constant([1, 2, 3])), normalized, transpose_b=True)
rng = np.random.RandomState(4)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for t in trains:
        for i in range(4):
            c = rng.randint(0, 10, size=B); o = rng.randint(0, V, size=(B, 1))
            l, _ = sess.run([loss, t], feed_dict={center: c, target: o})
            print('%.5f' % l)
    v = sess.run(g[0], {center: [1] * B, target: np.arange(B)[:, None]})
    print(type(v).__name__, v._fields, v.indices, v.values.shape, v.dense_shape)
    print(np.round(sess.run(sim)[:, :5], 4))
    print(np.argsort(-sess.run(sim), 1)[:, :4])
for o in opts:
    print(o.get_name(), o.get_slot_names(), [o.get_slot(embed_matrix, s).name for s in o.get_slot_names()])
