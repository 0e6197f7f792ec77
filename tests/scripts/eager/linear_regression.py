"""A line fitted in each of the ways in which eager programs get gradients."""

import numpy as np
import tensorflow as tf
from tensorflow.contrib import eager as tfe

tfe.enable_eager_execution()
x = np.linspace(-1, 1, 20).astype(np.float32)
y = 3 * x - 1 + np.sin(7 * x).astype(np.float32) / 10


def variables():
    return tfe.Variable(0.5, name="slope"), tfe.Variable(0.0, name="offset")


slope, offset = variables()


def loss():
    return tf.reduce_mean(tf.square(slope * x + offset - y))


gradients = tfe.implicit_gradients(loss)
optimizer = tf.train.GradientDescentOptimizer(0.3)
for step in range(30):
    optimizer.apply_gradients(gradients())
    if step % 10 == 0:
        print("implicit", step, loss().numpy())
print(slope, offset)

slope, offset = variables()
with_value = tfe.implicit_value_and_gradients(loss)
momentum = tf.train.MomentumOptimizer(0.1, 0.9)
for step in range(30):
    value, pairs = with_value()
    momentum.apply_gradients(pairs)
print("value", value.numpy(), [v.name for _, v in pairs], slope.numpy(), offset.numpy())


def squared(a, b):
    return tf.reduce_mean(tf.square(a * x + b - y))


a, b = 0.5, 0.0
both = tfe.gradients_function(squared)
only_a = tfe.gradients_function(squared, params=["a"])
print("at start", [g.numpy() for g in both(a, b)], [g.numpy() for g in only_a(a, b)])
value_too = tfe.value_and_gradients_function(squared)
for step in range(30):
    value, (da, db) = value_too(a, b)
    a, b = a - 0.3 * da, b - 0.3 * db
print("function", value.numpy(), a.numpy(), b.numpy())

slope, offset = variables()
adam = tf.train.AdamOptimizer(0.1)
counter = tf.train.get_or_create_global_step()
for step in range(30):
    with tf.GradientTape() as tape:
        value = loss()
    pairs = zip(tape.gradient(value, [slope, offset]), [slope, offset])
    adam.apply_gradients(pairs, global_step=counter)
print("tape", value.numpy(), slope.numpy(), offset.numpy(), counter.numpy())

slope, offset = variables()
for step in range(5):
    adagrad = adagrad if step else tf.train.AdagradOptimizer(0.5)
    adagrad.minimize(loss, var_list=[slope, offset])
print("minimize", loss().numpy(), slope.numpy(), offset.numpy())
