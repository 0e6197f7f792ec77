"""A bidirectional LSTM over sequences of different lengths, masked loss per step."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(14)
rng = np.random.RandomState(11)
words = tf.placeholder(tf.int32, [None, None], name="words")
tags = tf.placeholder(tf.int32, [None, None], name="tags")
lengths = tf.placeholder(tf.int32, [None], name="lengths")
table = tf.get_variable("embeddings", [20, 6], initializer=tf.random_uniform_initializer(-1, 1))
embedded = tf.nn.embedding_lookup(table, words)
forward = tf.nn.rnn_cell.LSTMCell(8, use_peepholes=True, num_proj=5)
backward = tf.nn.rnn_cell.LSTMCell(8)
outputs, states = tf.nn.bidirectional_dynamic_rnn(
    forward, backward, embedded, sequence_length=lengths, dtype=tf.float32)
logits = tf.layers.dense(tf.concat(outputs, 2), 3)
mask = tf.sequence_mask(lengths, dtype=tf.float32)
loss = tf.contrib.seq2seq.sequence_loss(logits, tags, mask)
train = tf.train.RMSPropOptimizer(0.03, momentum=0.5, centered=True).minimize(loss)
correct = tf.boolean_mask(tf.equal(tf.argmax(logits, 2, output_type=tf.int32), tags), tf.sequence_mask(lengths))
accuracy = tf.reduce_mean(tf.to_float(correct))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        size = rng.randint(2, 8, 6)
        sentence = np.zeros([6, size.max()], np.int32)
        for row, n in enumerate(size):
            sentence[row, :n] = rng.randint(1, 20, n)
        feed = {words: sentence, tags: sentence % 3, lengths: size}
        _, value, right = sess.run([train, loss, accuracy], feed)
        print("step", i, "loss", float(value))
    print([s.h.shape for s in sess.run(states, feed)])
