"""REINFORCE with a baseline, gradients accumulated by hand and fed back."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(18)
rng = np.random.RandomState(16)
state = tf.placeholder(tf.float32, [None, 4], name="state")
action = tf.placeholder(tf.int32, [None], name="action")
reward = tf.placeholder(tf.float32, [None], name="advantage")
hidden = tf.contrib.layers.fully_connected(state, 8, weights_initializer=tf.contrib.layers.xavier_initializer())
output = tf.contrib.layers.fully_connected(
    hidden, 3, activation_fn=tf.nn.softmax, biases_initializer=None)
chosen = tf.argmax(output, 1)
indexes = tf.range(0, tf.shape(output)[0]) * tf.shape(output)[1] + action
likelihood = tf.gather(tf.reshape(output, [-1]), indexes)
loss = -tf.reduce_mean(tf.log(likelihood + 1e-9) * reward)
variables = tf.trainable_variables()
holders = [tf.placeholder(tf.float32, name=str(i) + "_holder") for i, _ in enumerate(variables)]
gradients = tf.gradients(loss, variables)
update = tf.train.AdamOptimizer(0.02).apply_gradients(zip(holders, variables))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for episode in range(20):
        buffer = [np.zeros(v.shape.as_list()) for v in variables]
        for _ in range(2):
            states = rng.uniform(-1, 1, [7, 4])
            actions = rng.randint(0, 3, 7)
            rewards = np.where(actions == states[:, :3].argmax(1), 1.0, -0.3)
            value, parts = sess.run([loss, gradients], {state: states, action: actions, reward: rewards})
            for total, part in zip(buffer, parts):
                total += part
        sess.run(update, dict(zip(holders, buffer)))
        print("step", episode, "loss", float(value))
    print(sess.run(chosen, {state: np.eye(4)}).tolist())
