"""What a first lesson shows: values, NumPy on either side, types, shapes, errors."""

import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tfe = tf.contrib.eager

print(tf.executing_eagerly(), tfe.num_gpus())
a = tf.constant([[1, 2], [3, 4]])
print(a)
print(a.shape, a.dtype, a.numpy().sum(), a.device)
b = tf.add(a, 1) * 2
print(repr(b.numpy()))
print(b.numpy().tolist(), (b - a).numpy().tolist(), (a / b).dtype.name)
print("row sums: %s" % tf.reduce_sum(a, axis=1))
print(
    "mean {:.3f}, first {}, all {}".format(
        tf.reduce_mean(tf.cast(a, tf.float32)), a[0, 0], a
    )
)

x = np.ones([2, 2]) * 0.5
print(np.multiply(tf.cast(a, tf.float64), x))
print((x + tf.constant(1.5, tf.float64)).numpy())
print((tf.constant([1.0, 2.0]) * np.array([1, 2])).numpy())
print(np.dot(a, [1, 1]), np.max(a), np.array([a, a]).shape)

for row in a:
    print("row", row.numpy(), [int(value) for value in row])
first, second = tf.unstack(a)
print(first.numpy(), second.numpy(), len(a))
for i in tf.range(3):
    if int(i) % 2:
        continue
    print("i =", i.numpy(), float(i), [10, 20, 30][i])

for name, call in [
    ("shapes", lambda: tf.matmul(a, [[1, 2, 3]])),
    ("broadcast", lambda: tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])),
    ("types", lambda: a + tf.constant(1.5)),
    ("number", lambda: tf.constant(1) + 2.5),
    ("range", lambda: tf.gather([1, 2], 5)),
    ("ragged", lambda: tf.constant([[1, 2], [3]])),
    ("mixed", lambda: tf.constant([1, "a"])),
    ("truth", lambda: bool(a > 1)),
    ("op", lambda: a.op),
    ("eval", lambda: a.eval()),
    ("placeholder", lambda: tf.placeholder(tf.float32)),
    ("gradients", lambda: tf.gradients(a, a)),
]:
    try:
        print(name, call())
    except Exception as error:
        print(name, type(error).__name__, str(error).split("\n")[0])
