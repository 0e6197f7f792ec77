"""A denoising autoencoder class with tied weights, as wrapped in many repositories."""
import numpy as np
import tensorflow as tf


def xavier_init(fan_in, fan_out, constant=1):
    high = constant * np.sqrt(6.0 / (fan_in + fan_out))
    return tf.random_uniform((fan_in, fan_out), minval=-high, maxval=high, dtype=tf.float32)


class DenoisingAutoencoder(object):
    def __init__(self, n_input, n_hidden, transfer=tf.nn.softplus, optimizer=tf.train.AdamOptimizer(), scale=0.1):
        self.n_input, self.n_hidden, self.transfer = n_input, n_hidden, transfer
        self.scale = tf.placeholder(tf.float32)
        self.training_scale = scale
        self.weights = self._initialize_weights()
        self.x = tf.placeholder(tf.float32, [None, self.n_input])
        noisy = self.x + self.scale * tf.random_normal((n_input,))
        masked = tf.where(tf.random_uniform(tf.shape(self.x)) < 0.8, noisy, tf.zeros_like(noisy))
        self.hidden = self.transfer(tf.add(tf.matmul(masked, self.weights["w1"]), self.weights["b1"]))
        back = tf.matmul(self.hidden, self.weights["w1"], transpose_b=True)
        self.reconstruction = tf.add(back, self.weights["b2"])
        self.cost = 0.5 * tf.reduce_sum(tf.pow(tf.subtract(self.reconstruction, self.x), 2.0))
        self.optimizer = optimizer.minimize(self.cost)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _initialize_weights(self):
        all_weights = dict()
        all_weights["w1"] = tf.Variable(xavier_init(self.n_input, self.n_hidden))
        all_weights["b1"] = tf.Variable(tf.zeros([self.n_hidden], dtype=tf.float32))
        all_weights["b2"] = tf.Variable(tf.zeros([self.n_input], dtype=tf.float32))
        return all_weights

    def partial_fit(self, batch):
        feed = {self.x: batch, self.scale: self.training_scale}
        return self.sess.run((self.cost, self.optimizer), feed_dict=feed)[0]

    def calc_total_cost(self, batch):
        return self.sess.run(self.cost, feed_dict={self.x: batch, self.scale: 0.0})

    def transform(self, batch):
        return self.sess.run(self.hidden, feed_dict={self.x: batch, self.scale: 0.0})

    def weights_now(self):
        return self.sess.run(self.weights["w1"])


tf.set_random_seed(11)
rng = np.random.RandomState(3)
clean = rng.normal(size=[64, 2]).dot(rng.normal(size=[2, 10])).astype(np.float32)
clean = (clean - clean.mean(0)) / clean.std(0)
model = DenoisingAutoencoder(10, 6, optimizer=tf.train.AdamOptimizer(learning_rate=0.01))
for epoch in range(5):
    average = 0.0
    for start in range(0, 64, 16):
        average += model.partial_fit(clean[start:start + 16]) / 64 * 16
    print("Epoch: %04d cost=%.4f" % (epoch + 1, average))
print("total %.2f" % model.calc_total_cost(clean), model.transform(clean[:3]).shape, model.weights_now().shape)
