"""A residual block whose batch norm is by hand: moments, averages and tf.cond."""
import numpy as np
import tensorflow as tf


def weight_variable(name, shape):
    fan_in = float(np.prod(shape[:-1]))
    return tf.get_variable(name, shape, initializer=tf.truncated_normal_initializer(stddev=np.sqrt(2 / fan_in), seed=7))


def batch_norm(x, n_out, phase_train, scope="bn"):
    with tf.variable_scope(scope):
        beta = tf.Variable(tf.constant(0.0, shape=[n_out]), name="beta", trainable=True)
        gamma = tf.Variable(tf.constant(1.0, shape=[n_out]), name="gamma", trainable=True)
        batch_mean, batch_var = tf.nn.moments(x, [0, 1, 2], name="moments")
        ema = tf.train.ExponentialMovingAverage(decay=0.5)

        def mean_var_with_update():
            ema_apply_op = ema.apply([batch_mean, batch_var])
            with tf.control_dependencies([ema_apply_op]):
                return tf.identity(batch_mean), tf.identity(batch_var)

        mean, var = tf.cond(phase_train, mean_var_with_update,
                            lambda: (ema.average(batch_mean), ema.average(batch_var)))
        return tf.nn.batch_normalization(x, mean, var, beta, gamma, 1e-3)


def residual(x, n_in, n_out, stride, phase, name):
    with tf.variable_scope(name):
        h = tf.nn.conv2d(x, weight_variable("w1", [3, 3, n_in, n_out]), [1, stride, stride, 1], "SAME")
        h = tf.nn.relu(batch_norm(h, n_out, phase, "bn1"))
        h = tf.nn.conv2d(h, weight_variable("w2", [3, 3, n_out, n_out]), [1, 1, 1, 1], "SAME")
        h = batch_norm(h, n_out, phase, "bn2")
        if n_in != n_out:
            x = tf.nn.avg_pool(x, [1, stride, stride, 1], [1, stride, stride, 1], "VALID")
            side = (n_out - n_in) // 2
            x = tf.pad(x, [[0, 0], [0, 0], [0, 0], [side, n_out - n_in - side]])
        return tf.nn.relu(x + h)


x = tf.placeholder(tf.float32, [None, 8, 8, 4], name="x")
t = tf.placeholder(tf.float32, [None, 2], name="t")
phase = tf.placeholder(tf.bool, name="phase_train")
net = residual(x, 4, 4, 1, phase, "block1")
net = residual(net, 4, 8, 2, phase, "block2")
net = tf.reduce_mean(net, axis=[1, 2])
w = tf.get_variable("fc", [8, 2], initializer=tf.constant_initializer(0.1))
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=t, logits=tf.matmul(net, w)))
decay = sum(tf.nn.l2_loss(v) for v in tf.trainable_variables() if len(v.get_shape()) > 1)
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss + 1e-3 * decay)
rng = np.random.RandomState(0)
data = rng.normal(size=[12, 8, 8, 4])
hot = np.eye(2)[rng.randint(0, 2, 12)]
data[:, :4] += hot[:, 0, None, None, None]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(5):
        _, value = sess.run([train, loss], {x: data, t: hot, phase: True})
        print("step %d loss %.4f" % (i, value))
    print("inference %.3f" % sess.run(loss, {x: data, t: hot, phase: False}))
    print([v.op.name for v in tf.moving_average_variables()])
