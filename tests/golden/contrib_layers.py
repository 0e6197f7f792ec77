"""contrib.framework, contrib.layers, slim and contrib.losses in real TF 1.15.

See composites.py.
"""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 0.75]], np.float32)
IMAGE = np.sin(np.arange(2 * 6 * 5 * 3).reshape(2, 6, 5, 3)).astype(np.float32)


def _x(tf):
    return tf.placeholder_with_default(X, [None, 3], "x")


def _image(tf):
    return tf.placeholder_with_default(IMAGE, [None, 6, 5, 3], "image")


def _step(tf, found):
    loss = tf.add_n([tf.reduce_sum(tf.square(y)) for y in found])
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return [*found, step, *found]


def fully_connected(tf):
    layers = tf.contrib.layers
    x = _x(tf)
    y = layers.fully_connected(x, 4)
    y = layers.fully_connected(
        y,
        3,
        activation_fn=tf.nn.tanh,
        weights_initializer=layers.variance_scaling_initializer(),
        weights_regularizer=layers.l2_regularizer(0.1),
        biases_regularizer=layers.l1_regularizer(0.2),
        variables_collections={"weights": ["mine"], "biases": ["other"]},
        outputs_collections="outputs",
        scope="second",
    )
    y = layers.linear(y, 2, biases_initializer=None)
    y = layers.relu(tf.expand_dims(y, 1), 2, scope="deep/er")
    with tf.variable_scope("outer", reuse=tf.AUTO_REUSE):
        for _ in range(2):
            y = layers.fully_connected(y, 2, scope="shared", trainable=False)
    return [y, *tf.gradients(y, tf.trainable_variables())]


def regularizers(tf):
    layers = tf.contrib.layers
    w = tf.get_variable("w", initializer=tf.constant(X))
    both = layers.l1_l2_regularizer(0.1, 0.2)
    with tf.variable_scope("v", regularizer=layers.l2_regularizer(0.5)):
        v = tf.get_variable("v", [2])
    found = [
        layers.l1_regularizer(0.1)(w),
        layers.l2_regularizer(tf.constant(0.5), "own")(w),
        both(w),
        layers.l1_l2_regularizer(0.0, 0.5)(w),
        layers.sum_regularizer([layers.l2_regularizer(0.1), None])(w),
        layers.apply_regularization(layers.l2_regularizer(1e-3), [w, v]),
    ]
    assert layers.l2_regularizer(0.0)(w) is None
    return found + tf.gradients(found, w)


def convolutions(tf):
    layers = tf.contrib.layers
    x = _image(tf)
    y = layers.conv2d(x, 4, 3)
    y = layers.max_pool2d(y, 2)
    y = layers.convolution2d(
        y, 2, [2, 1], stride=[1, 2], padding="VALID", activation_fn=None, scope="own",
        weights_regularizer=layers.l2_regularizer(0.1), outputs_collections=["outputs"],
    )  # fmt: skip
    y = layers.avg_pool2d(y, [2, 1], [1, 1], "SAME", scope="average")
    y = layers.conv2d_transpose(y, 3, 2, stride=2)
    y = layers.separable_conv2d(y, 3, 2, depth_multiplier=2)
    y = layers.conv2d(y, 2, 2, rate=2)
    y = layers.flatten(y)
    line = layers.convolution(tf.constant(IMAGE[0]), 2, 2, padding="VALID")
    block = layers.conv3d(tf.constant(IMAGE[None]), 2, 2)
    block = layers.max_pool3d(block, [1, 2, 2])
    return [y, line, block, *tf.gradients(y, tf.trainable_variables()[:6])]


def normalized(tf):
    slim = tf.contrib.slim
    training = tf.placeholder_with_default(True, [], "training")
    x, image = _x(tf), _image(tf)
    found = [
        slim.batch_norm(image),
        slim.batch_norm(image, is_training=training, scale=True, decay=0.5),
        slim.batch_norm(image, is_training=False, scope="own"),
        slim.batch_norm(image, fused=False, activation_fn=tf.nn.relu),
        slim.batch_norm(x, is_training=training),
        slim.batch_norm(x, fused=False, center=False),
        slim.conv2d(image, 2, 3, normalizer_fn=slim.batch_norm),
    ]
    return _step(tf, found)


def normalized_at_once(tf):
    layers = tf.contrib.layers
    training = tf.placeholder_with_default(True, [], "training")
    x, image = _x(tf), _image(tf)
    options = {"updates_collections": None, "decay": 0.9}
    found = [
        layers.batch_norm(image, **options),
        layers.batch_norm(image, is_training=training, scale=True, **options),
        layers.batch_norm(x, is_training=training, fused=False, **options),
        layers.batch_norm(x, is_training=False, **options),
        layers.batch_norm(x, updates_collections="own", fused=False, scope="a"),
        layers.batch_norm(x, True, is_training=training, updates_collections="own"),
        layers.batch_norm(
            image, param_initializers={"gamma": tf.zeros_initializer()}, scale=True,
            variables_collections=["mine"], param_regularizers={
                "beta": layers.l2_regularizer(0.1)}, updates_collections="own",
        ),
    ]  # fmt: skip
    return _step(tf, found)


