"""Graphs and sessions inside an eager program, and NumPy code inside graphs."""

import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
print(tf.executing_eagerly())

graph = tf.Graph()
with graph.as_default():
    print(tf.executing_eagerly())
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.get_variable("w", initializer=[2.0, 3.0])
    y = tf.reduce_sum(x * w, name="y")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(y)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        print(session.run(y, {x: [1.0, 1.0]}))
        session.run(train, {x: [1.0, 2.0]})
        trained = session.run(w)
print(x, trained)
print([op.name for op in graph.get_operations()][:4], tf.executing_eagerly())

eager_w = tf.Variable(trained)
print((eager_w * 2.0).numpy())
try:
    tf.add(y, 1.0)
except Exception as error:
    print(type(error).__name__)


def hypot(a, b):
    return np.hypot(a, b)


print(tf.py_func(hypot, [tf.constant([3.0]), tf.constant([4.0])], tf.float32).numpy())


def log_huber(x, m):
    if tf.abs(x) <= m:
        return x**2
    return m**2 * (1 - 2 * tf.log(m) + tf.log(x**2))


for value in (0.5, 3.0):
    a = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(a)
        b = tf.py_function(log_huber, [a, 2.0], tf.float32)
    print(b.numpy(), tape.gradient(b, a).numpy())
with tf.Graph().as_default(), tf.Session() as session:
    a = tf.placeholder(tf.float32)
    b = tf.py_function(log_huber, [a, 2.0], tf.float32)
    print(session.run([b, tf.gradients(b, a)[0]], {a: 3.0}))
print(
    tf.cond(tf.constant(True), lambda: 1, lambda: 2),
    tf.while_loop(lambda i: i < 5, lambda i: i + 2, [tf.constant(0)]),
)
