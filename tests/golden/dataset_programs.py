"""Programs with the four kinds of iterators, and with bad input, from TensorFlow 1.15.

`python dataset_programs.py` records dataset_programs.json;
tests/lib/data/test_programs.py compares.
"""

import json
import os
import re
import sys
import tempfile

import numpy as np

PARAMETERS = np.array([0.5, -1.0], np.float32)


def write_files(tf):
    """A table and records of the same 24 rows."""
    numbers = np.random.RandomState(0)
    rows = numbers.rand(24, 2).astype(np.float32).round(3)
    targets = (rows.dot(PARAMETERS) + 0.25).round(4)
    with open("rows.csv", "w") as file:
        file.write("a,b,y\n")
        for (a, b), y in zip(rows, targets):
            file.write(f"{a:.3f},{b:.3f},{y:.4f}\n")
    for name, part in (("train", slice(0, 16)), ("valid", slice(16, 24))):
        with tf.python_io.TFRecordWriter(name + ".tfrecord") as writer:
            for row, y in zip(rows[part], targets[part]):
                feature = {
                    "x": tf.train.Feature(
                        float_list=tf.train.FloatList(value=row.tolist())
                    ),
                    "y": tf.train.Feature(
                        float_list=tf.train.FloatList(value=[float(y)])
                    ),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())
    return rows, targets


def _table(tf, name="rows.csv"):
    def decode(line):
        a, b, y = tf.decode_csv(line, [[0.0], [0.0], [0.0]])
        return tf.stack([a, b]), y

    return tf.data.TextLineDataset(name).skip(1).map(decode)


def _records(tf, name):
    def parse(record):
        features = {
            "x": tf.FixedLenFeature([2], tf.float32),
            "y": tf.FixedLenFeature([], tf.float32),
        }
        found = tf.parse_single_example(record, features)
        return found["x"], found["y"]

    return tf.data.TFRecordDataset(name).map(parse, num_parallel_calls=2)


def _model(tf, x, y):
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    error = tf.reduce_sum(x * w, 1) + b - y
    loss = tf.reduce_mean(tf.square(error))
    return loss, tf.train.GradientDescentOptimizer(0.3).minimize(loss), (w, b)


def _until_the_end(tf, session, *fetches):
    found = []
    while True:
        try:
            found.append(round(float(session.run(fetches)[0]), 5))
        except tf.errors.OutOfRangeError:
            return found


def one_shot(tf):
    tf.set_random_seed(1)
    dataset = _table(tf).shuffle(24, seed=5).repeat(3).batch(8).prefetch(1)
    loss, train, variables = _model(tf, *dataset.make_one_shot_iterator().get_next())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = _until_the_end(tf, session, loss, train)
        return found, [np.round(v, 5).tolist() for v in session.run(variables)]


def initializable(tf):
    tf.set_random_seed(2)
    rows, targets = write_files(tf)
    features = tf.placeholder(tf.float32, [None, 2])
    labels = tf.placeholder(tf.float32, [None])
    size = tf.placeholder(tf.int64, [])
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    dataset = dataset.shuffle(10, seed=3).batch(size)
    iterator = dataset.make_initializable_iterator()
    loss, train, _ = _model(tf, *iterator.get_next())
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for count in (8, 12, 24):
            feeds = {features: rows, labels: targets, size: count}
            session.run(iterator.initializer, feeds)
            found.append(_until_the_end(tf, session, loss, train))
    return found


def reinitializable(tf):
    tf.set_random_seed(3)
    train_data = _records(tf, "train.tfrecord").shuffle(16, seed=7).batch(4)
    valid_data = _records(tf, "valid.tfrecord").batch(8)
    iterator = tf.data.Iterator.from_structure(
        train_data.output_types, train_data.output_shapes
    )
    begin_train = iterator.make_initializer(train_data)
    begin_valid = iterator.make_initializer(valid_data)
    loss, train, _ = _model(tf, *iterator.get_next())
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(begin_train)
            epoch = _until_the_end(tf, session, loss, train)
            session.run(begin_valid)
            found.append([epoch, _until_the_end(tf, session, loss)])
    return found


def feedable(tf):
    tf.set_random_seed(4)
    train_data = _table(tf).take(16).shuffle(8, seed=1).repeat().batch(4)
    valid_data = _records(tf, "valid.tfrecord").batch(4)
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(
        handle, train_data.output_types, train_data.output_shapes
    )
    loss, train, _ = _model(tf, *iterator.get_next())
    training = train_data.make_one_shot_iterator()
    validation = valid_data.make_initializable_iterator()
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        one, two = session.run([training.string_handle(), validation.string_handle()])
        for _ in range(3):
            steps = [session.run([loss, train], {handle: one})[0] for _ in range(5)]
            session.run(validation.initializer)
            checks = [session.run(loss, {handle: two}) for _ in range(2)]
            found.append(
                [[round(float(x), 5) for x in part] for part in (steps, checks)]
            )
    return found


# ---- bad input


def _outcomes(tf, dataset, count=6, between=None):
    """Elements, and errors as "Class: first line"."""
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        try:
            session.run(iterator.initializer)
            while len(found) < count:
                if between is not None and len(found) == 2:
                    between()
                try:
                    found.append(_plain(session.run(element)))
                except tf.errors.OutOfRangeError:
                    found.append("end")
                    break
                except tf.errors.OpError as error:
                    found.append(_told(error))
        except tf.errors.OpError as error:
            found.append("initializer: " + _told(error))
    return found


def _plain(value):
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.decode() if isinstance(value, bytes) else value.tolist()


