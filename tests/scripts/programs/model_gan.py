"""A GAN: two optimizers, each with its own variables, one graph."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(9)
rng = np.random.RandomState(8)


def generator(z):
    with tf.variable_scope("generator"):
        h = tf.layers.dense(z, 16, tf.nn.leaky_relu)
        h = tf.layers.batch_normalization(h, training=True, momentum=0.8)
        return tf.layers.dense(h, 2, tf.nn.tanh)


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        h = tf.layers.dense(x, 16, tf.nn.leaky_relu, name="h")
        return tf.layers.dense(h, 1, name="out")


real = tf.placeholder(tf.float32, [None, 2], name="real")
z = tf.placeholder(tf.float32, [None, 3], name="z")
fake = generator(z)
on_real, on_fake = discriminator(real), discriminator(fake, reuse=True)
entropy = tf.nn.sigmoid_cross_entropy_with_logits
d_loss = tf.reduce_mean(
    entropy(labels=tf.ones_like(on_real) * 0.9, logits=on_real)
    + entropy(labels=tf.zeros_like(on_fake), logits=on_fake))
g_loss = tf.reduce_mean(entropy(labels=tf.ones_like(on_fake), logits=on_fake))
d_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="discriminator")
g_vars = [v for v in tf.trainable_variables() if v.name.startswith("generator")]
d_train = tf.train.AdamOptimizer(0.005, beta1=0.5).minimize(d_loss, var_list=d_vars)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, "generator")):
    g_train = tf.train.AdamOptimizer(0.005, beta1=0.5).minimize(g_loss, var_list=g_vars)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        angle = rng.uniform(0, 2 * np.pi, 32)
        points = np.stack([np.cos(angle), np.sin(angle)], 1) * 0.7
        noise = rng.uniform(-1, 1, [32, 3])
        _, d = sess.run([d_train, d_loss], {real: points, z: noise})
        _, g = sess.run([g_train, g_loss], {z: noise})
        print("step", i, "d", float(d), "g", float(g))