def layer_norms(tf):
    layers = tf.contrib.layers
    x, image = _x(tf), _image(tf)
    found = [
        layers.layer_norm(x),
        layers.layer_norm(image, begin_norm_axis=2, activation_fn=tf.nn.relu),
        layers.layer_norm(x, center=False, scope="own"),
        layers.bias_add(x, initializer=tf.ones_initializer()),
        layers.unit_norm(x, 1),
    ]
    return found + tf.gradients(found, tf.trainable_variables())


def channels_apart(tf):
    layers = tf.contrib.layers
    x = _image(tf)
    found = [
        layers.separable_conv2d(x, None, 3, 2, stride=2),
        layers.separable_conv2d(x, None, [2, 3], normalizer_fn=layers.layer_norm),
        layers.separable_conv2d(x, None, 2, rate=2, biases_initializer=None),
        layers.conv2d_in_plane(x, [3, 2], scope="own"),
        layers.convolution2d_in_plane(x, 2, 2, "VALID", normalizer_fn=tf.identity),
    ]
    return found + tf.gradients(found, tf.trainable_variables())


def groups(tf):
    layers = tf.contrib.layers
    free = tf.placeholder_with_default(IMAGE[..., :2], [None, 6, 5, 2], "free")
    found = [
        layers.instance_norm(free),
        layers.instance_norm(free, data_format="NCHW", center=False),
        layers.group_norm(free, 2, activation_fn=tf.nn.relu),
        layers.group_norm(tf.constant(IMAGE), 3, 1, (2, 3), mean_close_to_zero=True),
        layers.embed_sequence(tf.constant([[1, 0, 1]]), 4, 2, unique=True),
        layers.legacy_relu(tf.constant(X), 2, weight_regularizer=tf.nn.l2_loss),
        layers.legacy_fully_connected(free, 3, bias_init=None),
    ]
    return found + tf.gradients(found, tf.trainable_variables())


def dropouts_and_shapes(tf):
    slim = tf.contrib.slim
    training = tf.placeholder_with_default(False, [], "training")
    x = _x(tf)
    return [
        slim.dropout(x, 0.8),
        slim.dropout(x, 0.5, is_training=training, scope="own"),
        slim.dropout(x, 0.5, is_training=False, outputs_collections="outputs"),
        slim.flatten(IMAGE, scope="flat"),
        slim.one_hot_encoding([1, 0], 3),
        slim.softmax(x),
        slim.maxout(_image(tf)[..., 0], 1),
        slim.embed_sequence(tf.constant([[1, 0]]), 4, 2),
    ]


def scopes_and_repetition(tf):
    slim = tf.contrib.slim
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(0.01),
        activation_fn=tf.nn.tanh,
    ):
        with slim.arg_scope([slim.conv2d], stride=2) as scope:
            y = slim.repeat(_image(tf), 2, slim.conv2d, 3, [2, 2], scope="convs")
        y = slim.repeat(y, 1, slim.conv2d, 3, 1)
        y = slim.stack(slim.flatten(y), slim.fully_connected, [4, 3], scope="fc")
        y = slim.stack(y, slim.fully_connected, [2])
    with slim.arg_scope(scope):
        z = slim.conv2d(IMAGE, 2, 3, scope="last")
    return [y, z]


def framework(tf):
    f = tf.contrib.framework
    step = f.get_or_create_global_step()
    with tf.variable_scope("a"):
        v = f.model_variable("v", [2], initializer=tf.ones_initializer())
        f.variable("w", [2], initializer=tf.zeros_initializer(), trainable=False,
                   collections=["mine"], device="/cpu:0")  # fmt: skip
    local = f.local_variable(3.0, name="local")
    with f.arg_scope([f.model_variable], trainable=False, collections=["more"]):
        u = f.model_variable("u", [2], regularizer=tf.nn.l2_loss)
    _assign, feeds = f.assign_from_values({"a/v": np.array([5.0, 6.0])})
    tensors = [v, local, u, step, f.reduce_sum_n([v.value(), u.value()])]
    assert sorted(x.name for x in feeds) == ["placeholder/a/v:0"]
    names = [x.name for x in f.get_variables() + f.get_model_variables("a")]
    names += [x.name for x in f.get_variables_by_name("v")]
    names += [x.name for x in f.get_variables_to_restore(exclude=["a"])]
    names += [x.name for x in f.filter_variables(f.get_variables(), ["v"], ["a/"])]
    return [*tensors, tf.constant(names)]


def sequences(tf):
    layers, x = tf.contrib.layers, _image(tf)
    rows = layers.images_to_sequence(x)
    found = [
        rows,
        layers.sequence_to_images(rows, 6),
        layers.sequence_to_images(tf.constant(X[None]), 2, "channels_first"),
        layers.spatial_softmax(x),
        layers.spatial_softmax(x, 0.5, "own", trainable=False),
        layers.relu6(layers.flatten(x), 2),
    ]
    assert tf.contrib.framework.get_placeholders(tf.get_default_graph()) == []
    return found + tf.gradients(found, tf.trainable_variables())


