"""A convnet in TF-Slim: arg_scope, batch_norm, regularizers, optimize_loss."""
import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim

tf.set_random_seed(5)
rng = np.random.RandomState(5)
shapes = rng.uniform(0, 1, [4, 8, 8, 1]).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
y = tf.placeholder(tf.int64, [None], name="y")
norm = {"is_training": True, "decay": 0.9, "updates_collections": None}
with slim.arg_scope(
    [slim.conv2d, slim.fully_connected],
    weights_regularizer=slim.l2_regularizer(0.001),
    weights_initializer=tf.contrib.layers.xavier_initializer(),
):
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params=norm):
        net = slim.repeat(x, 2, slim.conv2d, 6, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
    net = slim.flatten(net)
    net = slim.fully_connected(net, 16, scope="fc1")
    logits = slim.fully_connected(net, 4, activation_fn=None, scope="logits")
tf.losses.sparse_softmax_cross_entropy(y, logits)
loss = tf.losses.get_total_loss()
step = tf.contrib.framework.get_or_create_global_step()
train = tf.contrib.layers.optimize_loss(
    loss, step, learning_rate=0.02, optimizer=tf.train.RMSPropOptimizer,
    clip_gradients=5.0, summaries=[])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        labels = rng.randint(0, 4, 16)
        images = shapes[labels] + rng.normal(0, 0.3, [16, 8, 8, 1])
        print("step", i, "loss", float(sess.run(train, {x: images, y: labels})))
for variable in slim.get_variables():
    print(variable.op.name, variable.shape)
