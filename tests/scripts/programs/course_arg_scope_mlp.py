"""A deep MLP with tf.contrib.layers, arg_scope and batch norm's update ops."""
import numpy as np
import tensorflow as tf
from tensorflow.contrib.framework import arg_scope
from tensorflow.contrib.layers import batch_norm, dropout, fully_connected
from tensorflow.contrib.layers import l1_l2_regularizer, variance_scaling_initializer

tf.set_random_seed(42)
rng = np.random.RandomState(42)
features = rng.normal(size=[200, 12]).astype(np.float32)
targets = (np.abs(features[:, 0]) + features[:, 1] > 0.7).astype(np.int64)

X = tf.placeholder(tf.float32, shape=(None, 12), name="X")
y = tf.placeholder(tf.int64, shape=(None,), name="y")
training = tf.placeholder_with_default(False, shape=(), name="training")
bn_params = {"is_training": training, "decay": 0.9, "updates_collections": tf.GraphKeys.UPDATE_OPS,
             "scale": True}
with tf.name_scope("dnn"):
    with arg_scope([fully_connected], normalizer_fn=batch_norm, normalizer_params=bn_params,
                   activation_fn=tf.nn.elu,
                   weights_regularizer=l1_l2_regularizer(1e-4, 1e-3),
                   weights_initializer=variance_scaling_initializer()):
        hidden = fully_connected(X, 20, scope="hidden1")
        hidden = dropout(hidden, keep_prob=0.9, is_training=training, scope="drop")
        hidden = fully_connected(hidden, 10, scope="hidden2", activation_fn=tf.nn.relu6)
        with arg_scope([fully_connected], activation_fn=None, normalizer_fn=None):
            logits = fully_connected(hidden, 2, scope="outputs")
with tf.name_scope("loss"):
    xentropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    base = tf.reduce_mean(xentropy, name="base")
    reg = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    loss = tf.add_n([base] + reg, name="total")
with tf.name_scope("train"):
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True)
    grads_and_vars = optimizer.compute_gradients(loss)
    capped = [(tf.clip_by_value(g, -0.5, 0.5), v) for g, v in grads_and_vars]
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        training_op = optimizer.apply_gradients(capped)
with tf.name_scope("eval"):
    accuracy = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 1), tf.float32))
print(len(update_ops), [r.op.name for r in reg])

with tf.Session() as sess:
    tf.global_variables_initializer().run()
    for epoch in range(4):
        order = rng.permutation(200)
        for batch in np.array_split(order, 5):
            sess.run(training_op, {training: True, X: features[batch], y: targets[batch]})
        feed = {X: features, y: targets}
        print(epoch, "loss %.4f" % loss.eval(feed), "acc %.2f" % accuracy.eval(feed))
    mean = tf.get_default_graph().get_tensor_by_name("hidden1/BatchNorm/moving_mean:0")
    print(np.round(mean.eval()[:3], 4))
