"""A sine's next value from stacked LSTMs with dropout between the layers."""
import numpy as np
import tensorflow as tf

STEPS, BATCH = 8, 10
tf.set_random_seed(99)


def lstm_cell(units, keep_prob):
    cell = tf.nn.rnn_cell.LSTMCell(units, state_is_tuple=True, forget_bias=1.0,
                                   initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=9))
    return tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep_prob, seed=10)


def windows(series):
    rows = [series[i:i + STEPS + 1] for i in range(len(series) - STEPS)]
    rows = np.array(rows, dtype=np.float32)
    return rows[:, :STEPS, None], rows[:, STEPS:]


wave = np.sin(np.linspace(0, 12, 68)) * np.linspace(1, 0.5, 68)
xs, ys = windows(wave)
x = tf.placeholder(tf.float32, [None, STEPS, 1], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
keep_prob = tf.placeholder(tf.float32, (), name="keep_prob")
cells = tf.nn.rnn_cell.MultiRNNCell([lstm_cell(n, keep_prob) for n in (6, 4)], state_is_tuple=True)
initial_state = cells.zero_state(tf.shape(x)[0], tf.float32)
outputs, final_state = tf.nn.dynamic_rnn(cells, x, initial_state=initial_state, scope="rnn")
last = tf.gather(tf.transpose(outputs, [1, 0, 2]), STEPS - 1)
weight = tf.get_variable("weight", [4, 1], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=3))
bias = tf.get_variable("bias", [1], initializer=tf.constant_initializer(0.1))
prediction = tf.nn.xw_plus_b(last, weight, bias, name="prediction")
loss = tf.reduce_mean(tf.square(prediction - y))
huber = tf.losses.huber_loss(y, prediction, delta=0.5)
tvars = tf.trainable_variables()
grads, norm = tf.clip_by_global_norm(tf.gradients(loss, tvars), 5)
rate = tf.Variable(0.0, trainable=False)
new_rate = tf.placeholder(tf.float32, [], name="new_rate")
rate_update = tf.assign(rate, new_rate)
optimizer = tf.train.AdamOptimizer(rate)
train = optimizer.apply_gradients(zip(grads, tvars))
for v in tvars:
    print(v.name, v.shape.as_list())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(4):
        sess.run(rate_update, {new_rate: 0.03 * 0.9 ** epoch})
        total = 0.0
        for i in range(0, 60, BATCH):
            feed = {x: xs[i:i + BATCH], y: ys[i:i + BATCH], keep_prob: 1.0}  # TF draws in any order
            cost, _ = sess.run([loss, train], feed)
            total += cost
        print("epoch", epoch, "mse %.4f" % (total / 6))
    state, guess, error = sess.run([final_state, prediction, huber], {x: xs[:5], y: ys[:5], keep_prob: 1.0})
    print(type(state).__name__, type(state[0]).__name__, state[0].c.shape, state[1].h.shape)
    print(np.round(guess.ravel(), 3), "huber %.4f" % error)
