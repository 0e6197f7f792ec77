"""Tapes: watched tensors, higher orders, several gradients, what is not recorded."""

import tensorflow as tf

tf.enable_eager_execution()

x = tf.constant(3.0)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = x**3 + 2.0 * x
    first = inner.gradient(y, x)
second = outer.gradient(first, x)
print(first.numpy(), second.numpy())

with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(
    tape.gradient(z, x).numpy(),
    tape.gradient(y, x).numpy(),
    tape.gradient(z, y).numpy(),
)
del tape

v = tf.Variable([1.0, 2.0])
w = tf.Variable(2.0, trainable=False)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(v * v) * w
print([one.name for one in tape.watched_variables()])
print([g if g is None else g.numpy().tolist() for g in tape.gradient(y, [v, w])])
try:
    tape.gradient(y, v)
except RuntimeError as error:
    print("again:", error)

with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    with tape.stop_recording():
        z = y * 100.0
    y += tf.stop_gradient(x) * x
print(tape.gradient(y, x).numpy(), z.numpy())


def steps(n, x):
    """Python's control flow."""
    result = tf.constant(1.0)
    while n > 0:
        result = result * x if n % 2 else result + x
        n -= 1
    return result


for n in range(4):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = steps(n, x)
    gradient = tape.gradient(y, x)
    print(n, y.numpy(), gradient if gradient is None else gradient.numpy())

points = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    tape.watch(points)
    y = points**2
print(tape.jacobian(y, points).numpy().tolist())


@tf.custom_gradient
def clipped(x):
    def grad(dy):
        return tf.clip_by_norm(dy, 0.5)

    return tf.identity(x), grad


with tf.GradientTape() as tape:
    tape.watch(points)
    y = tf.reduce_sum(clipped(points) * [3.0, 0.0, 4.0])
print(tape.gradient(y, points).numpy().tolist())

embedding = tf.Variable([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.nn.embedding_lookup(embedding, [2, 0, 2]))
gradient = tape.gradient(y, embedding)
print(type(gradient).__name__, gradient.indices.numpy(), gradient.values.shape)
print(tf.convert_to_tensor(gradient).numpy().tolist())
