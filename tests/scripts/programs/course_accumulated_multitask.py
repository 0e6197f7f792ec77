"""Two tasks weighed by learned uncertainty; gradients summed over small batches."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(0)
rng = np.random.RandomState(12)
inputs = rng.uniform(-1, 1, [96, 6]).astype(np.float32)
slope = inputs.dot(rng.normal(size=[6, 1]).astype(np.float32))
kind = (inputs[:, :3].sum(1) > 0).astype(np.int32)

x = tf.placeholder(tf.float32, [None, 6], "x")
y_reg = tf.placeholder(tf.float32, [None, 1], "y_reg")
y_cls = tf.placeholder(tf.int32, [None], "y_cls")
with tf.variable_scope("shared", initializer=tf.glorot_normal_initializer(seed=1)):
    trunk = tf.layers.dense(x, 12, activation=tf.nn.selu)
with tf.variable_scope("tasks", initializer=tf.orthogonal_initializer(seed=2)):
    value = tf.layers.dense(trunk, 1, name="regression")
    logits = tf.layers.dense(trunk, 2, name="classes")
log_vars = tf.get_variable("log_vars", [2], initializer=tf.zeros_initializer())
mse = tf.losses.mean_squared_error(y_reg, value)
xent = tf.losses.sparse_softmax_cross_entropy(y_cls, logits)
precision = tf.exp(-log_vars)
s_reg, s_cls = tf.unstack(precision)
loss = 0.5 * s_reg * mse + s_cls * xent + 0.5 * tf.reduce_sum(log_vars)

global_step = tf.train.get_or_create_global_step()
rate = tf.train.exponential_decay(0.02, global_step, 4, 0.8, staircase=True)
optimizer = tf.train.AdamOptimizer(rate, beta1=0.8)
tvs = tf.trainable_variables()
sums = [tf.Variable(tf.zeros_like(tv.initialized_value()), trainable=False) for tv in tvs]
counter = tf.Variable(0.0, trainable=False, name="counter")
zero_ops = [tv.assign(tf.zeros_like(tv)) for tv in sums] + [counter.assign(0.0)]
gvs = optimizer.compute_gradients(loss, tvs)
accumulate = [sums[i].assign_add(gv[0]) for i, gv in enumerate(gvs)] + [counter.assign_add(1.0)]
mean_grads = [(sums[i] / counter, gv[1]) for i, gv in enumerate(gvs)]
clipped, norm = tf.clip_by_global_norm([g for g, _ in mean_grads], 1.0)
train = optimizer.apply_gradients(zip(clipped, tvs), global_step=global_step)
ema = tf.train.ExponentialMovingAverage(0.7, num_updates=global_step)
with tf.control_dependencies([train]):
    train_and_average = ema.apply(tvs)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        sess.run(zero_ops)
        for part in np.split(np.arange(96), 4):
            feed = {x: inputs[part], y_reg: slope[part], y_cls: kind[part]}
            sess.run(accumulate, feed)
        size, _ = sess.run([norm, train_and_average])
        now = sess.run([loss, mse, xent], {x: inputs, y_reg: slope, y_cls: kind})
        print(step, "norm %.4f" % size, ["%.4f" % v for v in now], "lr %.4f" % sess.run(rate))
    print(np.round(sess.run([log_vars, ema.average(log_vars)]), 4))
    print(sorted(ema.variables_to_restore())[:4])
