"""Models that real TensorFlow writes, small ones in each format.

`python -m tests.golden.model_files` asks the oracle and writes the folder of this name;
with the path of a Python that has TensorFlow 2 it writes the SavedModel of that, too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")

WRITE = """
import os, shutil, sys
import tensorflow as tf

folder = sys.argv[1] + "/"
with tf.Graph().as_default() as graph, tf.Session() as session:
    x = tf.placeholder(tf.float32, [None, 20], name="x")
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [20, 16])
        b = tf.get_variable("b", [16], initializer=tf.zeros_initializer(),
                            use_resource=True)
    y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
    numbers = tf.data.Dataset.range(4).map(lambda v: v * 2)
    tf.compat.v1.data.make_one_shot_iterator(numbers).get_next()
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver([w, b])
    saver.save(session, folder + "ckpt/model", 7)
    tf.io.write_graph(graph, folder, "graph.pbtxt")
    frozen = tf.graph_util.convert_variables_to_constants(
        session, graph.as_graph_def(), ["y"])
    tf.io.write_graph(frozen, folder, "frozen.pb", as_text=False)
    tf.saved_model.simple_save(session, folder + "saved", {"x": x}, {"y": y})
    tf.summary.FileWriter(folder + "logs", graph).close()
    os.rename(folder + "logs/" + os.listdir(folder + "logs")[0], folder + "events")
    os.rename(folder + "ckpt/model-7.meta", folder + "model.meta")
    shutil.rmtree(folder + "logs")
    shutil.rmtree(folder + "ckpt")
"""

WRITE_2 = """
import os, sys
import tensorflow as tf

class Model(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones([4, 3]), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def __call__(self, x):
        values, places = tf.nn.top_k(tf.matmul(x, self.w), 2)
        return {"best": places}

tf.saved_model.save(Model(), sys.argv[1] + "/tf2")

words = sys.argv[1] + "/words.txt"
with open(words, "w") as file:
    file.write("a\\nb\\nc\\n")

class Words(tf.Module):
    def __init__(self):
        line = tf.lookup.TextFileIndex
        self.table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            words, tf.string, line.WHOLE_LINE, tf.int64, line.LINE_NUMBER), 0)
        self.w = tf.Variable(tf.ones([3, 2]), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, text):
        rows = tf.gather(self.w, self.table.lookup(text))
        rows, _ = tf.while_loop(lambda rows, turn: turn < 5,
                                lambda rows, turn: (self.shrink(rows), turn + 1),
                                (rows, 0))
        rows = tf.cond(tf.reduce_sum(rows) > 0, lambda: rows * 2, lambda: -rows)
        return {"rows": rows}

    @tf.function
    def shrink(self, rows):
        return tf.tanh(rows)

tf.saved_model.save(Words(), sys.argv[1] + "/tf2_calls")
os.remove(words)
"""


def main() -> None:
    from tests.conftest import find_oracle

    python = find_oracle()
    assert python is not None, "no TensorFlow 1.15: set TFTEACH_ORACLE"
    FOLDER.mkdir(exist_ok=True)
    subprocess.run([python, "-c", WRITE, str(FOLDER)], check=True)
    for newer in sys.argv[1:]:
        subprocess.run([newer, "-c", WRITE_2, str(FOLDER)], check=True)


if __name__ == "__main__":
    main()
