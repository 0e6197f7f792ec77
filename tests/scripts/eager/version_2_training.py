"""A training loop of TensorFlow 2: modules, functions, summaries, checkpoints."""

import glob
import os
import tempfile

import numpy as np
import tensorflow.compat.v2 as tf

tf.enable_v2_behavior()


class Linear(tf.Module):
    def __init__(self, size, name=None):
        super().__init__(name=name)
        self.size, self.w = size, None

    @tf.Module.with_name_scope
    def __call__(self, x):
        if self.w is None:
            init = tf.initializers.GlorotUniform(seed=3)
            self.w = tf.Variable(init([x.shape[-1], self.size]), name="w")
            self.b = tf.Variable(tf.zeros([self.size]), name="b")
        return x @ self.w + self.b


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = Linear(8, "hidden"), Linear(3, "out")

    def __call__(self, x):
        return self.out(tf.nn.relu(self.hidden(x)))


rng = np.random.RandomState(0)
xs = rng.normal(size=(48, 4)).astype(np.float32)
ys = np.argmax(xs[:, :3], 1)
data = tf.data.Dataset.from_tensor_slices((xs, ys))
data = data.shuffle(48, 1, reshuffle_each_iteration=False).batch(16)
model = Model()
model(xs[:1])
step = tf.Variable(0, dtype=tf.int64, trainable=False)
folder = tempfile.mkdtemp()
checkpoint = tf.train.Checkpoint(model=model, step=step)
manager = tf.train.CheckpointManager(checkpoint, os.path.join(folder, "saved"), 2)
writer = tf.summary.create_file_writer(os.path.join(folder, "logs"))


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        logits = model(x)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        loss = tf.reduce_mean(losses, axis=0, keepdims=False)
    variables = model.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(0.5 * gradient)
    is_right = tf.argmax(logits, 1, tf.int32) == tf.cast(y, tf.int32)
    right = tf.reduce_mean(tf.cast(is_right, tf.float32))
    tf.summary.scalar("loss", loss, step=step)
    step.assign_add(1)
    return loss, right


print([v.name for v in model.trainable_variables], [m.name for m in model.submodules])
with writer.as_default():
    for epoch in range(3):
        for x, y in data:
            loss, right = train(x, y)
        tf.summary.histogram("w", model.out.w, step=step, buckets=4)
        print(epoch, np.round(loss, 4), np.round(right, 4), int(step))
        manager.save()
print([os.path.basename(p) for p in manager.checkpoints])
before = model.out.w.numpy()
model.out.w.assign(tf.zeros_like(model.out.w))
status = checkpoint.restore(manager.latest_checkpoint)
status.assert_consumed()
print(bool(tf.reduce_all(model.out.w == before)), int(step))
writer.close()
[file] = glob.glob(os.path.join(folder, "logs", "*"))
for event in tf.compat.v1.train.summary_iterator(file):
    for value in event.summary.value:
        a = tf.make_ndarray(value.tensor)
        plugin = value.metadata.plugin_data.plugin_name
        print(event.step, value.tag, plugin, a.shape, np.round(a.sum(), 3))
