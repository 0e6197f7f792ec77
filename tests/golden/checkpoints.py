"""Checkpoints that real TensorFlow writes, small ones of each kind.

`python -m tests.golden.checkpoints` asks the oracle and writes the folder of this name.
The files tf1-5.* there are older: 2,000 variables `scope_<i mod 7>/v<i:04d>` =
arange(i mod 4 + 1), `strs`, `bf` and `part` in three slices.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")

# Runs in real TensorFlow; `values` is what tests expect.
VALUES = """
import numpy as np
values = {
    "bool": np.array([True, False, True]),
    "bytes": np.array([[b"a", b""], [b"x" * 300, b"\\x00\\xff"]], object),
    "complex": np.array([1 + 2j, -3j], np.complex64),
    "empty": np.zeros((0, 3), np.float32),
    "half": np.array([[0.5, -2.0]], np.float16),
    "int": np.array([[-5], [7]], np.int64),
    "scalar": np.float64(2.5),
    "zeros": np.zeros(3000, np.float32),
}
"""

WRITE = """
import sys
import tensorflow as tf

folder = sys.argv[1]
with tf.Session() as session:
    names = sorted(values)
    arrays = [values[name] for name in names]
    slices = [""] * len(names)
    parts = [np.full((2, 2), i, np.float32) for i in range(3)]
    specs = ["6 2 %d,2:-" % (2 * i) for i in range(3)]
    ops = tf.raw_ops
    session.run(ops.SaveV2(
        prefix=folder + "/all", tensor_names=names + ["part"] * 3,
        shape_and_slices=slices + specs, tensors=arrays + parts))
    for i, part in enumerate(("one", "two")):
        session.run(ops.SaveV2(
            prefix=folder + "/scratch/" + part, tensor_names=[part],
            shape_and_slices=[""], tensors=[np.arange(3) + i]))
    session.run(ops.MergeV2Checkpoints(
        checkpoint_prefixes=[folder + "/scratch/one", folder + "/scratch/two"],
        destination_prefix=folder + "/sharded"))
    old = [n for n in names if n not in ("empty", "half")]
    session.run(ops.SaveSlices(
        filename=folder + "/version_1", tensor_names=old + ["part"] * 3,
        shapes_and_slices=[""] * len(old) + specs,
        data=[values[n] for n in old] + parts))
"""


def main() -> None:
    from tests.conftest import find_oracle

    python = find_oracle()
    assert python is not None, "no TensorFlow 1.15: set TFTEACH_ORACLE"
    FOLDER.mkdir(exist_ok=True)
    subprocess.run([python, "-c", VALUES + WRITE, str(FOLDER)], check=True)


if __name__ == "__main__":
    main()
