"""Layers, batches of a dataset, a tape, metrics: softmax regression and an MLP."""

import numpy as np
import tensorflow as tf
from tensorflow.contrib.eager.python import tfe

tf.enable_eager_execution()
tf.set_random_seed(3)
random = np.random.RandomState(5)
centres = random.normal(size=[3, 4]) * 2
labels = random.randint(0, 3, 90)
points = (centres[labels] + random.normal(size=[90, 4])).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((points, labels)).batch(30)


class Model(object):
    def __init__(self, sizes):
        self.layers = [tf.layers.Dense(n, activation=tf.nn.relu) for n in sizes]
        self.last = tf.layers.Dense(3, kernel_initializer=tf.zeros_initializer())

    def __call__(self, values):
        for layer in self.layers:
            values = layer(values)
        return self.last(values)

    @property
    def variables(self):
        parts = self.layers + [self.last]
        return [variable for layer in parts for variable in layer.variables]


def cost(model, values, wanted):
    logits = model(values)
    return tf.losses.sparse_softmax_cross_entropy(wanted, logits)


for sizes in ([], [8]):
    model = Model(sizes)
    optimizer = tf.train.AdamOptimizer(0.05)
    for epoch in range(4):
        mean, accuracy = tfe.metrics.Mean("loss"), tfe.metrics.Accuracy()
        for values, wanted in data:
            with tf.GradientTape() as tape:
                value = cost(model, values, wanted)
            grads = tape.gradient(value, model.variables)
            optimizer.apply_gradients(zip(grads, model.variables))
            mean(value)
            accuracy(wanted, tf.argmax(model(values), axis=1))
        if sizes == []:
            print(epoch, "%.5f %.4f" % (mean.result(), accuracy.result()))
    shapes = [tuple(v.shape.as_list()) for v in model.variables]
    print(sizes, shapes, [v.name for v in model.variables])
print("first logits", Model([])(points[:2]).numpy().tolist())
for batch, (values, wanted) in enumerate(tfe.Iterator(data)):
    print(batch, values.shape, tf.bincount(tf.cast(wanted, tf.int32)).numpy())
