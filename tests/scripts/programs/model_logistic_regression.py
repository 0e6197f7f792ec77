"""Softmax regression with accuracy, TensorFlow's first MNIST tutorial."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(1)
centres = rng.uniform(0, 1, [10, 784]).astype(np.float32)


def batch(size):
    labels = rng.randint(0, 10, size)
    images = centres[labels] + rng.normal(0, 0.3, [size, 784])
    return images.astype(np.float32), np.eye(10, dtype=np.float32)[labels]


x = tf.placeholder(tf.float32, [None, 784], name="x")
y_ = tf.placeholder(tf.float32, [None, 10], name="labels")
W = tf.Variable(tf.zeros([784, 10]), name="W")
b = tf.Variable(tf.zeros([10]), name="b")
with tf.name_scope("model"):
    logits = tf.matmul(x, W) + b
    y = tf.nn.softmax(logits)
with tf.name_scope("loss"):
    entropy = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=logits)
    loss = tf.reduce_mean(entropy)
train_step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
correct = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
for step in range(20):
    images, labels = batch(50)
    _, value = sess.run([train_step, loss], feed_dict={x: images, y_: labels})
    print("step", step, "loss", float(value))
images, labels = batch(200)
print("accuracy", float(accuracy.eval({x: images, y_: labels})))
sess.close()
