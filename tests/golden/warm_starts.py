"""Variables that real TensorFlow 1.15 starts with a checkpoint of other vocabularies.

`python warm_starts.py warm_starts.json` with the oracle's Python asks it.  Each case is
a variable or two, made with arguments of `tf.train.warm_start` or an initializer; the
file has their values and the graph's nodes, or the error's first line.
tests/lib/files/test_warm_start.py compares.
"""

import json
import os
import re
import sys
import tempfile


def write_files(tf, np):
    """A checkpoint and its vocabularies, in the current folder."""
    for name, words in (("old", "abcd"), ("new", "cxayb"), ("same", "abc")):
        with open(name, "w") as file:
            file.write("".join(word + "\n" for word in words))
    matrix = np.arange(12, dtype=np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("emb", initializer=matrix.reshape(4, 3))
        tf.get_variable("soft", initializer=matrix.reshape(3, 4) * 10)
        tf.get_variable("bias", initializer=np.float32([1, 2]))
        tf.get_variable("classes", initializer=np.float32([[1], [2], [3], [4]]))
        parts = tf.fixed_size_partitioner(3)
        tf.get_variable("part", [6, 2], tf.float32, tf.ones_initializer(), None, True,
                        None, None, parts)  # fmt: skip
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "./ck", write_meta_graph=False)


# (variables: name -> arguments of get_variable, arguments of warm_start)
WARM_STARTS = {
    "rows": ("emb=dict(shape=[6, 3]), bias=dict(shape=[2])",
             "var_name_to_vocab_info={'emb': V('new', 5, 1, 'old', -1, ones)}"),
    "only those with a vocabulary": (
        "emb=dict(shape=[5, 3]), bias=dict(shape=[2], initializer=ones)",
        "None, {'emb': V('new', 5, 0, 'old', 2)}"),
    "buckets in parts of their own": (
        "emb=dict(shape=[8, 3], partitioner=P(4))",
        "'.*', {'emb': V('new', 5, 3, 'old', backup_initializer=ones)}"),
    "resources in parts": (
        "emb=dict(shape=[7, 3], partitioner=P(3), use_resource=True)",
        "'emb', {'emb': V('new', 5, 2, 'old', backup_initializer=ones)}"),
    "columns": (
        "soft=dict(shape=[3, 7])",
        "'.*', {'soft': V('new', 5, 2, 'old', -1, ones, axis=1)}"),
    "columns in parts": (
        "soft=dict(shape=[3, 5], partitioner=P(2))",
        "'.*', {'soft': V('new', 5, 0, 'old', 3, axis=1)}"),
    "renamed": (
        "w=dict(shape=[5, 3]), n=dict(shape=[2])",
        "'.*', {'w': V('new', 5, 0, 'old')}, {'w': 'emb', 'n': 'bias'}"),
    "expressions": (
        "emb=dict(shape=[5, 3], trainable=False), bias=dict(shape=[2]), "
        "bax=dict(shape=[2], initializer=ones)",
        "['e.*', 'bias'], {'emb': V('new', 5, 0, 'old')}"),
    "part of the new vocabulary": (
        "emb=dict(shape=[2, 3])", "'.*', {'emb': V('new', 3, 0, 'old')}"),
    "vector": ("bias=dict(shape=[5])", "'.*', {'bias': V('new', 5, 0, 'old')}"),
    "unused vocabulary": (
        "bias=dict(shape=[2])", "'.*', {'biax': V('new', 5, 0, 'old')}"),
    "unused name": ("bias=dict(shape=[2])", "'.*', None, {'biax': 'x'}"),
    "too few rows": ("emb=dict(shape=[5, 3])", "'.*', {'emb': V('new', 3, 0, 'old')}"),
    "other width": ("emb=dict(shape=[5, 4])", "'.*', {'emb': V('new', 5, 0, 'old')}"),
    "no old file": ("emb=dict(shape=[5, 3])", "'.*', {'emb': V('new', 5, 0, '')}"),
    "no initializer": (
        "emb=dict(shape=[5, 3])", "'.*', {'emb': V('new', 5, 0, 'old', -1, 3)}"),
    "float64": (
        "emb=dict(shape=[5, 3], dtype=tf.float64)",
        "'.*', {'emb': V('new', 5, 0, 'old')}"),
    "axis 2": ("emb=dict(shape=[5, 3])", "'.*', {'emb': V('n', 5, 0, 'o', axis=2)}"),
}  # fmt: skip

