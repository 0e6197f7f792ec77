"""What a script prints and the graph it leaves: `python record.py script.py out.json`.

Run with an interpreter that has TensorFlow 1.15, it writes what TensorFlow does; with
tfteach, what tfteach does.  The files in oracle/ are TensorFlow 1.15.5's:

    for f in programs/*.py; do python record.py $f oracle/$(basename $f .py).json; done

Programs that read MNIST want it in the current folder: the digits that DIGITS below
says, drawn with `tfteach.examples.write_synthetic_mnist(**DIGITS)`.
"""

import contextlib
import io
import json
import runpy
import sys
import warnings

DIGITS = {"train_dir": "MNIST_data", "train_size": 400, "test_size": 100}


def node_line(node):
    """A node as `name = Type(inputs) @device`."""
    device = " @" + node.device if node.device else ""
    return "{} = {}({}){}".format(node.name, node.op, ", ".join(node.input), device)


def record(path):
    """Run a script; return its output, its nodes and its collections."""
    import tensorflow as tf

    printed = io.StringIO()
    graph = tf.Graph()
    ends = contextlib.suppress(SystemExit)  # tf.app.run ends with one
    with graph.as_default(), contextlib.redirect_stdout(printed), ends:
        runpy.run_path(path, run_name="__main__")
    collections = {
        str(key): [
            getattr(item, "name", str(item)) for item in graph.get_collection(key)
        ]
        for key in sorted(graph.get_all_collection_keys())
        if not key.endswith("_context")
    }
    return {
        "output": printed.getvalue().splitlines(),
        "nodes": [node_line(node) for node in graph.as_graph_def().node],
        "collections": collections,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 3:  # any third argument: tfteach is the TensorFlow to run with
        import tfteach

        tfteach.install_as_tensorflow()
    result = record(sys.argv[1])
    with open(sys.argv[2], "w") as file:
        json.dump(result, file, indent=0)
        file.write("\n")
