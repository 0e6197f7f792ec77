# ruff: noqa: E501 -- each call is one line
"""What readers return in TensorFlow 1.15, record by record.

`python -m tests.golden.reader_runs FILE`, with TensorFlow's Python, writes them anew:
for each expression the reads of a queue of files until the first error, what the
counters say then, and the nodes.
"""

import os
import sys
import tempfile
import zlib

import numpy as np

from tests.golden import calls as golden
from tests.golden.input_calls import plain

TEXTS = {
    "a.txt": b"head\none\ntwo\r\n\nlast",
    "b.txt": b"head\n",
    "c.txt": b"",
    "d.txt": b"x\ny\nz\n",
    "nine.bin": b"H12345678",
    "ten.bin": b"HH12345678F",
}
ALL = "['a.txt', 'b.txt', 'c.txt', 'd.txt']"
CALLS = """
reads(lambda: tf.TextLineReader(), {all})
reads(lambda: tf.TextLineReader(skip_header_lines=1, name='lines'), {all})
reads(lambda: tf.TextLineReader(skip_header_lines=9), ['a.txt'])
reads(lambda: tf.TextLineReader(), ['d.txt', 'missing.txt'])
reads(lambda: tf.TextLineReader(), [])
reads(lambda: tf.WholeFileReader(), {all})
reads(lambda: tf.WholeFileReader(name='whole'), ['missing.txt'])
reads(lambda: tf.IdentityReader(), ['one', '', 'two'])
reads(lambda: tf.FixedLengthRecordReader(2), ['nine.bin', 'ten.bin'])
reads(lambda: tf.FixedLengthRecordReader(4, 1), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(2, 2, 1), ['ten.bin', 'c.txt', 'ten.bin'])
reads(lambda: tf.FixedLengthRecordReader(3, 1, 0, 2), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(1, hop_bytes=3), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(3, 1, 2, 2, name='f', encoding='ZLIB'), ['z.bin'])
reads(lambda: tf.FixedLengthRecordReader(3, encoding='GZIP'), ['g.bin'])
reads(lambda: tf.FixedLengthRecordReader(0), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(2, -1), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(2, 0, -1), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(2, 0, 0, -1), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(2, encoding='LZ4'), ['nine.bin'])
reads(lambda: tf.FixedLengthRecordReader(2, 20), ['nine.bin'])
reads(lambda: tf.TFRecordReader(), ['r.tfrecord', 'r.tfrecord'])
reads(lambda: tf.TFRecordReader(options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)), ['r.gz'])
reads(lambda: tf.TFRecordReader(), ['r.gz'])
reads(lambda: tf.TFRecordReader(), ['cut.tfrecord'])
reads(lambda: tf.TFRecordReader(), ['missing'])
reads(lambda: tf.TextLineReader(), {all}, up_to=2)
reads(lambda: tf.TextLineReader(skip_header_lines=1), {all}, up_to=4)
reads(lambda: tf.WholeFileReader(), {all}, up_to=3)
reads(lambda: tf.IdentityReader(), ['one', 'two', 'three'], up_to=2)
reads(lambda: tf.TFRecordReader(), ['r.tfrecord', 'r.tfrecord'], up_to=3)
reads(lambda: tf.FixedLengthRecordReader(2), ['nine.bin', 'ten.bin'], up_to=3)
reads(lambda: tf.TextLineReader(), ['d.txt'], up_to=0)
reads(lambda: tf.TextLineReader(), ['d.txt', 'missing.txt'], up_to=5)
state(lambda: tf.IdentityReader())
state(lambda: tf.WholeFileReader())
state(lambda: tf.TextLineReader())
restored(lambda: tf.IdentityReader(), b'bad')
restored(lambda: tf.IdentityReader(), [b''])
restored(lambda: tf.IdentityReader(), b'')
restored(lambda: tf.TextLineReader(), b'')
wrong_queue(tf.int32, [])
wrong_queue(tf.string, [2])
wrong_queue([tf.string, tf.string], [[], []])
epochs(['r.tfrecord', 's.tfrecord'], file_pattern='?.tfrecord', batch_size=5)
epochs(['r.tfrecord'], file_pattern='r.tfrecord', batch_size=2, buffer_size=3, name='n')
epochs(['r.tfrecord'], file_pattern='r.tf*,s.none', batch_size=3, buffer_size=99)
epochs(['r.gz'], file_pattern='r.gz', batches=3, compression_type=tf.python_io.TFRecordCompressionType.GZIP)
epochs(['r.tfrecord', 's.tfrecord'], file_pattern='?.tfrecord', batch_size=2, batches=5, parallelism=2, shift_ratio=.5, seed=9)
epochs([], file_pattern='none*')
epochs([], file_pattern='r.tfrecord', compression_type=tf.python_io.TFRecordCompressionType.ZLIB)
[tf.WholeFileReader().supports_serialize, tf.TextLineReader().supports_serialize]
"""


def calls():
    """The expressions."""
    return [line for line in CALLS.replace("{all}", ALL).splitlines() if line]


