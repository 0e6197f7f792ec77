"""Objects and variables saved and restored, by name and by attribute; summaries."""

import glob
import os
import tempfile

import tensorflow as tf
from tensorflow.contrib import eager as tfe

tf.enable_eager_execution()
folder = tempfile.mkdtemp()

v = tfe.Variable([1.0, 2.0], name="v")
optimizer = tf.train.AdamOptimizer(0.1)
step = tf.train.get_or_create_global_step()
checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer, step=step)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    optimizer.apply_gradients([(tape.gradient(loss, v), v)], global_step=step)
path = checkpoint.save(os.path.join(folder, "ck"))
print(os.path.basename(path), os.path.basename(tf.train.latest_checkpoint(folder)))
saved = v.numpy()
print(saved)
v.assign([0.0, 0.0])
step.assign(100)
status = checkpoint.restore(path)
status.assert_consumed()
print((v.numpy() == saved).all(), step.numpy())

later = tf.train.Checkpoint()
later.restore(path)
later.v = tfe.Variable([9.0, 9.0])
print((later.v.numpy() == saved).all())
print([name for name, _ in tf.train.list_variables(path) if "OBJECT" not in name])

saver = tfe.Saver([v])
prefix = saver.save(os.path.join(folder, "named"), global_step=7)
v.assign_add([1.0, 1.0])
saver.restore(prefix)
print(os.path.basename(prefix), (v.numpy() == saved).all())

events = os.path.join(folder, "events")
writer = tf.contrib.summary.create_file_writer(events)
writer.set_as_default()
with tf.contrib.summary.always_record_summaries():
    for n in range(3):
        step.assign(n)
        tf.contrib.summary.scalar("loss", float(n) / 2)
        tf.contrib.summary.histogram("v", v)
writer.flush()
for name in glob.glob(events + "/*"):
    for event in tf.train.summary_iterator(name):
        for value in event.summary.value:
            if value.tag == "loss":
                print(event.step, value.tag, value.simple_value)
