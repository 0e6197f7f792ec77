"""Real TensorFlow's answer to GraphDefs: `import_with_tensorflow.py DIR FIRST`.

For each file DIR/<number>.pb from number FIRST on a line of JSON is printed: the
number, "ok" or the error's class, and the error's text.  Runs under the Python of
TensorFlow 1.15; damaged_graphs.py compares.
"""

import json
import os
import sys

import tensorflow as tf


def main(directory, first):
    numbers = sorted(int(name[:-3]) for name in os.listdir(directory))
    for number in numbers:
        if number < first:
            continue
        with open(os.path.join(directory, f"{number}.pb"), "rb") as file:
            data = file.read()
        answer = ["ok", ""]
        print(json.dumps({"begin": number}), flush=True)
        with tf.Graph().as_default() as graph:
            try:
                tf.import_graph_def(tf.GraphDef.FromString(data))
            except Exception as error:
                answer = [type(error).__name__, str(error)]
            left = len(graph.get_operations())
        print(json.dumps({"number": number, "answer": answer, "ops": left}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
