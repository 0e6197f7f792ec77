"""SavedModels of objects with functions, of real TensorFlow, and what they compute.

`python object_models.py OUT.json` writes the one that TensorFlow 1.15 makes, and with
2.x, if OUT.json exists, adds its own.  tests/lib/saved_model loads them, and lets real
TensorFlow load ours.
"""

import base64
import collections
import json
import os
import sys
import tempfile
import zlib

Pair = collections.namedtuple("Pair", "sum, more")
WORDS = ["a", "cat", "no such word"]


def make(tf, vocabulary):
    """A module with all kinds of attributes and functions.

    Args:
      tf: TensorFlow, which executes eagerly.
      vocabulary: the path of a file that is written.
    """
    with open(vocabulary, "w") as file:
        file.write("the\ncat\nsat\n")

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], name="w")
            self.count = tf.Variable(0, trainable=False, name="count")
            self.parts = [tf.Variable(2.0), {"k": tf.Variable(3.0)}]
            entries = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
            self.numbers = tf.lookup.StaticHashTable(entries, -1)
            lines = tf.lookup.TextFileInitializer(
                vocabulary,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            )
            self.words = tf.lookup.StaticHashTable(lines, -1)
            self.large = tf.range(200.0)

        @tf.function
        def __call__(self, x, training=False, scale=1.0):
            y = tf.matmul(x, self.w)
            if training:
                self.count.assign_add(1)
                y = y * 2.0
            return {"y": y * scale, "pair": Pair(y + 1.0, [y])}

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def serve(self, x):
            return self(x)["y"]

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def collatz(self, n):
            steps = tf.constant(0)
            while n > 1:
                steps += 1
                if tf.equal(n % 2, 0):
                    n = n // 2
                    continue
                n = 3 * n + 1
            return steps

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look_up(self, keys):
            return self.numbers.lookup(keys), self.words.lookup(keys)

        @tf.function
        def many(self, x, *rest, k=2):
            total = x * k * self.parts[0] * self.parts[1]["k"]
            return [total + tf.reduce_sum(self.large), list(rest)]

    model = Model()
    use(tf, model)
    return model


def use(tf, model):
    """Call the functions: what they compute, nested as they nest it."""
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = model.serve(x)
    return [
        model(x),
        model(x, True),
        model(x, training=True, scale=1.0),
        model.serve([[1.0, 0.0], [0.0, 1.0]]),
        model.collatz(27),
        model.look_up(WORDS),
        model.many(tf.constant(1.0), x, k=3),
        tape.gradient(y, model.w),
        model.parts[0] + model.parts[1]["k"],
    ]


def save(tf, folder):
    """Write the SavedModel, whose variables are not those of a new model."""
    vocabulary = os.path.join(os.path.dirname(folder), "vocabulary.txt")
    model = make(tf, vocabulary)
    model.w.assign_add(tf.ones([2, 3]))
    model.parts[0].assign(5.0)
    signatures = {"serving_default": model.serve, "words": model.look_up}
    saved_model(tf).save(model, folder, signatures)


def saved_model(tf):
    """The functions of TensorFlow 2, under TensorFlow 1's name for `load`."""
    if not hasattr(tf.saved_model, "load_v2"):
        tf.saved_model.load_v2 = tf.saved_model.load
    return tf.saved_model


def answers(tf, folder):
    """What a loaded model computes, as lists."""
    model = saved_model(tf).load_v2(folder)
    found = use(tf, model)
    found.append(model.signatures["serving_default"](x=tf.constant([[2.0, 2.0]])))
    found.append(model.signatures["words"](tf.constant(["b", "sat"])))
    flat = tf.nest.flatten(found)
    return [tensor.numpy().tolist() for tensor in flat]


def served(tf, folder):
    """What sessions compute with the same SavedModel, as lists."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        load = tf.compat.v1.saved_model.loader.load
        signatures = load(session, ["serve"], folder).signature_def
        found = []
        for key, value in (("serving_default", [[2.0, 2.0]]), ("words", ["b", "sat"])):
            [given] = signatures[key].inputs.values()
            outputs = sorted(signatures[key].outputs.items())
            names = [info.name for _, info in outputs]
            found += session.run(names, {given.name: value})
    return [array.tolist() for array in found]


def packed(folder):
    """The files of a folder."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                data = base64.b64encode(zlib.compress(file.read(), 9)).decode()
            found[os.path.relpath(path, folder)] = data
    return found


def unpacked(files, folder):
    """Write what `packed` returned to a folder, a Path; its path as text."""
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(zlib.decompress(base64.b64decode(data)))
    return str(folder)


def main(path):
    import tensorflow as tf

    known = {}
    if tf.__version__.startswith("1."):
        tf.compat.v1.enable_v2_behavior()
    else:
        with open(path) as file:
            known = json.load(file)
    folder = os.path.join(tempfile.mkdtemp(), "model")
    save(tf, folder)
    found = {"files": packed(folder), "answers": answers(tf, folder)}
    found["served"] = served(tf, folder)
    known[tf.__version__] = found
    with open(path, "w") as file:
        json.dump(known, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
