"""Linear regression with a placeholder per batch, as CS20's second lecture trains it."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
births = rng.uniform(1, 7, [190, 1]).astype(np.float32)
lives = (84 - 5.5 * births + rng.normal(0, 3, births.shape)).astype(np.float32)

X = tf.placeholder(tf.float32, [None, 1], name="X")
Y = tf.placeholder(tf.float32, [None, 1], name="Y")
w = tf.get_variable("weights", [1, 1], initializer=tf.constant_initializer(0.0))
b = tf.get_variable("bias", [1], initializer=tf.constant_initializer(0.0))
predicted = tf.matmul(X, w) + b
loss = tf.reduce_mean(tf.square(Y - predicted, name="squared"), name="loss")
global_step = tf.train.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(0.02).minimize(loss, global_step=global_step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        rows = rng.randint(0, 190, 32)
        _, value = sess.run([train, loss], {X: births[rows], Y: lives[rows]})
        print("step", step, "loss", float(value))
    print("w", sess.run(w).tolist(), "b", sess.run(b).tolist(), sess.run(global_step))
