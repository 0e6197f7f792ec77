"""A character RNN: stacked GRU cells, dynamic_rnn, masked loss, sampling."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(12)
text = "the quick brown fox jumps over the lazy dog. " * 20
vocab = sorted(set(text))
codes = np.array([vocab.index(c) for c in text])
rng = np.random.RandomState(9)
seq = tf.placeholder(tf.int32, [None, None], name="seq")
temp = tf.constant(1.5)
one_hot = tf.one_hot(seq, len(vocab))
cells = [tf.nn.rnn_cell.GRUCell(n) for n in (16, 12)]
cells = tf.nn.rnn_cell.MultiRNNCell(cells)
batch_size = tf.shape(seq)[0]
zero_states = cells.zero_state(batch_size, dtype=tf.float32)
in_states = tuple(
    tf.placeholder_with_default(state, [None, state.shape[1]]) for state in zero_states)
length = tf.reduce_sum(tf.reduce_max(tf.sign(one_hot), 2), 1)
output, out_states = tf.nn.dynamic_rnn(cells, one_hot, length, in_states)
logits = tf.layers.dense(output, len(vocab), activation=None)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(
    logits=logits[:, :-1], labels=one_hot[:, 1:]))
sample = tf.multinomial(tf.exp(logits[:, -1] / temp), 1)[:, 0]
step = tf.Variable(0, dtype=tf.int32, trainable=False, name="global_step")
train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        starts = rng.randint(0, len(codes) - 13, 8)
        batch = np.stack([codes[s:s + 12] for s in starts])
        _, value = sess.run([train, loss], {seq: batch})
        print("step", i, "loss", float(value))
    state = None
    for character in "the":
        feed = {seq: [[vocab.index(character)]]}
        if state is not None:
            feed.update(zip(in_states, state))
        state, last = sess.run([out_states, logits], feed)
    print(last[0, 0].tolist())