def safe_lookups(tf):
    table = tf.constant(np.arange(8, dtype=np.float32).reshape(4, 2))
    parts = [table, tf.get_variable("odd", [4, 2], initializer=tf.ones_initializer())]
    where = [[0, 0], [0, 1], [1, 0], [3, 2]]
    ids = tf.SparseTensor(where, tf.constant([0, 2, -1, 3], tf.int64), [4, 3])
    weights = tf.SparseTensor(where, [1.0, -1.0, 2.0, 0.5], [4, 3])
    places = tf.placeholder_with_default(np.array([[0, 1, 0], [1, 0, 1]]), [None, 3])
    deep = tf.SparseTensor(places, tf.constant([3, 2]), [2, 2, 2])
    lookup = tf.contrib.layers.safe_embedding_lookup_sparse
    return [
        lookup(parts, ids, partition_strategy="mod", max_norm=2.0),
        lookup(parts[1], ids, weights, combiner="sum", default_id=1),
        lookup([table], deep, combiner="sqrtn", name="deep"),
    ]


def metrics(tf):
    labels, said = tf.constant([1, 0, 1, 1]), tf.constant([1, 1, 0, 1])
    m = tf.contrib.slim.metrics
    values, updates = m.aggregate_metric_map(
        {
            "accuracy": m.streaming_accuracy(said, labels),
            "precision": m.streaming_precision(said, labels, name="own"),
            "recall": m.streaming_recall(said, labels),
            "mean": m.streaming_mean(tf.to_float(said), weights=0.5),
            "false": m.streaming_false_negatives(said, labels),
            "error": m.streaming_root_mean_squared_error(X[0], X[1]),
        }
    )
    names = sorted(values)
    return [updates[name] for name in names] + [values[name] for name in names]


def losses(tf):
    labels, x = tf.constant(np.abs(X) / 4), _x(tf)
    hot = tf.constant([[0, 0, 1], [1, 0, 0]])
    m = tf.contrib.losses
    found = [
        m.mean_squared_error(x, labels),
        m.absolute_difference(x, labels, weights=tf.constant([1.0, 0.0])),
        m.log_loss(tf.sigmoid(x), labels, [[2.0], [1.0]], scope="own"),
        m.cosine_distance(x, labels, 1),
        m.mean_pairwise_squared_error(x, labels),
        tf.reduce_sum(m.hinge_loss(x, labels)),
        m.sigmoid_cross_entropy(x, hot, label_smoothing=0.1),
        m.softmax_cross_entropy(x, hot, label_smoothing=0.1, weights=[1.0, 3.0]),
        m.sparse_softmax_cross_entropy(x, tf.constant([[2], [0]])),
    ]
    return [*found, m.get_total_loss(), *tf.gradients(found, x)]


def optimize_loss(tf):
    layers = tf.contrib.layers
    y = layers.fully_connected(_x(tf), 2)
    loss = tf.reduce_sum(tf.square(y))
    step = tf.train.get_or_create_global_step()
    first = layers.optimize_loss(loss, step, 0.01, "SGD")
    second = layers.optimize_loss(
        loss,
        step,
        tf.constant(0.1),
        lambda rate: tf.train.MomentumOptimizer(rate, 0.5),
        gradient_multipliers={"fully_connected/biases:0": 2.0},
        clip_gradients=1.0,
        learning_rate_decay_fn=lambda rate, s: tf.train.exponential_decay(
            rate, s, 10, 0.5
        ),
        name="second",
        summaries=["loss", "learning_rate", "gradients", "gradient_norm"],
    )
    third = layers.optimize_loss(
        loss, None, None, tf.train.AdamOptimizer(0.01), increment_global_step=False,
        update_ops=[], summaries=[], variables=tf.trainable_variables()[:1],
    )  # fmt: skip
    return [first, second, third]


def train_ops(tf):
    slim = tf.contrib.slim
    y = slim.batch_norm(slim.fully_connected(_x(tf), 2), decay=0.5)
    slim.losses.mean_squared_error(y, tf.constant(X[:, :2]))
    total = slim.losses.get_total_loss()
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)[:1]
    return [
        slim.learning.create_train_op(
            total,
            tf.train.GradientDescentOptimizer(0.1),
            update_ops=updates,
            clip_gradient_norm=1.0,
            gradient_multipliers={"fully_connected/weights": 0.5},
            summarize_gradients=True,
        ),
        slim.learning.create_train_op(
            total, tf.train.AdamOptimizer(0.1), None, [], check_numerics=False
        ),
    ]


def summaries(tf):
    layers = tf.contrib.layers
    x = _x(tf)
    layers.summarize_activation(tf.nn.relu6(x))
    layers.summarize_tensors([x, tf.reduce_sum(x), tf.constant("a")])
    tf.contrib.slim.summarize_variables("none")
    return [tf.shape(tf.summary.merge_all())]


GRAPHS = [
    fully_connected, regularizers, convolutions, normalized, normalized_at_once,
    layer_norms, channels_apart, groups, dropouts_and_shapes, scopes_and_repetition,
    framework, sequences, safe_lookups, metrics, losses, optimize_loss, train_ops,
    summaries,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