def make_files(tf, folder):
    """Write the files that readers read."""
    texts = dict(TEXTS)
    texts["z.bin"] = zlib.compress(b"H1234567890FF")
    gzip = zlib.compressobj(6, zlib.DEFLATED, 31)
    texts["g.bin"] = gzip.compress(b"123456") + gzip.flush()
    for name, kind in (("r.tfrecord", ""), ("r.gz", "GZIP")):
        with tf.python_io.TFRecordWriter(os.path.join(folder, name), kind) as writer:
            for record in (b"one", b"", b"three" * 9):
                writer.write(record)
    with tf.python_io.TFRecordWriter(os.path.join(folder, "s.tfrecord")) as writer:
        for number in range(7):
            writer.write(b"s%d" % number)
    with open(os.path.join(folder, "r.tfrecord"), "rb") as file:
        texts["cut.tfrecord"] = file.read()[:-3]
    for name, content in texts.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def error_of(error):
    """Class and message, without the name of a queue that is numbered."""
    text = getattr(error, "message", None) or str(error)
    return [type(error).__name__, text.split("\n\t")[0]]


def names(tf):
    """What an expression may name."""

    def filled(files):
        queue = tf.FIFOQueue(20, tf.string, shapes=[[]])
        return queue, [queue.enqueue_many([files]), queue.close()]

    def counters(reader):
        return [reader.num_records_produced(), reader.num_work_units_completed()]

    def reads(make, files, up_to=None):
        queue, ops = filled(np.array(files, "S20"))
        found = []
        try:
            reader = make()
        except Exception as error:
            return [error_of(error)]
        pair = reader.read(queue) if up_to is None else reader.read_up_to(queue, up_to)
        static = [str(part.shape) for part in pair]
        count, reset = counters(reader), reader.reset()
        with tf.Session() as session:
            for op in ops:
                session.run(op)
            for _ in range(20):
                try:
                    found.append(plain(session.run(list(pair))))
                except Exception as error:
                    found.append(error_of(error))
                    break
            try:
                found.append(plain(session.run(count)))
                session.run(reset)
                found.append(plain(session.run(count)))
            except Exception as error:
                found.append(error_of(error))
        return [static, found]

    def state(make):
        queue, ops = filled([b"a.txt", b"d.txt", b"b.txt"])
        reader, other = make(), make()
        try:
            key, value = reader.read(queue)
            saved = reader.serialize_state()
            restore = other.restore_state(saved)
            count = counters(other)
            with tf.Session() as session:
                for op in ops:
                    session.run(op)
                found = [plain(session.run([key, value])) for _ in range(2)]
                found.append(plain(session.run(saved)))
                session.run(restore)
                return [found, plain(session.run(count))]
        except Exception as error:
            return error_of(error)

    def restored(make, text):
        try:
            reader = make()
            op = reader.restore_state(tf.placeholder_with_default(text, None))
            with tf.Session() as session:
                session.run(op)
                return plain(session.run(counters(reader)))
        except Exception as error:
            return error_of(error)

    def wrong_queue(types, shapes):
        types = types if isinstance(types, list) else [types]
        shapes = shapes if len(types) > 1 else [shapes]
        queue = tf.FIFOQueue(2, types, shapes)
        zeros = [tf.zeros(shape, kind) for shape, kind in zip(shapes, types)]
        enqueue = queue.enqueue(zeros)
        try:
            pair = tf.IdentityReader().read(queue)
            with tf.Session() as session:
                session.run(enqueue)
                return plain(session.run(list(pair)))
        except Exception as error:
            return error_of(error)

    def epochs(files, **arguments):
        """Two epochs of RecordInput, whose order is that of threads, sorted."""
        size = sum(
            1
            for f in files
            for _ in tf.python_io.tf_record_iterator(
                f, tf.python_io.TFRecordOptions(arguments.get("compression_type", 0))
            )
        )
        batch = arguments.get("batch_size", 1) * (arguments.get("batches") or 1)
        try:
            op = tf.contrib.framework.RecordInput(**arguments).get_yield_op()
            shapes = plain(
                tf.contrib.framework.nest.map_structure(
                    lambda part: str(part.shape), op
                )
            )
            with tf.Session() as session:
                runs = [session.run(op) for _ in range(max(1, 2 * size // batch))]
        except Exception as error:
            return error_of(error)
        found = np.concatenate([np.ravel(run) for run in runs])
        shape = list(np.shape(runs[0]))
        return [shapes, shape, [sorted(plain(found[i:][:size])) for i in (0, size)]]

    found = dict(locals())
    found["np"] = np
    return found


def record(tf, call, folder):
    """{value, nodes} of one expression, run in that folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with tf.Graph().as_default() as graph:
            value = plain(eval(call, names(tf)))
            nodes = [
                "{} {}({})".format(n.name, n.op, ", ".join(n.input))
                for n in graph.as_graph_def().node
            ]
    finally:
        os.chdir(before)
    return {"value": value, "nodes": nodes}


if __name__ == "__main__":
    import tensorflow

    results = {}
    for call in calls():
        folder = tempfile.mkdtemp()
        make_files(tensorflow, folder)
        results[call] = record(tensorflow, call, folder)
    golden.write(sys.argv[-1], results)
