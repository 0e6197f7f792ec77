"""Softmax regression on MNIST, as a command line program: flags, main, batches."""
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "MNIST_data", "where the digits are")
flags.DEFINE_float("learning_rate", 0.5, "step size")
flags.DEFINE_integer("max_steps", 40, "how many batches")
flags.DEFINE_boolean("verbose", True, "print as training goes")
FLAGS = flags.FLAGS


def inference(images):
    with tf.name_scope("softmax_linear"):
        weights = tf.Variable(tf.zeros([784, 10]), name="weights")
        biases = tf.Variable(tf.zeros([10]), name="biases")
        return tf.matmul(images, weights) + biases


def training(logits, labels):
    entropy = tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=labels)
    cost = tf.reduce_mean(entropy, name="xentropy_mean")
    step = tf.Variable(0, name="global_step", trainable=False)
    optimizer = tf.train.GradientDescentOptimizer(FLAGS.learning_rate)
    return cost, step, optimizer.minimize(cost, global_step=step)


def main(unused_argv):
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, seed=3, validation_size=100)
    print(mnist.train.num_examples, mnist.validation.num_examples, mnist.test.num_examples)
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.float32, [None, 10], name="labels")
    logits = inference(images)
    cost, step, train_op = training(logits, labels)
    hits = tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))
    accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(FLAGS.max_steps):
            xs, ys = mnist.train.next_batch(64)
            _, value = sess.run([train_op, cost], feed_dict={images: xs, labels: ys})
            if FLAGS.verbose and i % 10 == 0:
                print("step", i, "cost %.4f" % value)
        held_out = {images: mnist.test.images, labels: mnist.test.labels}
        print("accuracy %.3f" % sess.run(accuracy, held_out), sess.run(step))
        print(mnist.train.epochs_completed, xs.shape, xs.dtype, ys.dtype)


if __name__ == "__main__":
    tf.app.run()
