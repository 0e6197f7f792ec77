"""What TensorFlow 1.15 makes of GraphDefs as programs of 2016 wrote them.

`python -m tests.golden.old_graphs FILE`, with TensorFlow's Python, writes the answers
anew.  The graphs have readers, queues and tables whose handles are references to
strings; TensorFlow builds none of these anew, but imports and runs them.
"""

import os
import re
import sys
import tempfile

import numpy as np

from tests.golden import calls as golden
from tests.golden.input_calls import plain

PRODUCER = 9  # the version of such a graph
TEXT = b"head\none\ntwo\nlast"
RECORD_BYTES = 4

# What precedes the ops of each graph: the queue of the files' names.
QUEUE = """
names = Placeholder(dtype=string)
queue = FIFOQueue(component_types=[string], capacity=9)
fill = QueueEnqueueMany(queue, names, Tcomponents=[string])
close = QueueClose(queue)
"""
READ = """
read = ReaderRead(reader, queue)
records = ReaderNumRecordsProduced(reader)
files = ReaderNumWorkUnitsCompleted(reader)
reset = ReaderReset(reader)
"""
TABLE_IN = """
keys = Placeholder(dtype=string)
values = Placeholder(dtype=int64)
wanted = Placeholder(dtype=string)
default = Placeholder(dtype=int64)
"""
TABLE_OUT = """
find = LookupTableFind(table, wanted, default, Tin=string, Tout=int64)
size = LookupTableSize(table)
export = LookupTableExport(table, Tkeys=string, Tvalues=int64)
"""
READERS = (
    "reader = TextLineReader(skip_header_lines=1)",
    "reader = TextLineReader(shared_name='lines')",
    "reader = WholeFileReader()",
    "reader = IdentityReader()",
    "reader = TFRecordReader()",
    "reader = TFRecordReader(compression_type='GZIP')",
)
QUEUES = (
    "q = FIFOQueue(component_types=[int64, string], capacity=9)",
    "q = FIFOQueue(component_types=[int64, string], capacity=9, shared_name='mine')",
    "q = RandomShuffleQueue(component_types=[int64, string], shapes=[[], []], seed=3, "
    "seed2=4)",
    "q = PaddingFIFOQueue(component_types=[int64, string], shapes=[[], []])",
    "q = PriorityQueue(component_types=[string], shapes=[[]])",
)
TABLES = (
    "table = HashTable(key_dtype=string, value_dtype=int64)",
    "table = HashTable(key_dtype=string, value_dtype=int64, shared_name='shared')",
    "table = MutableHashTable(key_dtype=string, value_dtype=int64)",
)


class Dtype:
    """A type, by its name."""

    def __init__(self, name):
        self.name = name


class Types(dict):
    """What an attribute of a graph's text may name."""

    def __missing__(self, name):
        return Dtype(name)


def graph_def(tf, text):
    """The GraphDef of lines `name = Op(input, ..., attribute=value, ...)`."""
    graph = tf.GraphDef()
    graph.versions.producer = PRODUCER
    for line in text.strip().splitlines():
        name, op, arguments = re.match(r"(\w+) = (\w+)\((.*)\)$", line).groups()
        node = graph.node.add()
        node.name, node.op = name, op
        split = re.match(r"((?:\w+(?::\d)?(?:, |$)(?!=))*)(.*)", arguments)
        node.input.extend(one for one in split.group(1).split(", ") if one)
        for key, value in eval(f"dict({split.group(2)})", Types(dict=dict)).items():
            set_attribute(tf, node.attr[key], value)
    return graph


def set_attribute(tf, attribute, value):
    if isinstance(value, Dtype):
        attribute.type = getattr(tf, value.name).as_datatype_enum
    elif isinstance(value, list) and isinstance(value[0], Dtype):
        attribute.list.type.extend(
            [getattr(tf, one.name).as_datatype_enum for one in value]
        )
    elif isinstance(value, list):
        for shape in value:
            added = attribute.list.shape.add()
            for size in shape:
                added.dim.add().size = size
    elif isinstance(value, tuple):  # one shape
        for size in value:
            attribute.shape.dim.add().size = size
    elif isinstance(value, int):
        attribute.i = value
    else:
        attribute.s = value.encode()


