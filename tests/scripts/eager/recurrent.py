"""Cells called step by step, dynamic_rnn, and truncated backpropagation."""

import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tfe = tf.contrib.eager
text = "hello world, hello tape "
alphabet = sorted(set(text))
codes = np.array([alphabet.index(c) for c in text])
size = len(alphabet)

cell = tf.nn.rnn_cell.GRUCell(6, kernel_initializer=tf.constant_initializer(0.1))
head = tf.layers.Dense(size, kernel_initializer=tf.constant_initializer(0.05))
optimizer = tf.train.RMSPropOptimizer(0.02)


def run(inputs, state):
    outputs = []
    for code in inputs:
        output, state = cell(tf.one_hot([code], size), state)
        outputs.append(head(output))
    return tf.concat(outputs, 0), state


for epoch in range(6):
    state, total = cell.zero_state(1, tf.float32), 0.0
    for start in range(0, len(text) - 1, 8):
        piece = codes[start : start + 9]
        with tf.GradientTape() as tape:
            logits, state = run(piece[:-1], state)
            loss = tf.losses.sparse_softmax_cross_entropy(piece[1:], logits)
        variables = cell.variables + head.variables
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        optimizer.apply_gradients(zip(gradients, variables))
        total += float(loss)
    if epoch % 2 == 0:
        print(epoch, "%.4f" % total, "%.4f" % norm)
print([v.name for v in cell.variables], state.shape)

lstm = tf.nn.rnn_cell.BasicLSTMCell(3)
lstm.build(tf.TensorShape([None, 2]))
lstm.variables[0].assign(tf.fill(lstm.variables[0].shape, 0.2))
outputs, last = tf.nn.dynamic_rnn(
    lstm, tf.ones([2, 4, 2]), sequence_length=[4, 2], dtype=tf.float32
)
print(
    outputs[:, :, 0].numpy().round(4).tolist(), last.h[:, 0].numpy().round(4).tolist()
)
