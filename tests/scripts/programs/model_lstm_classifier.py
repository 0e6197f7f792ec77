"""Rows of an image as a sequence: static LSTM, the last output classified."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(13)
rng = np.random.RandomState(10)
shapes = rng.uniform(0, 1, [4, 6, 5]).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 6, 5], name="x")
y = tf.placeholder(tf.float32, [None, 4], name="y")
keep = tf.placeholder_with_default(1.0, [])
initializer = tf.random_uniform_initializer(-0.2, 0.2)
W = tf.get_variable("W", [10, 4], initializer=initializer)
b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())


def RNN(x):
    steps = tf.unstack(x, 6, 1)
    cell = tf.contrib.rnn.BasicLSTMCell(10, forget_bias=1.0)
    cell = tf.contrib.rnn.DropoutWrapper(cell, output_keep_prob=keep)
    with tf.variable_scope("rnn_model", initializer=initializer):
        outputs, states = tf.contrib.rnn.static_rnn(cell, steps, dtype=tf.float32)
    return tf.matmul(outputs[-1], W) + b, states


logits, states = RNN(x)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=y))
variables = tf.trainable_variables()
grads, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(zip(grads, variables))
print(states)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        labels = rng.randint(0, 4, 12)
        images = shapes[labels] + rng.normal(0, 0.1, [12, 6, 5])
        feed = {x: images, y: np.eye(4)[labels], keep: 0.9}
        _, value, size = sess.run([train, loss, norm], feed)
        print("step", i, "loss", float(value), "norm", float(size))