def _told(error):
    text = re.sub(r"\{\{function_node .*?\}\} +", "", error.message).split("\n")[0]
    text = re.sub(r"(?<= )/\S*/", "", text.replace("[_Derived_]", ""))
    return type(error).__name__ + ": " + text.strip()[:120]


def generator_raises(tf):
    def numbers():
        yield 1
        raise KeyError("lost")

    return _outcomes(tf, tf.data.Dataset.from_generator(numbers, tf.int64, []))


def generator_of_another_type(tf):
    values = [1, "text", 3]
    return _outcomes(tf, tf.data.Dataset.from_generator(lambda: values, tf.int64, []))


def generator_of_another_shape(tf):
    values = [[1, 2], [1, 2, 3], [5, 6]]
    return _outcomes(tf, tf.data.Dataset.from_generator(lambda: values, tf.int64, [2]))


def generator_of_another_structure(tf):
    values = [(1, 2), 3, (4, 5)]
    types = (tf.int64, tf.int64)
    return _outcomes(tf, tf.data.Dataset.from_generator(lambda: values, types))


def generator_without_end(tf):
    def numbers():
        i = 0
        while True:
            yield i
            i += 1

    dataset = tf.data.Dataset.from_generator(numbers, tf.int64, []).prefetch(2)
    return _outcomes(tf, dataset, 4)


def missing_file(tf):
    return _outcomes(tf, tf.data.TextLineDataset(["rows.csv", "nowhere"]).skip(23))


def missing_records(tf):
    return _outcomes(tf, tf.data.TFRecordDataset("nowhere"), 2)


def file_that_vanishes(tf):
    with open("vanishing", "w") as file:
        file.write("a\nb\nc\nd\n")
    dataset = tf.data.TextLineDataset("vanishing")
    return _outcomes(tf, dataset, between=lambda: os.remove("vanishing"))


def records_cut_in_the_middle(tf):
    with tf.python_io.TFRecordWriter("cut") as writer:
        for i in range(4):
            writer.write(b"r" * (i + 1))
    with open("cut", "rb+") as file:
        file.truncate(40)
    return _outcomes(tf, tf.data.TFRecordDataset(["cut", "cut"]), 8)


def damaged_records(tf):
    with tf.python_io.TFRecordWriter("damaged") as writer:
        for i in range(3):
            writer.write(b"r" * (i + 1))
    with open("damaged", "rb+") as file:
        file.seek(30)
        file.write(b"X")
    return _outcomes(tf, tf.data.TFRecordDataset("damaged"))


def rows_of_other_columns(tf):
    with open("odd.csv", "w") as file:
        file.write("a,b,y\n1,2,3\n1,2\n1,x,3\n4,5,6\n")
    return _outcomes(tf, _table(tf, "odd.csv").map(lambda x, y: y))


def uneven_batches(tf):
    dataset = tf.data.Dataset.range(1, 5).map(lambda i: tf.range(i)).batch(2)
    return _outcomes(tf, dataset)


def errors_among_elements(tf):
    new, more = tf.data.Dataset, tf.data.experimental

    def failing():
        return new.range(6).map(lambda i: 12 // (i - 2))

    def scanned(state, i):
        return state + i, 12 // (i - 2)

    datasets = [
        failing().take(4), failing().skip(1), failing().skip(3),
        failing().shard(2, 0), failing().shard(2, 1),
        new.zip((failing(), new.range(9))), new.zip((new.range(9), failing())),
        failing().concatenate(new.range(2)), failing().batch(2),
        failing().shuffle(2, seed=1), failing().repeat(2).take(9), failing().cache(),
        failing().window(2).flat_map(lambda window: window),
        new.range(6).filter(lambda i: 12 // (i - 2) > 0),
        new.range(6).apply(more.scan(tf.constant(0, tf.int64), scanned)),
        failing().batch(1).apply(more.unbatch()),
        failing().enumerate().map(lambda i, x: i), failing().padded_batch(2, []),
        failing().apply(more.take_while(lambda i: True)),
        failing().flat_map(new.from_tensors), failing().apply(more.unique()),
        failing().prefetch(2), failing().map(lambda i: i, num_parallel_calls=2),
        failing().apply(
            more.group_by_window(lambda i: i % 2, lambda key, group: group, 1)
        ),
    ]  # fmt: skip
    return [_outcomes(tf, dataset, 10) for dataset in datasets]


def captured_state(tf):
    v = tf.get_variable("v", [], tf.int64, use_resource=True)
    found = []
    for dataset in (
        tf.data.Dataset.range(3).map(lambda i: i + v),
        tf.data.Dataset.range(3).shuffle(tf.placeholder(tf.int64, [], "size")),
    ):
        try:
            dataset.make_one_shot_iterator()
        except ValueError as error:
            found.append(str(error)[:180])
    return found


PROGRAMS = (
    one_shot, initializable, reinitializable, feedable, generator_raises,
    generator_of_another_type, generator_of_another_shape,
    generator_of_another_structure, generator_without_end, missing_file,
    missing_records, file_that_vanishes, records_cut_in_the_middle, damaged_records,
    rows_of_other_columns, uneven_batches, captured_state, errors_among_elements,
)  # fmt: skip


def run(tf, program):
    """What a program finds, as JSON has it."""
    with tf.Graph().as_default():
        return json.loads(json.dumps(program(tf)))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    path = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    os.chdir(tempfile.mkdtemp())
    write_files(tensorflow)
    answers = {p.__name__: run(tensorflow, p) for p in PROGRAMS}
    with open(sys.argv[1] if sys.argv[1:] else path, "w") as file:
        json.dump(answers, file, indent=1, sort_keys=True)
        file.write("\n")
