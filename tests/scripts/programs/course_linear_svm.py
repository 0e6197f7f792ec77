"""Linear, epsilon-insensitive and kernel support vector machines."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
x_vals = rng.normal(size=[120, 2])
y_vals = np.where(x_vals[:, 0] - 0.5 * x_vals[:, 1] > 0.1, 1.0, -1.0)
ring = np.where((x_vals ** 2).sum(1) < 1.0, 1.0, -1.0)

x_data = tf.placeholder(shape=[None, 2], dtype=tf.float32)
y_target = tf.placeholder(shape=[None, 1], dtype=tf.float32)
A = tf.Variable(tf.random_normal(shape=[2, 1], seed=5), name="A")
b = tf.Variable(tf.random_normal(shape=[1, 1], seed=6), name="b")
model_output = tf.subtract(tf.matmul(x_data, A), b)
l2_norm = tf.reduce_sum(tf.square(A))
alpha = tf.constant([0.01])
classification_term = tf.reduce_mean(tf.maximum(0., tf.subtract(1., tf.multiply(model_output, y_target))))
loss = tf.add(classification_term, tf.multiply(alpha, l2_norm))
prediction = tf.sign(model_output)
accuracy = tf.reduce_mean(tf.cast(tf.equal(prediction, y_target), tf.float32))
hinge = tf.losses.hinge_loss(labels=(y_target + 1.0) / 2.0, logits=model_output)
epsilon = tf.constant([0.5])
tube = tf.reduce_mean(tf.maximum(0., tf.subtract(tf.abs(tf.subtract(model_output, y_target)), epsilon)))
train_step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
train_tube = tf.train.AdagradOptimizer(0.1).minimize(tube, var_list=[A, b])

points = tf.placeholder(shape=[None, 2], dtype=tf.float32)
grid = tf.placeholder(shape=[None, 2], dtype=tf.float32)
duals = tf.Variable(tf.fill([1, 30], 0.1), name="duals")
gamma = tf.constant(-2.0)
sq_dists = tf.multiply(2., tf.matmul(points, tf.transpose(points)))
dist = tf.reshape(tf.reduce_sum(tf.square(points), 1), [-1, 1])
kernel = tf.exp(tf.multiply(gamma, tf.abs(tf.add(tf.subtract(dist, sq_dists), tf.transpose(dist)))))
target = tf.placeholder(shape=[None, 1], dtype=tf.float32)
cross = tf.matmul(target, tf.transpose(target))
dual = tf.reduce_sum(tf.multiply(kernel, tf.multiply(tf.matmul(tf.transpose(duals), duals), cross)))
kernel_loss = tf.negative(tf.subtract(tf.reduce_sum(duals), dual))
rA = tf.reshape(tf.reduce_sum(tf.square(points), 1), [-1, 1])
rB = tf.reshape(tf.reduce_sum(tf.square(grid), 1), [-1, 1])
grid_dist = tf.add(tf.subtract(rA, tf.multiply(2., tf.matmul(points, tf.transpose(grid)))), tf.transpose(rB))
votes = tf.matmul(tf.multiply(tf.transpose(target), duals), tf.exp(tf.multiply(gamma, tf.abs(grid_dist))))
inside = tf.sign(votes - tf.reduce_mean(votes))
kernel_step = tf.train.ProximalGradientDescentOptimizer(0.01, l2_regularization_strength=0.1).minimize(kernel_loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(30):
        pick = rng.choice(120, size=40)
        feed = {x_data: x_vals[pick], y_target: y_vals[pick, np.newaxis]}
        sess.run(train_step, feed)
        if i % 10 == 9:
            print(i, "A =", np.round(sess.run(A).ravel(), 3), "b = %.3f" % sess.run(b)[0, 0],
                  "loss =", np.round(sess.run(loss, feed), 4), sess.run([accuracy, hinge], feed))
    for i in range(10):
        sess.run(train_tube, feed)
    print("tube %.4f" % sess.run(tube, feed))
    feed = {points: x_vals[:30], target: ring[:30, None], grid: x_vals[30:60]}
    for i in range(20):
        sess.run(kernel_step, feed)
    print("dual %.3f" % sess.run(kernel_loss, feed), sess.run(inside, feed).shape)
    print(int((sess.run(inside, feed)[0] == ring[30:60]).sum()), "of 30")
