"""Gradient clipping; slots; gate_gradients; control dependencies; group and tuple."""
import numpy as np
import tensorflow as tf
x = tf.constant(np.linspace(-1, 1, 12).reshape(4, 3).astype('f'))
y = tf.constant([[1.], [0.], [2.], [-1.]])
w = tf.Variable([[1.], [2.], [3.]], name='w')
b = tf.Variable(0., name='b')
unused = tf.Variable(1., name='unused')
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y), name='mse')
opt = tf.train.AdamOptimizer(learning_rate=0.1, epsilon=1e-5)
gvs = opt.compute_gradients(loss, [w, b, unused])
print(gvs)
capped = [(tf.clip_by_value(g, -1., 1.), v) for g, v in gvs if g is not None]
step = tf.Variable(0, trainable=False, name='global_step')
train = opt.apply_gradients(capped, global_step=step, name='apply')
grads, vs = zip(*[gv for gv in gvs if gv[0] is not None])
clipped, norm = tf.clip_by_global_norm(grads, 0.5)
opt2 = tf.train.MomentumOptimizer(0.1, 0.9)
train2 = opt2.apply_gradients(zip(clipped, vs), step)
one = tf.clip_by_norm(w, 2.0); avg = tf.clip_by_average_norm(w, 0.5)
gg = tf.train.GradientDescentOptimizer(0.1).minimize(loss, gate_gradients=tf.train.Optimizer.GATE_GRAPH, var_list=[w], name='sgd')
agg = tf.gradients([loss, tf.reduce_sum(w)], w, grad_ys=[None, tf.constant(2.)])[0]
st = tf.gradients(loss * b, [b], stop_gradients=[loss])
with tf.control_dependencies([train]):
    after = tf.identity(w, name='after')
    done = tf.no_op('done')
grp = tf.group(train2, done, name='both')
t = tf.tuple([w, b], control_inputs=[step.op], name='tup')
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3): sess.run(train)
    print(sess.run([w, b, step]))
    print(sess.run([opt.get_slot(w, 'm'), opt.get_slot(b, 'v')]), opt.get_slot_names())
    print(sess.run(['beta1_power:0', 'beta2_power:0']))
    print(sess.run([norm, one, avg]), sess.run(after).shape)
    sess.run(grp); sess.run(train2)
    print(sess.run(opt2.get_slot(w, 'momentum')), sess.run(step))
    sess.run(gg)
    print(sess.run([w, agg, st]))
    print(sess.run(t))
print([v.name for v in opt.variables()], [v.name for v in tf.global_variables()])
for bad in (lambda: opt.apply_gradients([]), lambda: opt.apply_gradients([(None, w)]), lambda: opt.minimize(loss, var_list=[unused]),
            lambda: opt.compute_gradients(loss, var_list=[x]), lambda: opt.compute_gradients(tf.constant(1)), lambda: opt.minimize(tf.constant(1.))):
    try: bad()
    except Exception as e: print(type(e).__name__, e)