def error_of(error):
    """Class and first line of the message, without the numbers of resources."""
    text = getattr(error, "message", None) or str(error)
    return [type(error).__name__, re.sub(r"\b_\d+_", "_0_", text.split("\n")[0])]


def seen(call, *arguments):
    try:
        return plain(call(*arguments))
    except Exception as error:
        return error_of(error)


def imported(tf, text):
    """A session on the graph, and its nodes with types and static shapes."""
    tf.import_graph_def(graph_def(tf, text), name="")
    nodes = [
        [op.name, op.type, [[t.dtype.name, str(t.shape)] for t in op.outputs]]
        for op in tf.get_default_graph().get_operations()
    ]
    return tf.Session(), nodes


def reference(session, name):
    """The value of a handle, without its number."""
    return [re.sub(r"^_\d+_", "_0_", part.decode()) for part in session.run(name)]


def reads(tf, reader, names, up_to=None):
    text = QUEUE + reader + READ
    if up_to is not None:
        text += "count = Placeholder(dtype=int64)\n"
        text += "read_some = ReaderReadUpTo(reader, queue, count)\n"
    session, nodes = imported(tf, text)
    session.run("fill", {"names:0": names})
    session.run("close")
    found = [reference(session, "reader:0"), reference(session, "queue:0")]
    fetched = ["read:0", "read:1"] if up_to is None else ["read_some:0", "read_some:1"]
    for _ in range(12):
        feeds = {} if up_to is None else {"count:0": up_to}
        found.append(seen(session.run, fetched, feeds))
        if found[-1][0] == "OutOfRangeError":
            break
    found.append(seen(session.run, ["records:0", "files:0"]))
    session.run("reset")
    found.append(seen(session.run, ["records:0", "files:0"]))
    return [nodes, found]


def restores(tf, reader):
    text = QUEUE + reader + READ
    text += "state = ReaderSerializeState(reader)\nold = Placeholder(dtype=string)\n"
    text += "restore = ReaderRestoreState(reader, old)\n"
    session, nodes = imported(tf, text)
    session.run("fill", {"names:0": [b"a.txt", b"a.txt"]})
    found = [seen(session.run, ["read:0", "read:1"])]
    state = seen(session.run, "state:0")
    found.append(state)
    if not isinstance(state, list):
        raw = session.run("state:0")
        session.run("reset")
        session.run("restore", {"old:0": raw})
        found.append(seen(session.run, ["records:0", "files:0"]))
    found.append(seen(session.run, "restore", {"old:0": b"bad"}))
    return [nodes, found]


def queues(tf, queue):
    text = (
        queue
        + """
number = Placeholder(dtype=int64)
word = Placeholder(dtype=string)
numbers = Placeholder(dtype=int64)
words = Placeholder(dtype=string)
put = QueueEnqueue(q, number, word, Tcomponents=[int64, string])
put_all = QueueEnqueueMany(q, numbers, words, Tcomponents=[int64, string])
count = Placeholder(dtype=int32)
get = QueueDequeue(q, component_types=[int64, string])
get_many = QueueDequeueMany(q, count, component_types=[int64, string])
get_rest = QueueDequeueUpTo(q, count, component_types=[int64, string])
size = QueueSize(q)
close = QueueClose(q)
"""
    )
    session, nodes = imported(tf, text)
    session.run("put", {"number:0": 5, "word:0": b"five"})
    session.run("put_all", {"numbers:0": [3, 8, 1, 4], "words:0": list("abcd")})
    found = [reference(session, "q:0"), seen(session.run, "size:0")]
    found.append(seen(session.run, ["get:0", "get:1"]))
    for name, count in (("get_many", 2), ("get_rest", 9), ("get_many", 1)):
        if name == "get_rest":
            session.run("close")
        fetched = [name + ":0", name + ":1"]
        found.append(seen(session.run, fetched, {"count:0": count}))
    found.append(seen(session.run, "put", {"number:0": 5, "word:0": b"five"}))
    return [nodes, found]


