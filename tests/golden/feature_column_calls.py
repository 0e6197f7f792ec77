"""Columns as they print, and what is refused, in real TF 1.15.

feature_column_calls.json has calls with the result's `repr`, or the error's class and
message, without addresses, names of modules and the source of errors in runs.
`python -m tests.golden.feature_column_calls`, with TensorFlow's Python, answers all
anew; add a call with any answer.
"""

import json
import re
from pathlib import Path

import numpy as np

from tests.golden.composites import inner

_MODULES = {
    "v1": "feature_column",
    "v2": "feature_column_v2",
    "seq": "sequence_feature_column",
    "ser": "serialization",
}
_CONTRIB = "contrib.layers.python.layers.feature_column"
PATH = Path(__file__).with_suffix(".json")


def answer(tf, call):
    """What a call returns or raises, as text."""
    fc, old = tf.feature_column, tf.contrib.feature_column
    layers = tf.contrib.layers
    names = {
        "tf": tf, "fc": fc, "old": old, "np": np, "num": fc.numeric_column,
        "cl": layers,
        "rv": layers.real_valued_column,
        "hb": layers.sparse_column_with_hash_bucket,
        "ident": fc.categorical_column_with_identity,
        **{
            short: inner(tf, f"feature_column.{module}")
            for short, module in _MODULES.items()
        },
        "inner": inner(tf, _CONTRIB), "ops": inner(tf, f"{_CONTRIB}_ops"),
    }  # fmt: skip
    with tf.Graph().as_default():
        try:
            return plain(repr(eval(call, names)))
        except Exception as error:
            return plain(f"{type(error).__name__}: {error}")


def plain(text):
    """Text without addresses, modules and all but its first line."""
    text = re.sub(r" object at 0x[0-9a-f]+", "", text)
    text = re.sub(r"\b(tensorflow|tfteach)(\.\w+)*\.(\w+)", r"\3", text)
    return re.sub(r"'_?(Sequence|Identity|Hashed)", r"'\1", text).split("\n")[0][:700]


if __name__ == "__main__":
    import tensorflow

    found = {call: answer(tensorflow, call) for call in json.loads(PATH.read_text())}
    PATH.write_text(json.dumps(found, indent=1) + "\n")
