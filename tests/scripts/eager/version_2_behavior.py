"""What `enable_v2_behavior` switches on, and the switches one by one."""

import numpy as np
import tensorflow as tf1
import tensorflow.compat.v2 as tf

v1 = tf1.compat.v1


def show(*functions):
    for function in functions:
        try:
            print(function())
        except Exception as error:
            print(type(error).__name__, str(error)[:60])


tf.enable_v2_behavior()
print(tf1.executing_eagerly(), v1.resource_variables_enabled())
print(v1.control_flow_v2_enabled())
a, b, v = tf.constant([1, 2]), tf.constant([1, 3]), tf.Variable([1, 2])
show(lambda: a == b, lambda: a != b, lambda: a == 1, lambda: v == a, lambda: v != a)
show(lambda: a == None, lambda: a == "x", lambda: a == tf.constant([1, 2, 3]))
show(lambda: a == [1, 3], lambda: [1, 2] == a, lambda: a == np.array([1, 2]))
show(lambda: hash(a), lambda: hash(v), lambda: {a: 1}, lambda: {v})
show(lambda: a in [b], lambda: a in [a], lambda: tf.constant(1) in [tf.constant(1)])
show(lambda: a.experimental_ref() in {a.experimental_ref()})
show(lambda: a.shape[0], lambda: type(a.shape[0]), lambda: list(a.shape))
unknown = tf.TensorShape([None, 2])
show(lambda: unknown, lambda: repr(unknown), lambda: unknown[0], lambda: list(unknown))
show(lambda: tf.TensorShape(None)[0], lambda: tf.TensorShape([3, None, 2])[1:])
show(lambda: unknown.dims, lambda: unknown[1].value)
show(lambda: v1.dimension_value(unknown[1]), lambda: unknown.as_list())


@tf.function
def larger(x, y):
    print("traced with", x == y, x.shape[0])
    if tf.reduce_all(x == y):
        return x
    return tf.maximum(x, y)


print(larger(a, b), larger(a, a))
with tf.Graph().as_default():
    x, y = tf.constant(1), tf.constant(1)
    show(lambda: x == y, lambda: x == x, lambda: hash(x) == id(x), lambda: x != y)
    show(lambda: type(tf1.Variable(1)).__name__, lambda: tf1.Variable(1) == 1)
v1.disable_tensor_equality()
show(lambda: a == b, lambda: hash(a) == id(a), lambda: v == v, lambda: v == a)
v1.enable_tensor_equality()
show(lambda: a == b)
v1.disable_v2_tensorshape()
show(lambda: a.shape[0], lambda: repr(a.shape), lambda: unknown)
v1.enable_v2_tensorshape()
show(lambda: repr(a.shape))
v1.disable_v2_behavior()
print(tf1.executing_eagerly(), v1.resource_variables_enabled())
print(v1.control_flow_v2_enabled(), tf.constant(1) == 1, repr(a.shape))
show(tf.enable_v2_behavior)
