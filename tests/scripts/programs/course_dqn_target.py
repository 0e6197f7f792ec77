"""Deep Q-learning on a line world: two networks, copies in between, a replay memory."""
import random
from collections import deque

import numpy as np
import tensorflow as tf

N_STATES, N_ACTIONS, GAMMA = 6, 2, 0.9


def q_network(state, scope, trainable=True):
    with tf.variable_scope(scope):
        hidden = tf.layers.dense(state, 16, tf.nn.tanh, name="l1", trainable=trainable,
                                 kernel_initializer=tf.random_normal_initializer(0.0, 0.3, seed=1))
        return tf.layers.dense(hidden, N_ACTIONS, name="q", trainable=trainable,
                               kernel_initializer=tf.random_normal_initializer(0.0, 0.3, seed=2))


s = tf.placeholder(tf.float32, [None, N_STATES], "s")
s_ = tf.placeholder(tf.float32, [None, N_STATES], "s_")
r = tf.placeholder(tf.float32, [None], "r")
a = tf.placeholder(tf.int32, [None], "a")
done = tf.placeholder(tf.float32, [None], "done")
q_eval = q_network(s, "eval_net")
q_next = q_network(s_, "target_net", trainable=False)
with tf.variable_scope("q_target"):
    q_target = tf.stop_gradient(r + GAMMA * (1.0 - done) * tf.reduce_max(q_next, axis=1, name="Qmax_s_"))
with tf.variable_scope("q_eval"):
    indices = tf.stack([tf.range(tf.shape(a)[0], dtype=tf.int32), a], axis=1)
    q_wrt_a = tf.gather_nd(params=q_eval, indices=indices)
with tf.variable_scope("loss"):
    td_error = tf.squared_difference(q_target, q_wrt_a, name="TD_error")
    loss = tf.reduce_mean(td_error)
with tf.variable_scope("train"):
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
t_params = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="target_net")
e_params = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="eval_net")
with tf.variable_scope("hard_replacement"):
    replace = [tf.assign(t, e) for t, e in zip(t_params, e_params) if "RMSProp" not in e.name]
soft = tf.group(*[t.assign(0.9 * t + 0.1 * e) for t, e in zip(t_params, e_params)])
print([v.name for v in tf.trainable_variables()])
random.seed(0)
memory = deque(maxlen=200)
eye = np.eye(N_STATES)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(replace)
    steps = 0
    for episode in range(12):
        state = 0
        for _ in range(12):
            action = random.randint(0, 1)
            nxt = min(max(state + (1 if action else -1), 0), N_STATES - 1)
            end = nxt == N_STATES - 1
            memory.append((state, action, 1.0 if end else 0.0, nxt, float(end)))
            state, steps = nxt, steps + 1
            if len(memory) >= 16:
                batch = [memory[i] for i in random.sample(range(len(memory)), 16)]
                b_s, b_a, b_r, b_n, b_d = zip(*batch)
                feed = {s: eye[list(b_s)], s_: eye[list(b_n)], r: b_r, a: b_a, done: b_d}
                _, cost = sess.run([train, loss], feed)
            if steps % 20 == 0:
                sess.run(soft if steps % 40 else replace)
            if end:
                break
        if episode > 2 and episode % 3 == 0:
            print(episode, steps, "loss %.4f" % cost)
    print(np.round(sess.run(q_eval, {s: eye[:3]}), 2))
