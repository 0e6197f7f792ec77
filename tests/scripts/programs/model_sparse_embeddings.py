"""Matrix factorization with biases: LazyAdam touches only the rows of the batch."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(17)
rng = np.random.RandomState(15)
USERS, ITEMS, RANK = 40, 30, 5
taste, kind = rng.normal(size=[USERS, 3]), rng.normal(size=[ITEMS, 3])
user = tf.placeholder(tf.int32, [None], name="user")
item = tf.placeholder(tf.int32, [None], name="item")
rating = tf.placeholder(tf.float32, [None], name="rating")


def table(name, rows, size):
    return tf.get_variable(name, [rows, size], initializer=tf.random_uniform_initializer(-0.1, 0.1))


p = tf.nn.embedding_lookup(table("users", USERS, RANK), user)
q = tf.nn.embedding_lookup(table("items", ITEMS, RANK), item)
bias = tf.gather(table("item_bias", ITEMS, 1), item)[:, 0]
predicted = tf.reduce_sum(p * q, 1) + bias
loss = tf.losses.mean_squared_error(rating, predicted) + 1e-3 * (tf.nn.l2_loss(p) + tf.nn.l2_loss(q))
optimizer = tf.contrib.opt.LazyAdamOptimizer(0.05)
train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
average = tf.train.ExponentialMovingAverage(0.9, num_updates=tf.train.get_global_step())
with tf.control_dependencies([train]):
    train = average.apply(tf.trainable_variables())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        u, v = rng.randint(0, USERS, 24), rng.randint(0, ITEMS, 24)
        feed = {user: u, item: v, rating: (taste[u] * kind[v]).sum(1)}
        _, value = sess.run([train, loss], feed)
        print("step", i, "loss", float(value))
    shadow = average.average(tf.trainable_variables()[0])
    print(shadow.name, sess.run(shadow)[0].tolist())
    print(sess.run(optimizer.get_slot(tf.trainable_variables()[0], "m")).sum(1)[:8].tolist())
