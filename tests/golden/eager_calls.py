"""What calls in eager programs return or raise in TensorFlow 1.15.

eager_calls/NAME.txt holds snippets of code, separated by empty lines: statements, and
an expression at the end.  With TensorFlow's Python,

    env -u PYTHONPATH $TFTEACH_ORACLE tests/golden/eager_calls.py [NAME ...]

writes the answers to eager_calls/NAME.json.
"""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")
# Numbers and addresses that differ from run to run.
CHANGING = [
    (re.compile(r"\bid=\d+, "), ""),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x"),
    (re.compile(r"Queue '[-0-9a-f]+'"), "Queue"),
    (re.compile(r"pyfunc_\d+"), "pyfunc"),
    (re.compile(r"\nTraceback (?s:.*)"), ""),
    (re.compile(r"\bnp\.(?:float|int|uint|str_|bytes_|bool_?)\d*\(([^()]*)\)"), r"\1"),
    (re.compile(r"All kernels registered.*(?= \[Op:)", re.DOTALL), ""),
    (re.compile(r"\b(?:tfteach|tensorflow)(?:\.\w+)+\.(\w+)"), r"\1"),
]


def snippets(name):
    """The snippets of a file, in order."""
    text = (FOLDER / (name + ".txt")).read_text()
    return [part.strip("\n") for part in re.split(r"\n\s*\n", text) if part.strip()]


def shown(value):
    """A result as text, in which floats have six digits."""
    if isinstance(value, dict):
        items = [f"{key!r}: {shown(value[key])}" for key in sorted(value, key=str)]
        return "{" + ", ".join(items) + "}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if hasattr(value, "numpy") and hasattr(value, "shape"):
        return f"{value.dtype.base_dtype.name}{value.shape} {shown(value.numpy())}"
    if hasattr(value, "tolist") and hasattr(value, "ndim"):
        return shown(value.tolist())
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def answer(tf, snippet):
    """What a snippet returns, or the class and message of its error."""
    lines = snippet.split("\n")
    start = max(i for i, line in enumerate(lines) if line[:1] not in " )]}\t")
    import numpy as np

    names = {"tf": tf, "tfe": tf.contrib.eager, "np": np}
    try:
        exec("\n".join(lines[:start]), names)
        found = shown(eval("\n".join(lines[start:]), names))
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        found = f"{type(error).__name__}: {message}"
    for pattern, replacement in CHANGING:
        found = pattern.sub(replacement, found)
    return found


def main(names):
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity("ERROR")
    tf.compat.v1.enable_eager_execution()
    for name in names or sorted(path.stem for path in FOLDER.glob("*.txt")):
        answers = []
        for snippet in snippets(name):
            tf.compat.v1.reset_default_graph()  # names and collections start anew
            answers.append(answer(tf, snippet))
        text = json.dumps(answers, indent=0, ensure_ascii=False)
        (FOLDER / (name + ".json")).write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
