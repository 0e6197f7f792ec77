"""Looking for a learning rate: each step larger, losses smoothed, the best chosen."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(6)
xs = rng.uniform(-2, 2, [64, 1]).astype(np.float32)
ys = (np.sin(2 * xs) + 0.1 * rng.normal(size=[64, 1])).astype(np.float32)

x = tf.placeholder(tf.float32, [None, 1])
y = tf.placeholder(tf.float32, [None, 1])
with tf.variable_scope("net", initializer=tf.variance_scaling_initializer(2.0, seed=3),
                       regularizer=tf.contrib.layers.l1_regularizer(1e-4)):
    w1 = tf.get_variable("w1", [1, 16])
    w2 = tf.get_variable("w2", [16, 1])
    b1 = tf.get_variable("b1", [16], initializer=tf.constant_initializer(0.1), regularizer=None)
hidden = tf.nn.leaky_relu(tf.matmul(x, w1) + b1, alpha=0.1)
loss = tf.losses.mean_squared_error(y, tf.matmul(hidden, w2))

global_step = tf.train.create_global_step()
low, high, count = 1e-3, 2.0, 16
rate = low * tf.pow(high / low, tf.cast(global_step, tf.float32) / count)
schedules = [
    tf.train.polynomial_decay(0.1, global_step, 10, 0.01, power=2.0, cycle=True),
    tf.train.inverse_time_decay(0.1, global_step, 5, 0.5),
    tf.train.natural_exp_decay(0.1, global_step, 5, 0.5, staircase=True),
    tf.train.piecewise_constant(global_step, [4, 9], [0.1, 0.05, 0.01]),
    tf.train.cosine_decay_restarts(0.1, global_step, 6, t_mul=1.5, m_mul=0.8),
    tf.train.linear_cosine_decay(0.1, global_step, 12),
    tf.train.noisy_linear_cosine_decay(0.1, global_step, 12, initial_variance=0.0),
]
smooth = tf.Variable(0.0, trainable=False, name="smooth")
momentum = 0.7
averaged = tf.assign(smooth, momentum * smooth + (1 - momentum) * loss)
unbiased = averaged / (1 - tf.pow(momentum, tf.cast(global_step, tf.float32) + 1))
best = tf.Variable(np.inf, trainable=False, dtype=tf.float32)
best_rate = tf.Variable(0.0, trainable=False)
better = tf.less(unbiased, best)
keep = tf.cond(better,
               lambda: tf.group(tf.assign(best, unbiased), tf.assign(best_rate, rate)),
               lambda: tf.no_op())
with tf.control_dependencies([keep]):
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step)
stop = tf.logical_or(tf.is_nan(loss), tf.greater(unbiased, 4 * best))
optimizers = [
    tf.train.RMSPropOptimizer(0.01, centered=True, momentum=0.9),
    tf.train.AdadeltaOptimizer(1.0),
    tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    tf.train.AdagradDAOptimizer(0.1, global_step),
    tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.001),
]
steps = [o.minimize(loss, var_list=[w2], name="by%d" % i) for i, o in enumerate(optimizers)]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: xs, y: ys}
    for i in range(count):
        _, r, l, halt = sess.run([train, rate, loss, stop], feed)
        if i % 3 == 0:
            print("%d rate %.4f loss %.3f" % (i, r, l), ["%.4f" % v for v in sess.run(schedules)])
        if halt:
            print("stopped at", i > 8)
            break
    print("best %.2f at rate %.2f" % tuple(sess.run([best, best_rate])))
    sess.run(tf.variables_initializer(tf.get_collection("trainable_variables")))
    for i, op in enumerate(steps):
        sess.run(op, feed)
        print(i, "loss %.3f" % loss.eval(feed), optimizers[i].get_slot_names())
