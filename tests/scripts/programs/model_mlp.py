"""Three dense layers, dropout, weight decay, decayed learning rate, Adam."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(7)
rng = np.random.RandomState(2)
data = rng.uniform(-1, 1, [256, 20]).astype(np.float32)
target = (np.sin(data.sum(1) * 2) > 0).astype(np.int64)

is_training = tf.placeholder_with_default(False, [], name="is_training")
x = tf.placeholder(tf.float32, [None, 20], name="x")
y = tf.placeholder(tf.int64, [None], name="y")
regularizer = tf.contrib.layers.l2_regularizer(1e-3)
h = tf.layers.dense(x, 64, activation=tf.nn.relu, kernel_regularizer=regularizer, name="hidden1")
h = tf.layers.dropout(h, 0.25, training=is_training, seed=3)
h = tf.layers.dense(h, 32, activation=tf.nn.tanh, kernel_regularizer=regularizer, name="hidden2")
logits = tf.layers.dense(h, 2, name="logits")
cross = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
loss = tf.losses.get_total_loss()
step = tf.Variable(0, trainable=False, name="global_step")
rate = tf.train.exponential_decay(0.01, step, 5, 0.9, staircase=True)
train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
accuracy, update = tf.metrics.accuracy(y, tf.argmax(logits, 1))

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for i in range(20):
        rows = rng.randint(0, 256, 64)
        feed = {x: data[rows], y: target[rows], is_training: True}
        _, total, part, lr = sess.run([train, loss, cross, rate], feed)
        print("step", i, "loss", float(total), "data", float(part), "rate", float(lr))
    for start in range(0, 256, 64):
        sess.run(update, {x: data[start:start + 64], y: target[start:start + 64]})
    print("accuracy", float(sess.run(accuracy)))