def tables(tf, table):
    text = TABLE_IN + table + TABLE_OUT
    is_mutable = "Mutable" in table
    if is_mutable:
        text += "fill = LookupTableInsert(table, keys, values, Tin=string, Tout=int64)"
    else:
        text += "fill = InitializeTable(table, keys, values, Tkey=string, Tval=int64)"
    session, nodes = imported(tf, text)
    feeds = {"wanted:0": [b"b", b"x"], "default:0": -1}
    found = [reference(session, "table:0")]
    found.append(seen(session.run, ["find:0", "size:0"], feeds))
    data = {"keys:0": [b"a", b"b", b"c"], "values:0": [10, 20, 30]}
    found.append(seen(session.run, "fill", data))
    found.append(seen(session.run, ["find:0", "size:0"], feeds))
    keys, values = session.run(["export:0", "export:1"])
    found.append(sorted([key.decode(), int(n)] for key, n in zip(keys, values)))
    other = {"keys:0": [b"b"], "values:0": [7]}
    found.append(seen(session.run, "fill", other))
    found.append(seen(session.run, ["find:0", "size:0"], feeds))
    return [nodes, found]


def vocabulary(tf):
    text = TABLE_IN + TABLES[0] + TABLE_OUT
    text += "file = Placeholder(dtype=string)\n"
    text += "fill = InitializeTableFromTextFile(table, file, key_index=-2, "
    text += "value_index=-1)\n"
    session, nodes = imported(tf, text)
    session.run("fill", {"file:0": b"a.txt"})
    feeds = {"wanted:0": [b"two", b"x"], "default:0": -1}
    return [nodes, plain(session.run(["find:0", "size:0"], feeds))]


def vectors(tf):
    text = (
        "table = MutableHashTableOfTensors(key_dtype=int64, value_dtype=float32, "
        "value_shape=(2,))"
    )
    text += """
keys = Placeholder(dtype=int64)
values = Placeholder(dtype=float32)
default = Placeholder(dtype=float32)
insert = LookupTableInsert(table, keys, values, Tin=int64, Tout=float32)
find = LookupTableFind(table, keys, default, Tin=int64, Tout=float32)
restore = LookupTableImport(table, keys, values, Tin=int64, Tout=float32)
"""
    session, nodes = imported(tf, text)
    two = {"keys:0": [1, 2], "values:0": np.array([[1, 2], [3, 4]], "f")}
    asked = {"keys:0": [2, 3], "default:0": np.array([0, 9], "f")}
    found = []
    for name, data in (("insert", two), ("restore", {**two, "keys:0": [3, 4]})):
        found.append(seen(session.run, name, data))
        found.append(seen(session.run, "find:0", asked))
    return [nodes, found]


FILES = {
    "WholeFileReader": ["a.txt", "b.txt"],
    "IdentityReader": ["one", "two"],
    "TFRecordReader": ["r.tfrecord"],
    "TFRecordReader(compression": ["r.gz"],
    "TextLineReader": ["a.txt", "b.txt", "missing.txt"],
}


def scenarios():
    """name -> a function of TensorFlow."""
    found = {}
    for reader in READERS:
        key = max((key for key in FILES if key in reader), key=len)
        for up_to in (None, 2):
            found[f"{reader} {up_to}"] = lambda tf, r=reader, f=FILES[key], n=up_to: (
                reads(tf, r, f, n)
            )
        found[reader + " state"] = lambda tf, r=reader: restores(tf, r)
    for queue in QUEUES:
        found[queue] = lambda tf, q=queue: queues(tf, q)
    for table in TABLES:
        found[table] = lambda tf, t=table: tables(tf, t)
    found["vocabulary"], found["vectors"] = vocabulary, vectors
    return found


def make_files(tf, folder):
    """Write what readers and tables read."""
    for name in ("a.txt", "b.txt"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(TEXT[: None if name == "a.txt" else 4])
    for name, kind in (("r.tfrecord", ""), ("r.gz", "GZIP")):
        with tf.python_io.TFRecordWriter(os.path.join(folder, name), kind) as writer:
            for record in (b"one", b"", b"three" * 9):
                writer.write(record)


def record(tf, scenario, folder):
    """What a scenario returns, run in that folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with tf.Graph().as_default():
            return plain(scenario(tf))
    finally:
        os.chdir(before)


if __name__ == "__main__":
    import tensorflow

    folder = tempfile.mkdtemp()
    make_files(tensorflow, folder)
    golden.write(
        sys.argv[-1],
        {
            name: record(tensorflow, scenario, folder)
            for name, scenario in scenarios().items()
        },
    )
