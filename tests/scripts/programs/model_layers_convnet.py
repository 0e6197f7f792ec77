"""A convnet of tf.layers with batch normalization and its update ops."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(11)
rng = np.random.RandomState(4)
shapes = rng.uniform(0, 1, [5, 12, 12, 3]).astype(np.float32)
is_training = tf.placeholder(tf.bool, name="is_training")
x = tf.placeholder(tf.float32, [None, 12, 12, 3], name="x")
y = tf.placeholder(tf.int32, [None], name="y")


def block(net, filters, name):
    with tf.variable_scope(name):
        net = tf.layers.conv2d(net, filters, 3, padding="same", use_bias=False)
        net = tf.layers.batch_normalization(net, training=is_training)
        net = tf.nn.relu(net)
        return tf.layers.max_pooling2d(net, 2, 2)


net = block(x, 8, "block1")
net = block(net, 12, "block2")
net = tf.layers.average_pooling2d(net, 3, 1, padding="same")
net = tf.layers.flatten(net)
logits = tf.layers.dense(net, 5)
loss = tf.losses.softmax_cross_entropy(tf.one_hot(y, 5), logits, label_smoothing=0.1)
updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(updates):
    train = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True).minimize(loss)


def batch(size):
    labels = rng.randint(0, 5, size)
    images = shapes[labels] + rng.normal(0, 0.3, [size, 12, 12, 3])
    return images.astype(np.float32), labels


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        images, labels = batch(16)
        _, value = sess.run([train, loss], {x: images, y: labels, is_training: True})
        print("step", i, "loss", float(value))
    images, labels = batch(32)
    print("test loss", float(sess.run(loss, {x: images, y: labels, is_training: False})))
    for variable in tf.global_variables():
        if "moving" in variable.name:
            print(variable.name, sess.run(variable).tolist())
