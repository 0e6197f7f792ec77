"""SavedModels of real TensorFlow, and what they compute.

`python saved_models.py OUT.json` writes those that TensorFlow 1.15 makes, and with 2.x
one whose graph calls functions; `... OUT.json v1` those of 2.x's compat.v1.
tests/lib/saved_model loads them, and lets real TensorFlow load ours.
"""

import base64
import json
import os
import sys
import tempfile
import zlib

WORDS = ["b", "d", "no such word", "a"]
NUMBERS = [[1.0, -2.0], [0.5, 0.25]]


def write_vocabulary(folder):
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write("a\nb\nc\nd\n")
    return path


def look_up(tf, vocabulary):
    """A table of an asset, and a row for each word: a variable of either kind."""
    words = tf.placeholder(tf.string, [None], name="words")
    table = tf.contrib.lookup.index_table_from_file(vocabulary, default_value=4)
    rows = tf.get_variable(
        "rows", initializer=[[float(i), i * 0.5] for i in range(5)], use_resource=True
    )
    scale = tf.get_variable("scale", initializer=[2.0, 3.0])
    result = tf.gather(rows, table.lookup(words)) * scale
    tf.identity(result, name="result")
    return words, result


def train(tf, session, result):
    """Change the variables: a model that no initializer gives."""
    loss = tf.reduce_sum(tf.square(result), name="loss")
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss, name="train")
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    for _ in range(3):
        session.run(step, {"words:0": WORDS})


def save_trained(tf, folder, vocabulary, as_text=False):
    """Two MetaGraphs: "serve", and "train" with the optimizer's nodes."""
    model = tf.saved_model
    builder = model.Builder(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        words, result = look_up(tf, vocabulary)
        train(tf, session, result)
        builder.add_meta_graph_and_variables(
            session,
            ["train"],
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        wanted = session.run(result, {words: WORDS})
    with tf.Graph().as_default():
        words, result = look_up(tf, vocabulary)
        signature = model.predict_signature_def({"words": words}, {"result": result})
        with tf.device("/gpu:7"):
            double = tf.identity(result * 2, name="double")
        other = model.predict_signature_def({"words": words}, {"double": double})
        builder.add_meta_graph(
            [model.SERVING],
            {model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature, "double": other},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
            clear_devices=True,
            strip_default_attrs=True,
        )
    builder.save(as_text)
    return wanted.tolist()


def save_simply(tf, folder):
    """One signature, variables of either kind and partitioned, a local one."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]])
        b = tf.get_variable("b", initializer=[0.5, 0.25], use_resource=True)
        part = tf.get_variable(
            "part", [2, 2], initializer=tf.ones_initializer(),
            partitioner=tf.fixed_size_partitioner(2),
        )  # fmt: skip
        y = tf.nn.relu(tf.matmul(x, w) + b + tf.matmul(x, tf.convert_to_tensor(part)))
        y = tf.identity(y, name="y")
        session.run(tf.global_variables_initializer())
        session.run(w.assign([[1.5, -2.0], [0.0, 1.0]]))
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
        return session.run(y, {x: NUMBERS}).tolist()


PIXELS = [[[[1.0, -2.0]], [[0.5, 3.0]]], [[[-1.0, 0.0]], [[2.0, 1.0]]]]


def save_normalized(tf, folder):
    """A model with batch normalization, an optimizer and a variable in parts."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2, 1, 2], name="x")
        ones, zeros = tf.ones_initializer(), tf.zeros_initializer()
        scale = tf.get_variable("scale", [2], initializer=ones)
        offset = tf.get_variable("offset", [2], initializer=zeros, use_resource=True)
        moving = [
            tf.get_variable(name, [2], initializer=initializer, trainable=False)
            for name, initializer in (("mean", zeros), ("variance", ones))
        ]
        trained, mean, variance = tf.nn.fused_batch_norm(x, scale, offset)
        fixed, _, _ = tf.nn.fused_batch_norm(
            x, scale, offset, *moving, is_training=False
        )
        parts = tf.get_variable(
            "parts",
            [4, 1],
            initializer=ones,
            partitioner=tf.fixed_size_partitioner(2),
            use_resource=True,
        )
        y = tf.matmul(tf.reshape(fixed, [-1, 4]), parts, name="y")
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(trained * trained * trained)
        loss = tf.identity(loss, name="loss")
        train = tf.train.AdamOptimizer(0.1).minimize(loss, name="train")
        with tf.control_dependencies([train]):
            updates = [
                tf.assign(old, 0.5 * old + 0.5 * new)
                for old, new in zip(moving, (mean, variance))
            ]
        tf.group(*updates, name="step")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
        return train_on(session)


def train_on(session):
    """The losses of four steps."""
    steps = [session.run(["loss:0", "step"], {"x:0": PIXELS}) for _ in range(4)]
    return [float(loss) for loss, _ in steps]


def predict(tf, folder, feeds, key="serving_default", tags=("serve",)):
    """What a signature of a SavedModel computes."""
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.load(session, list(tags), folder)
        signature = meta_graph.signature_def[key]
        [output] = signature.outputs.values()
        named = {signature.inputs[name].name: value for name, value in feeds.items()}
        return session.run(output.name, named).tolist()


def save_functions(tf, folder):
    """What TensorFlow 2 writes: a graph of calls, with a library."""

    class Model(tf.Module):
        def __init__(self):
            self.w = tf.Variable([[1.0], [2.0]], name="w")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def predict(self, x):
            return {"y": tf.matmul(x, self.w)}

    model = Model()
    tf.saved_model.save(model, folder, {"serving_default": model.predict})
    return model.predict(tf.constant(NUMBERS))["y"].numpy().tolist()


def packed(folder):
    files = {}
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                data = zlib.compress(file.read(), 9)
            files[os.path.relpath(path, folder)] = base64.b64encode(data).decode()
    return files


def main(path, as_version_1=""):
    import tensorflow as tf

    rows = {}
    if os.path.exists(path):
        with open(path) as file:
            rows = json.load(file)
    with tempfile.TemporaryDirectory() as scratch:
        vocabulary = write_vocabulary(scratch)
        models = {
            "trained": lambda folder: save_trained(tf, folder, vocabulary),
            "text": lambda folder: save_trained(tf, folder, vocabulary, True),
            "simple": lambda folder: save_simply(tf, folder),
        }
        if tf.__version__.startswith("2"):
            models = {"functions": lambda folder: save_functions(tf, folder)}
            if as_version_1:
                tf.compat.v1.disable_v2_behavior()
                models = {
                    "later": lambda folder: save_simply(tf.compat.v1, folder),
                    "normalized": lambda folder: save_normalized(tf.compat.v1, folder),
                }
        for name, save in models.items():
            folder = os.path.join(scratch, name)
            result = save(folder)
            rows[name] = {"files": packed(folder), "result": result}
    with open(path, "w") as file:
        json.dump(rows, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
