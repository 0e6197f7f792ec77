"""Sentences sorted by a convnet over words: several widths, max over time."""
import numpy as np
import tensorflow as tf


class TextCNN(object):
    def __init__(self, sequence_length, num_classes, vocab_size, embedding_size, filter_sizes, num_filters, l2=0.0):
        self.input_x = tf.placeholder(tf.int32, [None, sequence_length], name="input_x")
        self.input_y = tf.placeholder(tf.float32, [None, num_classes], name="input_y")
        self.keep = tf.placeholder(tf.float32, name="dropout_keep_prob")
        l2_loss = tf.constant(0.0)
        with tf.device("/cpu:0"), tf.name_scope("embedding"):
            self.W = tf.Variable(tf.random_uniform([vocab_size, embedding_size], -1.0, 1.0), name="W")
            self.embedded = tf.nn.embedding_lookup(self.W, self.input_x)
            expanded = tf.expand_dims(self.embedded, -1)
        pooled_outputs = []
        for size in filter_sizes:
            with tf.name_scope("conv-maxpool-%s" % size):
                W = tf.Variable(tf.truncated_normal([size, embedding_size, 1, num_filters], stddev=0.1), name="W")
                b = tf.Variable(tf.constant(0.1, shape=[num_filters]), name="b")
                conv = tf.nn.conv2d(expanded, W, strides=[1, 1, 1, 1], padding="VALID", name="conv")
                h = tf.nn.relu(tf.nn.bias_add(conv, b), name="relu")
                pooled = tf.nn.max_pool(h, ksize=[1, sequence_length - size + 1, 1, 1],
                                        strides=[1, 1, 1, 1], padding="VALID", name="pool")
                pooled_outputs.append(pooled)
        wide = tf.layers.conv1d(self.embedded, 3, 2, padding="same", activation=tf.nn.tanh)
        over_time = tf.reduce_max(wide, axis=1)
        flat = tf.reshape(tf.concat(pooled_outputs, 3), [-1, num_filters * len(filter_sizes)])
        with tf.name_scope("dropout"):
            dropped = tf.nn.dropout(tf.concat([flat, over_time], 1), self.keep)
        with tf.name_scope("output"):
            W = tf.get_variable("W", shape=[num_filters * len(filter_sizes) + 3, num_classes],
                                initializer=tf.contrib.layers.xavier_initializer())
            b = tf.Variable(tf.constant(0.1, shape=[num_classes]), name="b")
            l2_loss += tf.nn.l2_loss(W)
            l2_loss += tf.nn.l2_loss(b)
            self.scores = tf.nn.xw_plus_b(dropped, W, b, name="scores")
            self.predictions = tf.argmax(self.scores, 1, name="predictions")
        with tf.name_scope("loss"):
            losses = tf.nn.softmax_cross_entropy_with_logits(logits=self.scores, labels=self.input_y)
            self.loss = tf.reduce_mean(losses) + l2 * l2_loss
        with tf.name_scope("accuracy"):
            correct = tf.equal(self.predictions, tf.argmax(self.input_y, 1))
            self.accuracy = tf.reduce_mean(tf.cast(correct, "float"), name="accuracy")


rng = np.random.RandomState(4)
words = rng.randint(1, 30, [48, 9])
hot = np.eye(2)[(words[:, 0] > 15).astype(int)]
with tf.get_default_graph().as_default():
    tf.set_random_seed(17)
    conf = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)
    with tf.Session(config=conf) as sess:
        cnn = TextCNN(9, 2, 30, 5, [2, 3], 4, l2=0.1)
        global_step = tf.Variable(0, name="global_step", trainable=False)
        optimizer = tf.train.AdamOptimizer(1e-2)
        grads_and_vars = optimizer.compute_gradients(cnn.loss)
        train_op = optimizer.apply_gradients(grads_and_vars, global_step=global_step)
        summaries = []
        for g, v in grads_and_vars:
            if g is not None:
                summaries.append(tf.summary.histogram("{}/grad/hist".format(v.name), g))
                summaries.append(tf.summary.scalar("{}/grad/sparsity".format(v.name), tf.nn.zero_fraction(g)))
        merged = tf.summary.merge(summaries)
        sess.run(tf.global_variables_initializer())
        for i in range(6):
            _, step, loss, accuracy = sess.run([train_op, global_step, cnn.loss, cnn.accuracy],
                                               {cnn.input_x: words, cnn.input_y: hot, cnn.keep: 0.8})
            print("step {}, loss {:.3f}".format(step, loss))
        text = sess.run(merged, {cnn.input_x: words, cnn.input_y: hot, cnn.keep: 1.0})
        tags = [v.tag for v in tf.Summary.FromString(text).value]
        print(len(tags), tags[:3])
