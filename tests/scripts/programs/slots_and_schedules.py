"""Every first optimizer, several steps, ref and resource variables; EMA; schedules."""
import numpy as np
import tensorflow as tf
x = np.linspace(-2, 2, 10).reshape(5, 2).astype('f')
def model(use_resource, scope):
    with tf.variable_scope(scope, use_resource=use_resource):
        w = tf.get_variable('w', initializer=[[0.5], [-0.3]]); e = tf.get_variable('e', initializer=np.ones((4, 2), 'f'))
        loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x), w) - 1.)) + tf.reduce_sum(tf.square(tf.nn.embedding_lookup(e, [0, 2, 0]) * [[1., 2.]]))
        return loss, w, e
steps = []
for res in (False, True):
    for i, o in enumerate([tf.train.GradientDescentOptimizer(0.01), tf.train.MomentumOptimizer(0.01, 0.9), tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True), tf.train.AdagradOptimizer(0.1), tf.train.RMSPropOptimizer(0.01, 0.9, 0.1, centered=res), tf.train.AdamOptimizer(0.1)]):
        loss, w, e = model(res, 'm%d%d' % (res, i))
        steps.append((o.minimize(loss), loss, w, e))
gs = tf.Variable(0, trainable=False, dtype=tf.int64, name='gs')
bump = gs.assign_add(1)
sched = [f for f in ('exponential_decay', 'inverse_time_decay', 'natural_exp_decay') if hasattr(tf.train, f)]
lrs = [getattr(tf.train, f)(0.1, gs, 5, 0.5) for f in sched] + [tf.train.polynomial_decay(0.1, gs, 10, 0.01, power=2.0), tf.train.piecewise_constant(gs, [tf.constant(1, tf.int64), tf.constant(2, tf.int64)] if 0 else [1, 2], [1., 2., 3.]), tf.train.cosine_decay(0.1, gs, 10) if hasattr(tf.train, 'cosine_decay') else tf.constant(0.)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for t, l, w, e in steps:
        for _ in range(5): sess.run(t)
        print(w.name, np.round(sess.run(l), 4), np.round(sess.run(w).ravel(), 5).tolist(), np.round(sess.run(e).ravel(), 5).tolist())
    for _ in range(4): print(sess.run(bump), np.round(sess.run(lrs), 6).tolist())
print([v.name for v in tf.global_variables()])
