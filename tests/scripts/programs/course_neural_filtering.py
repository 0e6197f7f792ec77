"""Neural collaborative filtering: factors multiplied, an MLP beside, one output."""
import numpy as np
import tensorflow as tf

USERS, ITEMS, DIM = 20, 30, 4
rng = np.random.RandomState(31)
taste, trait = rng.normal(size=[USERS, 3]), rng.normal(size=[ITEMS, 3])

user = tf.placeholder(tf.int32, [None], name="user")
item = tf.placeholder(tf.int32, [None], name="item")
label = tf.placeholder(tf.float32, [None], name="label")
regularizer = tf.contrib.layers.l2_regularizer(0.001)


def table(name, rows, partitioner=None):
    return tf.get_variable(name, [rows, DIM], regularizer=regularizer, partitioner=partitioner,
                           initializer=tf.random_normal_initializer(stddev=0.3, seed=rows))


with tf.variable_scope("mf"):
    user_mf = tf.nn.embedding_lookup(table("users", USERS), user)
    item_mf = tf.nn.embedding_lookup(table("items", ITEMS), item)
    bias = tf.get_variable("bias", [ITEMS], initializer=tf.zeros_initializer)
    gmf = tf.multiply(user_mf, item_mf, name="gmf")
with tf.variable_scope("mlp"):
    users = table("users", USERS, tf.fixed_size_partitioner(2))
    merged = tf.concat([tf.nn.embedding_lookup(users, user, partition_strategy="div"),
                        tf.nn.embedding_lookup(table("items", ITEMS), item)], axis=1)
    for i, width in enumerate([8, 4]):
        merged = tf.layers.dense(merged, width, tf.nn.relu, name="layer%d" % i,
                                 kernel_initializer=tf.glorot_uniform_initializer(seed=i),
                                 kernel_regularizer=regularizer)
both = tf.concat([gmf, merged], axis=1)
logits = tf.squeeze(tf.layers.dense(both, 1, kernel_initializer=tf.ones_initializer()), axis=1)
logits += tf.gather(bias, item)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits))
weighted = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(label, logits, pos_weight=2.0))
total = loss + tf.losses.get_regularization_loss()
prediction = tf.sigmoid(logits)
auc, auc_update = tf.metrics.auc(label, prediction, num_thresholds=20)
rmse, rmse_update = tf.metrics.root_mean_squared_error(label, prediction)
_, best = tf.nn.top_k(prediction, k=3)
optimizer = tf.train.AdagradOptimizer(0.1)
grads = optimizer.compute_gradients(total)
print([type(g).__name__ for g, _ in grads])
train = optimizer.apply_gradients(grads)
lazy = tf.contrib.opt.LazyAdamOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for epoch in range(6):
        u, i = rng.randint(0, USERS, 32), rng.randint(0, ITEMS, 32)
        feed = {user: u, item: i, label: (np.sum(taste[u] * trait[i], 1) > 0).astype(np.float32)}
        _, value, extra = sess.run([train if epoch < 3 else lazy, total, weighted], feed)
        sess.run([auc_update, rmse_update], feed)
        print("epoch %d total %.4f weighted %.4f" % (epoch, value, extra))
    print("auc %.3f rmse %.4f" % tuple(sess.run([auc, rmse])), sess.run(best, feed))
    for name in tf.report_uninitialized_variables().eval():
        print(name)
