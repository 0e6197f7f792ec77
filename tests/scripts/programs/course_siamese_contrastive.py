"""A siamese net: one network used twice, contrastive and triplet losses."""
import numpy as np
import tensorflow as tf


def embed(images, reuse=tf.AUTO_REUSE):
    with tf.variable_scope("siamese", reuse=reuse) as scope:
        net = tf.layers.conv2d(images, 4, 3, strides=2, padding="same", activation=tf.nn.relu, name="conv1",
                               kernel_initializer=tf.initializers.he_uniform(seed=1))
        net = tf.layers.max_pooling2d(net, 2, 2)
        net = tf.layers.flatten(net)
        net = tf.layers.dense(net, 5, name="fc", kernel_initializer=tf.initializers.lecun_normal(seed=2))
        return tf.nn.l2_normalize(net, 1, name=scope.original_name_scope + "unit")


def contrastive_loss(model1, model2, y, margin):
    with tf.name_scope("contrastive-loss"):
        distance = tf.sqrt(tf.reduce_sum(tf.pow(model1 - model2, 2), 1, keepdims=True) + 1e-9)
        similarity = y * tf.square(distance)
        dissimilarity = (1 - y) * tf.square(tf.maximum((margin - distance), 0))
        return tf.reduce_mean(dissimilarity + similarity) / 2


left = tf.placeholder(tf.float32, [None, 8, 8, 1], name="left")
right = tf.placeholder(tf.float32, [None, 8, 8, 1], name="right")
same = tf.placeholder(tf.float32, [None, 1], name="same")
left_out, right_out = embed(left), embed(right)
loss = contrastive_loss(left_out, right_out, same, 0.8)
similarity = tf.matmul(left_out, right_out, transpose_b=True)
eye = tf.eye(tf.shape(similarity)[0])
hardest = tf.reduce_max(similarity - 2.0 * eye, axis=1)
triplet = tf.reduce_mean(tf.nn.relu(0.2 + hardest - tf.matrix_diag_part(similarity)))
cosine = tf.losses.cosine_distance(left_out, right_out, axis=1)
step = tf.Variable(0, trainable=False)
train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
also = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss + triplet, global_step=step)
print([(v.op.name, v.shape.as_list()) for v in tf.trainable_variables()])

rng = np.random.RandomState(21)
kinds = rng.uniform(0, 1, [3, 8, 8, 1])
init = tf.global_variables_initializer()
with tf.Session() as sess:
    sess.run(init)
    for i in range(8):
        one, two = rng.randint(0, 3, 12), rng.randint(0, 3, 12)
        feed = {left: kinds[one] + rng.normal(0, 0.1, [12, 8, 8, 1]),
                right: kinds[two] + rng.normal(0, 0.1, [12, 8, 8, 1]),
                same: (one == two).astype(np.float32)[:, None]}
        _, value, count = sess.run([train if i % 2 else also, loss, step], feed_dict=feed)
        if np.isnan(value):
            print("diverged")
            break
        print(i, "loss %.4f" % value)
    print(["%.4f" % v for v in sess.run([triplet, cosine], feed)], sess.run(step))