# (initializer, arguments of get_variable)
INITIALIZERS = {
    "both axes": ("matrix('./ck', 'emb', 5, 3, -1, 'old', 'new', 'same', 'same', 1, 1,"
                  " ones)", "[6, 4]"),
    "no vocabulary": ("matrix('./ck', 'emb', 5, 3)", "[5, 3]"),
    "one file": ("matrix('./ck', 'emb', 5, 3, -1, 'old')", "[5, 3]"),
    "one file of columns": (
        "matrix('./ck', 'emb', 5, 3, new_col_vocab_file='new')", "[5, 3]"),
    "negative buckets": (
        "matrix('./ck', 'emb', 5, 3, -1, 'old', 'new', num_col_oov_buckets=-1)",
        "[5, 2]"),
    "another type": (
        "matrix('./ck', 'emb', 5, 3, -1, 'old', 'new')", "[5, 3], tf.float64"),
    "a vector": ("matrix('./ck', 'emb', 5, 3, -1, 'old', 'new')", "[5]"),
    "no rows": ("matrix('./ck', 'emb', 5, 3, -1, 'old', 'new')", "[0, 3]"),
    "too many rows": ("matrix('./ck', 'emb', 5, 3, -1, 'old', 'new')", "[6, 3]"),
    "no function": ("matrix('./ck', 'emb', 5, 3, -1, 'old', 'new', initializer=3)",
                    "[0, 3]"),
    "parts": ("matrix('./ck', 'emb', 5, 3, -1, 'old', 'new', num_row_oov_buckets=2,"
              " initializer=ones, max_rows_in_memory=1)", "[7, 3], partitioner=P(2)"),
    "parts of the checkpoint's": (
        "matrix('./ck', 'part', 4, 2, -1, 'old', 'old', max_rows_in_memory=1)",
        "[4, 2]"),
    "embedding": ("F.load_embedding_initializer('./ck', 'emb', 3, 3, 'old', 'old')",
                  "[3, 3]"),
    "biases": ("F.load_linear_multiclass_bias_initializer('./ck', 'classes', 5, 'old',"
               " 'new', 1)", "[6, 1]"),
    "slot": ("F.load_variable_slot_initializer('./ck', 'emb', None, 5, 3, 'old', 'new',"
             " initializer=ones)", "[5, 3]"),
}  # fmt: skip


def names(tf):
    return {
        "tf": tf,
        "V": tf.train.VocabInfo,
        "P": tf.fixed_size_partitioner,
        "F": tf.contrib.framework,
        "matrix": tf.contrib.framework.load_and_remap_matrix_initializer,
        "ones": tf.ones_initializer(),
    }


def warm_started(tf, case):
    variables, arguments = WARM_STARTS[case]
    known = names(tf)
    for name, options in eval(f"dict({variables})", known).items():
        tf.get_variable(name, **options)
    eval(f"tf.train.warm_start('./ck', {arguments})", known)


def initialized(tf, case):
    initializer, arguments = INITIALIZERS[case]
    known = dict(names(tf), call=lambda *a, **k: (a, k))
    a, k = eval(f"call({arguments})", known)
    tf.get_variable("v", *a, initializer=eval(initializer, known), **k)


def outcome(tf, build, case):
    """The variables' values and the nodes, or the error."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        try:
            build(tf, case)
            ops = graph.get_operations()
            nodes = " ".join(f"{op.name}:{op.type}" for op in ops)
            session.run(tf.global_variables_initializer())
            values = {v.op.name: session.run(v).tolist() for v in tf.global_variables()}
        except Exception as error:
            line = re.sub(r" \(defined at .*", "", str(error).split("\n")[0])
            return {"error": f"{type(error).__name__}: {line}"}
        return {"values": values, "nodes": nodes}


def main(path):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import numpy as np
    import tensorflow as tf

    tf.logging.set_verbosity("ERROR")
    target = os.path.abspath(path)
    os.chdir(tempfile.mkdtemp())
    write_files(tf, np)
    found = {
        "warm_starts": {c: outcome(tf, warm_started, c) for c in WARM_STARTS},
        "initializers": {c: outcome(tf, initialized, c) for c in INITIALIZERS},
    }
    tables = [
        f'"{name}": {{\n'
        + ",\n".join(f"{json.dumps(case)}: {json.dumps(row)}" for case, row in rows)
        + "\n}"
        for name, rows in ((name, table.items()) for name, table in found.items())
    ]
    with open(target, "w") as file:
        file.write("{\n" + ",\n".join(tables) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
