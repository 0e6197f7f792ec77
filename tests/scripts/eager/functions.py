"""Functions: traces, Python arguments, variables, control flow, gradients."""

import tensorflow as tf
from tensorflow.contrib import eager as tfe

tf.enable_eager_execution()

traces = []


@tf.function
def power(x, n):
    traces.append((x.dtype.name, n))
    return x**n


print(power(tf.constant(2.0), 3), power(tf.constant(3.0), 3), power(tf.constant(2), 2))
print(traces)


@tf.function
def collatz(n):
    steps = 0
    while n > 1:
        if tf.equal(n % 2, 0):
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


print([collatz(tf.constant(n)).numpy() for n in (1, 6, 27)])


@tf.function
def evens(n):
    total = tf.constant(0)
    for i in tf.range(n):
        if tf.equal(i % 2, 1):
            continue
        if i > 6:
            break
        total += i
    return total


print(evens(tf.constant(5)).numpy(), evens(tf.constant(20)).numpy())

weights = tf.Variable([[1.0], [2.0]])


@tf.function
def cost(values):
    return tf.reduce_sum(tf.matmul(values, weights) ** 2)


values = tf.constant([[1.0, 1.0], [0.0, 2.0]])
with tf.GradientTape() as tape:
    y = cost(values)
print(y.numpy(), tape.gradient(y, weights).numpy().tolist())
weights.assign([[0.0], [1.0]])
print(cost(values).numpy())


class Counter(tf.Module):
    def __init__(self):
        self.count = tf.Variable(0)

    @tf.function
    def add(self, n):
        self.count.assign_add(n)
        return self.count


counter = Counter()
print(
    counter.add(2).numpy(), counter.add(tf.constant(5)).numpy(), counter.count.numpy()
)


@tfe.defun
def normalized(x):
    return {"mean": tf.reduce_mean(x), "rest": [x - tf.reduce_mean(x)]}


found = normalized(tf.constant([1.0, 3.0]))
print(sorted(found), found["mean"].numpy(), found["rest"][0].numpy())
concrete = power.get_concrete_function(tf.TensorSpec([2], tf.float32), 2)
print(concrete(tf.constant([1.0, 3.0])).numpy())
