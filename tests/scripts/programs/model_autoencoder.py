"""A convolutional autoencoder: strided convolutions down, transposed ones up."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(3)
rng = np.random.RandomState(6)
shapes = rng.uniform(0, 1, [6, 8, 8, 1]).astype(np.float32)
x = tf.placeholder(tf.float32, [16, 8, 8, 1], name="x")
with tf.variable_scope("encoder"):
    net = tf.layers.conv2d(x, 4, 3, strides=2, padding="same", activation=tf.nn.elu)
    net = tf.layers.conv2d(net, 8, 3, strides=2, padding="same", activation=tf.nn.elu)
    code = tf.layers.dense(tf.layers.flatten(net), 6, name="code")
with tf.variable_scope("decoder"):
    net = tf.layers.dense(code, 2 * 2 * 8, activation=tf.nn.elu)
    net = tf.reshape(net, [-1, 2, 2, 8])
    net = tf.layers.conv2d_transpose(net, 4, 3, strides=2, padding="same", activation=tf.nn.elu)
    filters = tf.get_variable("filters", [3, 3, 1, 4])
    logits = tf.nn.conv2d_transpose(net, filters, [16, 8, 8, 1], [1, 2, 2, 1], "SAME")
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits))
loss += 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "kernel" in v.name])
train = tf.train.AdagradOptimizer(0.3).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        images = shapes[rng.randint(0, 6, 16)]
        _, value = sess.run([train, loss], {x: images})
        print("step", i, "loss", float(value))
