"""An encoder and a decoder with attention, trained with TrainingHelper, decoded greedily."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(16)
rng = np.random.RandomState(14)
VOCAB, UNITS, GO, END = 12, 10, 1, 0
source = tf.placeholder(tf.int32, [None, None], name="source")
target = tf.placeholder(tf.int32, [None, None], name="target")
source_length = tf.placeholder(tf.int32, [None], name="source_length")
target_length = tf.placeholder(tf.int32, [None], name="target_length")
batch = tf.shape(source)[0]
table = tf.get_variable("table", [VOCAB, 6], initializer=tf.random_uniform_initializer(-0.5, 0.5))
with tf.variable_scope("encoder"):
    outputs, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(UNITS), tf.nn.embedding_lookup(table, source),
        sequence_length=source_length, dtype=tf.float32)
inputs = tf.concat([tf.fill([batch, 1], GO), target[:, :-1]], 1)
attention = tf.contrib.seq2seq.LuongAttention(UNITS, outputs, memory_sequence_length=source_length)
cell = tf.contrib.seq2seq.AttentionWrapper(
    tf.nn.rnn_cell.GRUCell(UNITS), attention, attention_layer_size=UNITS)
start = cell.zero_state(batch, tf.float32).clone(cell_state=state)
projection = tf.layers.Dense(VOCAB, use_bias=False, name="projection")


def decode(helper, reuse, steps=None):
    with tf.variable_scope("decoder", reuse=reuse):
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, output_layer=projection)
        return tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=steps)


trained, _, _ = decode(
    tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, inputs), target_length), None)
mask = tf.sequence_mask(target_length, tf.shape(target)[1], dtype=tf.float32)
loss = tf.contrib.seq2seq.sequence_loss(trained.rnn_output, target, mask)
train = tf.train.AdamOptimizer(0.01).minimize(loss)
greedy, _, lengths = decode(
    tf.contrib.seq2seq.GreedyEmbeddingHelper(table, tf.fill([batch], GO), END), True, 6)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        n = rng.randint(2, 6, 5)
        words = np.zeros([5, n.max()], np.int32)
        for row, size in enumerate(n):
            words[row, :size] = rng.randint(2, VOCAB, size)
        reply = np.zeros([5, n.max() + 1], np.int32)
        for row, size in enumerate(n):
            reply[row, :size] = words[row, :size][::-1]
        feed = {source: words, source_length: n, target: reply, target_length: n + 1}
        _, value = sess.run([train, loss], feed)
        print("step", i, "loss", float(value))
    print(sess.run(lengths, feed).tolist())
