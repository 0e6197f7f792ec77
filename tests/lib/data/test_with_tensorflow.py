"""Real TensorFlow runs our graphs with datasets, and reads the caches that we write."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.forked_programs import Forks

RUN_GRAPH = """
import json, sys
import tensorflow as tf
graph_def = tf.GraphDef.FromString(open(sys.argv[1], "rb").read())
tf.import_graph_def(graph_def, name="")
graph = tf.get_default_graph()
one = graph.get_tensor_by_name("one:0")
begin = graph.get_operation_by_name("MakeIterator")
two = graph.get_tensor_by_name("two:0")
found = []
with tf.Session() as session:
    session.run(begin)
    for element in (one, two):
        try:
            while True:
                found.append(session.run(element).tolist())
        except tf.errors.OutOfRangeError:
            found.append("end")
print(json.dumps(found))
"""
READ_CACHE = """
import json, sys
import tensorflow as tf
dataset = tf.data.Dataset.from_tensors((tf.zeros([], tf.int64), ""))
dataset = dataset.cache(sys.argv[1])
element = dataset.make_one_shot_iterator().get_next()
found = []
with tf.Session() as session:
    try:
        while True:
            number, text = session.run(element)
            found.append([int(number), text.decode()])
    except tf.errors.OutOfRangeError:
        print(json.dumps(found))
"""


def asked(tensorflow: Forks, program: str, path: Path) -> list[object]:
    return list(json.loads(tensorflow.run(program, str(path)).splitlines()[-1]))


def ours(graph: tf.Graph) -> list[object]:
    found: list[object] = []
    with tf.Session(graph=graph) as session:
        session.run("MakeIterator")
        for name in ("one:0", "two:0"):
            try:
                while True:
                    found.append(session.run(name).tolist())
            except tf.errors.OutOfRangeError:
                found.append("end")
    return found


@pytest.mark.oracle
def test_tensorflow_runs_our_datasets(tmp_path: Path, tensorflow: Forks) -> None:
    with tf.Graph().as_default() as graph:
        scale = tf.constant(10, tf.int64)
        dataset = tf.data.Dataset.range(20).shuffle(7, seed=3).repeat(2)
        dataset = dataset.map(lambda i: i * scale).filter(lambda i: i > 30)
        one = dataset.padded_batch(4, []).prefetch(1).make_one_shot_iterator()
        tf.identity(one.get_next(), name="one")
        nested = dataset.window(5).flat_map(lambda window: window.batch(5))
        two = nested.interleave(tf.data.Dataset.from_tensor_slices, 2)
        tf.identity(two.make_initializable_iterator().get_next(), name="two")
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    assert ours(graph) == asked(tensorflow, RUN_GRAPH, path)


@pytest.mark.oracle
def test_tensorflow_reads_our_cache(tmp_path: Path, tensorflow: Forks) -> None:
    prefix = tmp_path / "cache"
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(12).map(lambda i: (i, tf.as_string(i * i)))
        element = dataset.cache(str(prefix)).make_one_shot_iterator().get_next()
        for i in range(12):
            assert session.run(element) == (np.int64(i), str(i * i).encode())
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
    assert asked(tensorflow, READ_CACHE, prefix) == [[i, str(i * i)] for i in range(12)]
