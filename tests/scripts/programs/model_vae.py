"""A variational autoencoder: reparametrized noise, KL term, sampled images."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(8)
rng = np.random.RandomState(7)
shapes = (rng.uniform(0, 1, [6, 30]) > 0.5).astype(np.float32)


def dense(inputs, size, name, activation=None):
    with tf.variable_scope(name):
        fan_in = inputs.shape[1].value
        w = tf.get_variable("w", [fan_in, size], initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable("b", [size], initializer=tf.zeros_initializer())
        out = tf.nn.bias_add(tf.matmul(inputs, w), b)
        return out if activation is None else activation(out)


def decode(z, reuse=None):
    with tf.variable_scope("decoder", reuse=reuse):
        return dense(dense(z, 16, "h", tf.nn.relu), 30, "logits")


x = tf.placeholder(tf.float32, [None, 30], name="x")
with tf.variable_scope("encoder"):
    h = dense(x, 16, "h", tf.nn.relu)
    mean, log_var = dense(h, 2, "mean"), dense(h, 2, "log_var")
noise = tf.random_uniform(tf.shape(mean), -1.0, 1.0, seed=1)
z = mean + tf.exp(0.5 * log_var) * noise
logits = decode(z)
likelihood = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
reconstruction = tf.reduce_sum(likelihood, axis=1)
divergence = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), 1)
loss = tf.reduce_mean(reconstruction + divergence, name="elbo")
optimizer = tf.train.AdamOptimizer(0.01)
grads = [(tf.clip_by_norm(g, 5.0), v) for g, v in optimizer.compute_gradients(loss) if g is not None]
train = optimizer.apply_gradients(grads)
images = tf.nn.sigmoid(decode(tf.constant([[0.5, -0.5]]), reuse=True))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        _, value, kl = sess.run([train, loss, divergence], {x: shapes[rng.randint(0, 6, 24)]})
        print("step", i, "loss", float(value), "kl", float(kl.mean()))
    print(sess.run(images)[0, :5].tolist())
