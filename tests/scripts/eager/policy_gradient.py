"""REINFORCE on a walk along a line, with sampled actions and discounted rewards."""

import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tf.set_random_seed(11)
np.random.seed(2)

logits = tf.Variable(tf.zeros([5, 2]), name="logits")
optimizer = tf.train.GradientDescentOptimizer(0.5)


def episode():
    state, states, actions, rewards = 2, [], [], []
    for _ in range(20):
        sampled = tf.multinomial(tf.expand_dims(logits[state], 0), 1)
        action = int(sampled[0, 0])
        states.append(state)
        actions.append(action)
        state += 1 if action else -1
        rewards.append(1.0 if state == 5 else 0.0)
        if state in (-1, 5):
            break
    return states, actions, rewards


lengths = []
for number in range(40):
    states, actions, rewards = episode()
    returns = np.zeros(len(rewards), np.float32)
    running = 0.0
    for i in reversed(range(len(rewards))):
        running = rewards[i] + 0.9 * running
        returns[i] = running
    with tf.GradientTape() as tape:
        cross = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=actions, logits=tf.gather(logits, states)
        )
        loss = tf.reduce_sum(cross * returns)
    optimizer.apply_gradients([(tape.gradient(loss, logits), logits)])
    lengths.append(len(states))
print(lengths)
print(np.round(tf.nn.softmax(logits).numpy()[:, 1], 4).tolist())
