"""NumPy inside the graph: py_func with its own gradient, and gradients overridden."""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops


def py_func(func, inp, Tout, stateful=True, name=None, grad=None):
    registered = "PyFuncGrad" + name
    tf.RegisterGradient(registered)(grad)
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"PyFunc": registered, "PyFuncStateless": registered}):
        return tf.py_func(func, inp, Tout, stateful=stateful, name=name)


def spiky(x):
    r = x % 1
    return np.where(r <= 0.5, r, 0).astype(np.float32)


def d_spiky(x):
    return np.where(x % 1 <= 0.5, 1, 0).astype(np.float32)


def tf_spiky(x, name=None):
    with ops.name_scope(name, "spiky", [x]) as name:
        def gradient(op, grad):
            slope = tf.py_func(d_spiky, [op.inputs[0]], [tf.float32], name="d_spiky", stateful=False)
            return grad * slope[0]
        y = py_func(spiky, [x], [tf.float32], name="spiky_op", grad=gradient)
        y[0].set_shape(x.get_shape())
        return y[0]


@tf.RegisterGradient("StraightThrough")
def straight_through(op, grad):
    return grad


@tf.RegisterGradient("GuidedRelu")
def guided_relu(op, grad):
    gate = tf.cast(op.outputs[0] > 0, tf.float32) * tf.cast(grad > 0, tf.float32)
    return gate * grad


def binarize(x):
    with tf.get_default_graph().gradient_override_map({"Sign": "StraightThrough"}):
        return tf.sign(tf.clip_by_value(x, -1, 1), name="binary")


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + e))
    return tf.log(1 + e), grad


x = tf.constant([0.2, 0.7, 1.2, 1.7])
y = tf_spiky(x)
slopes = tf.gradients(y, [x])[0]
w = tf.Variable([[0.5, -0.3], [0.8, 0.1], [-0.2, 0.4], [0.6, -0.9]], name="w")
hidden = binarize(tf.matmul(tf.reshape(x, [1, 4]), w))
error = tf.reduce_sum(tf.square(hidden - [[1.0, 1.0]]))
train = tf.train.GradientDescentOptimizer(0.1).minimize(error)
with tf.get_default_graph().gradient_override_map({"Relu": "GuidedRelu"}):
    guided = tf.nn.relu(x - 1.0)
saliency = tf.gradients(-guided * [1.0, -1.0, 1.0, -1.0], x)[0]
soft = log1pexp(tf.constant([0.0, 100.0]))
soft_slope = tf.gradients(soft, soft.op.inputs[0])
counts = []
seen = tf.py_func(lambda v: counts.append(float(v)) or np.int64(len(counts)), [error], tf.int64)
print(y.shape, seen.shape, y.op.type, seen.dtype)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(*sess.run([y, slopes]))
    for i in range(6):
        _, n = sess.run([train, seen])
        print(i, n, "%.1f" % counts[-1])
    print(np.round(w.eval(), 3))
    print(saliency.eval(), soft.eval()[0], seen.eval())
    try:
        sess.run(tf.py_func(lambda: 1 / 0, [], tf.float64))
    except tf.errors.UnknownError as problem:
        print(problem.message.splitlines()[0])
