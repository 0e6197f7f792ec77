"""Two Inception blocks in TF-Slim: branches side by side, end points, an extra head."""
import numpy as np
import tensorflow as tf

slim = tf.contrib.slim


def inception_block(inputs, depths, scope):
    with tf.variable_scope(scope, "Mixed", [inputs]):
        with tf.variable_scope("Branch_0"):
            branch_0 = slim.conv2d(inputs, depths[0], [1, 1], scope="Conv2d_0a_1x1")
        with tf.variable_scope("Branch_1"):
            branch_1 = slim.conv2d(inputs, depths[1], [1, 1], scope="Conv2d_0a_1x1")
            branch_1 = slim.conv2d(branch_1, depths[1], [3, 3], scope="Conv2d_0b_3x3")
        with tf.variable_scope("Branch_2"):
            branch_2 = slim.conv2d(inputs, depths[2], [1, 5], scope="Conv2d_0a_1x5")
            branch_2 = slim.conv2d(branch_2, depths[2], [5, 1], scope="Conv2d_0b_5x1")
        with tf.variable_scope("Branch_3"):
            branch_3 = slim.avg_pool2d(inputs, [3, 3], scope="AvgPool_0a_3x3")
            branch_3 = slim.conv2d(branch_3, depths[3], [1, 1], scope="Conv2d_0b_1x1")
        return tf.concat(axis=3, values=[branch_0, branch_1, branch_2, branch_3])


def network(images, classes, is_training, reuse=None):
    end_points = {}
    with tf.variable_scope("Net", "Net", [images], reuse=reuse):
        with slim.arg_scope([slim.conv2d, slim.max_pool2d, slim.avg_pool2d], stride=1, padding="SAME"):
            net = slim.conv2d(images, 4, [3, 3], stride=2, scope="stem")
            end_points["stem"] = net
            net = inception_block(net, [2, 3, 2, 1], "Mixed_3b")
            aux = slim.fully_connected(slim.flatten(net), classes, activation_fn=None, scope="aux")
            net = slim.max_pool2d(net, [3, 3], stride=2, scope="pool")
            net = inception_block(net, [3, 4, 2, 2], None)
            end_points["mixed"] = net
        net = tf.reduce_mean(net, [1, 2], keep_dims=True, name="global_pool")
        net = slim.dropout(net, 0.8, is_training=is_training, scope="Dropout")
        logits = slim.conv2d(net, classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Logits")
        logits = tf.squeeze(logits, [1, 2], name="SpatialSqueeze")
        end_points["Predictions"] = slim.softmax(logits, scope="Predictions")
    return logits, aux, end_points


tf.set_random_seed(1)
rng = np.random.RandomState(1)
images = tf.placeholder(tf.float32, [None, 12, 12, 3])
labels = tf.placeholder(tf.int32, [None])
with slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(1e-3)):
    logits, aux, _ = network(images, 3, True)
    _, _, points = network(images, 3, False, reuse=True)
one_hot = slim.one_hot_encoding(labels, 3)
tf.losses.softmax_cross_entropy(one_hot, logits, label_smoothing=0.1)
tf.losses.softmax_cross_entropy(one_hot, aux, weights=0.4, scope="aux_loss")
total = tf.losses.get_total_loss()
train = slim.learning.create_train_op(total, tf.train.RMSPropOptimizer(0.01, momentum=0.5))
for key in sorted(points):
    print(key, points[key].op.name, points[key].shape)
print(len(slim.get_model_variables()), tf.losses.get_regularization_loss().op.type)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(5):
        where = rng.randint(0, 3, 8)
        batch = rng.uniform(0, 0.3, [8, 12, 12, 3]) + where[:, None, None, None] * 0.3
        print(i, "total %.3f" % sess.run(train, {images: batch, labels: where}))
    print(sess.run(tf.train.get_global_step()), "%.2f" % sess.run(points["Predictions"], {images: batch}).sum())
