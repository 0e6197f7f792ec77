"""`Dataset.shuffle` in TensorFlow 2's behavior: each loop has another order."""

import tensorflow as tf1
import tensorflow.compat.v2 as tf

tf.enable_v2_behavior()
tf1.compat.v1.set_random_seed(1)
Dataset = tf.data.Dataset


def numbers(dataset):
    return [int(x) for x in dataset]


def loops(dataset, count=3):
    print(*(numbers(dataset) for _ in range(count)))


shuffled = Dataset.range(5).shuffle(5, seed=7)
loops(shuffled)
loops(Dataset.range(5).shuffle(5, seed=7))
loops(Dataset.range(5).shuffle(5, seed=7, reshuffle_each_iteration=False))
loops(Dataset.range(8).shuffle(3, seed=7))
loops(shuffled.batch(2).prefetch(1).unbatch())

# Iterators, and epochs, get the next seeds as they begin.
first, second = iter(shuffled), iter(shuffled)
print([(int(next(first)), int(next(second))) for _ in range(5)])
print([(int(x), int(y)) for x, y in Dataset.zip((shuffled, shuffled))])
loops(shuffled.concatenate(shuffled))
repeated = Dataset.range(5).shuffle(3, seed=7).repeat(2)
loops(repeated)
loops(shuffled.map(lambda x: x + 1).filter(lambda x: x > 1).repeat(2))
print([numbers(shuffled.repeat().take(12)) for _ in range(2)])
loops(Dataset.range(5).shuffle(5, seed=7).take(0).repeat(), 2)
loops(shuffled.shuffle(2, seed=3))
shuffle_and_repeat = tf.data.experimental.shuffle_and_repeat
loops(shuffled.apply(shuffle_and_repeat(3, 2, seed=4)))
loops(shuffled)
options = tf.data.Options()
options.experimental_optimization.shuffle_and_repeat_fusion = True
loops(repeated.with_options(options))
loops(shuffled.cache())

# Functions of datasets make a generator in each call.
loops(Dataset.range(2).flat_map(lambda i: Dataset.range(4).shuffle(4, seed=5)))


@tf.function
def digits(dataset):
    result = tf.constant(0, tf.int64)
    for x in dataset:
        result = 10 * result + x
    return result


@tf.function
def own_digits():
    return digits(Dataset.range(5).shuffle(5, seed=3))


print(*(int(digits(shuffled)) for _ in range(3)))
print(*(int(own_digits()) for _ in range(3)))
with tf1.Graph().as_default() as graph:
    Dataset.range(5).shuffle(5, seed=3)
    print([op.type for op in graph.get_operations() if "Shuffle" in op.type])

iterator = iter(Dataset.range(6).shuffle(6, seed=9))
try:
    tf.train.Checkpoint(iterator=iterator).write("no_file")
except tf.errors.FailedPreconditionError as error:
    print(error.message)
try:
    numbers(Dataset.range(3).shuffle(0))
except tf.errors.InvalidArgumentError as error:
    print(error.message)
print(len({tuple(numbers(d)) for d in [Dataset.range(20).shuffle(20)] for _ in "12"}))

seeds = tf.raw_ops.AnonymousRandomSeedGenerator(seed=1, seed2=2)
print([part.dtype.name for part in seeds], seeds.handle.shape, seeds.deleter.shape)
tf.raw_ops.DeleteRandomSeedGenerator(handle=seeds.handle, deleter=seeds.deleter)
