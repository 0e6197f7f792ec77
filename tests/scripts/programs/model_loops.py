"""Training through loops: a while_loop's unrolled descent, map_fn, scan, foldl, a TensorArray."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(17)
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.get_variable("w", initializer=tf.constant(rng.uniform(-0.5, 0.5, [3, 3]).astype(np.float32)))
rate = tf.get_variable("rate", initializer=0.3)


def step(i, h):
    return i + 1, h + rate * tf.tanh(tf.matmul(h, w))


_, h = tf.while_loop(lambda i, h: i < 4, step, [tf.constant(0), x], name="unroll")
rows = tf.map_fn(lambda row: tf.reduce_sum(row * row), h, name="energy")
running = tf.scan(lambda total, row: 0.5 * total + row, rows, initializer=tf.constant(0.0))
product = tf.foldl(lambda a, row: a + tf.cond(row[0] > 0, lambda: row, lambda: -row * 0.5), h,
                   initializer=tf.zeros([3]))
array = tf.TensorArray(tf.float32, size=3, clear_after_read=False)
_, array = tf.while_loop(
    lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, tf.reduce_mean(h[:, i]) * rate)), [0, array])
loss = tf.reduce_mean(running) + tf.reduce_sum(tf.square(product - 1.0)) + tf.reduce_sum(array.stack())
train = tf.train.GradientDescentOptimizer(0.02).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        _, value = sess.run([train, loss], {x: rng.uniform(-1, 1, [5, 3])})
        print("step", i, "loss", float(value))
    print("w", sess.run(w).tolist(), "rate", float(sess.run(rate)))
