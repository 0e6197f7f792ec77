"""TensorFlow's "Deep MNIST for experts": convolution and pooling from parts."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(42)
rng = np.random.RandomState(3)
shapes = rng.uniform(0, 1, [10, 14, 14]).astype(np.float32)


def batch(size):
    labels = rng.randint(0, 10, size)
    images = shapes[labels] + rng.normal(0, 0.2, [size, 14, 14])
    return images.reshape(size, -1).astype(np.float32), np.eye(10)[labels]


def weight_variable(shape):
    return tf.Variable(tf.random_uniform(shape, -0.1, 0.1), name="W")


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape), name="b")


def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding="SAME")


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


x = tf.placeholder(tf.float32, [None, 196])
y_ = tf.placeholder(tf.float32, [None, 10])
with tf.name_scope("reshape"):
    image = tf.reshape(x, [-1, 14, 14, 1])
with tf.name_scope("conv1"):
    h1 = max_pool_2x2(tf.nn.relu(conv2d(image, weight_variable([5, 5, 1, 8])) + bias_variable([8])))
with tf.name_scope("conv2"):
    h2 = max_pool_2x2(tf.nn.relu(conv2d(h1, weight_variable([5, 5, 8, 16])) + bias_variable([16])))
with tf.name_scope("fc1"):
    flat = tf.reshape(h2, [-1, 4 * 4 * 16])
    fc1 = tf.nn.relu(tf.matmul(flat, weight_variable([4 * 4 * 16, 32])) + bias_variable([32]))
with tf.name_scope("dropout"):
    keep_prob = tf.placeholder(tf.float32)
    dropped = tf.nn.dropout(fc1, keep_prob)
with tf.name_scope("fc2"):
    logits = tf.matmul(dropped, weight_variable([32, 10])) + bias_variable([10])
with tf.name_scope("loss"):
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=logits))
with tf.name_scope("adam_optimizer"):
    train_step = tf.train.AdamOptimizer(5e-3).minimize(loss)
with tf.name_scope("accuracy"):
    correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        images, labels = batch(20)
        _, value = sess.run([train_step, loss], {x: images, y_: labels, keep_prob: 0.8})
        print("step", i, "loss", float(value))
    images, labels = batch(100)
    print("loss", float(loss.eval({x: images, y_: labels, keep_prob: 1.0})))
