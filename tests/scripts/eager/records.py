"""Input pipelines: records, text, mapping in parallel, iterating over structures."""

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
folder = tempfile.mkdtemp()

path = os.path.join(folder, "a.tfrecords")
with tf.python_io.TFRecordWriter(path) as writer:
    for i in range(5):
        features = {
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            "values": tf.train.Feature(
                float_list=tf.train.FloatList(value=[i / 2.0, i])
            ),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % i])),
        }
        example = tf.train.Example(features=tf.train.Features(feature=features))
        writer.write(example.SerializeToString())

spec = {
    "label": tf.FixedLenFeature([], tf.int64),
    "values": tf.FixedLenFeature([2], tf.float32),
    "name": tf.FixedLenFeature([], tf.string),
}


def parse(record):
    found = tf.parse_single_example(record, spec)
    return found["values"] * 2.0, found


data = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=2)
for values, found in data.filter(lambda v, f: f["label"] > 1).batch(2):
    print(values.numpy().tolist(), found["label"].numpy(), found["name"].numpy())
print(data.output_shapes[0], data.output_types[1]["name"])

lines = os.path.join(folder, "a.csv")
with open(lines, "w") as file:
    file.write("x,y\n1,2.5\n3,4.5\n5,6.5\n")
rows = (
    tf.data.TextLineDataset(lines)
    .skip(1)
    .map(lambda line: tf.decode_csv(line, [[0], [0.0]]))
)
print([(x.numpy(), y.numpy()) for x, y in rows])

numbers = tf.data.Dataset.range(10).map(lambda x: x * x)
print([int(n) for n in numbers.take(4).repeat(2)])
iterator = numbers.make_one_shot_iterator()
print(iterator.get_next(), iterator.next().numpy(), next(iterator).numpy())
pairs = tf.data.Dataset.zip(
    (numbers, tf.data.Dataset.from_tensors(["a", "b"]).repeat())
)
for i, (number, letters) in enumerate(pairs.take(2)):
    print(i, number.numpy(), letters.numpy())
try:
    while True:
        last = iterator.get_next()
except (StopIteration, tf.errors.OutOfRangeError) as error:
    print("end after", last.numpy(), type(error).__name__)
shuffled = tf.data.Dataset.range(6).shuffle(6, seed=1)
print(sorted(int(n) for n in shuffled), shuffled)
total = numbers.reduce(np.int64(0), lambda a, b: a + b)
print(total.numpy())
generated = tf.data.Dataset.from_generator(lambda: iter([[1], [2, 3]]), tf.int32)
print([part.numpy().tolist() for part in generated])
