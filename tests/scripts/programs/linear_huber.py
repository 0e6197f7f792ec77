"""Linear regression with the Huber loss, CS20 style."""
import numpy as np
import tensorflow as tf

def huber_loss(labels, predictions, delta=14.0):
    residual = tf.abs(labels - predictions)
    def f1(): return 0.5 * tf.square(residual)
    def f2(): return delta * residual - 0.5 * tf.square(delta)
    return tf.cond(residual < delta, f1, f2)

rng = np.random.RandomState(1)
xs = rng.uniform(1, 7, size=40)
ys = 84 - 6 * xs + rng.normal(size=40)
ys[5] = 10.
data = np.stack([xs, ys], 1).astype(np.float32)

X = tf.placeholder(tf.float32, name='X')
Y = tf.placeholder(tf.float32, name='Y')
w = tf.get_variable('weights', initializer=tf.constant(0.0))
b = tf.get_variable('bias', initializer=tf.constant(0.0))
Y_predicted = w * X + b
loss = huber_loss(Y, Y_predicted)
optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(10):
        total_loss = 0
        for x, y in data:
            _, l = sess.run([optimizer, loss], feed_dict={X: x, Y: y})
            total_loss += l
        print('Epoch {0}: {1:.5f}'.format(i, total_loss / len(data)))
    w_out, b_out = sess.run([w, b])
print('w: %f, b: %f' % (w_out, b_out))
print(X, Y, w, b, Y_predicted, loss, sep='\n')
print([v.name for v in tf.trainable_variables()])
