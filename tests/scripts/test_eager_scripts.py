"""Eager programs as users of TensorFlow 1 write them print what they do in TensorFlow.

`eager/NAME.out` holds what TensorFlow 1.15.5 printed:

    env -u PYTHONPATH $TFTEACH_ORACLE eager/NAME.py > eager/NAME.out
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forked_programs import forked_programs
from tests.scripts.test_scripts import HERE, assert_same_line

PROGRAMS = sorted((HERE / "eager").glob("*.py"))


RUN = """
import os, pathlib
from tfteach.compat.running.run import run
os.chdir({folder!r})
run(pathlib.Path({program!r}), [])
"""
Printed = Callable[[Path], list[str]]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Printed]:
    """What a program prints when `python -m tfteach run` runs it, as lines."""
    with forked_programs(tmp_path_factory.mktemp("printed")) as forks:
        yield lambda program: forks.run(
            RUN.format(folder=str(program.parent), program=str(program))
        ).splitlines()


def assert_same_lines(ours: list[str], theirs: list[str]) -> None:
    for mine, wanted in zip(ours, theirs, strict=True):
        assert_same_line(mine, wanted)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_tensorflow_does(path: Path, printed: Printed) -> None:
    theirs = path.with_suffix(".out").read_text().splitlines()
    assert_same_lines(printed(path), theirs)


def test_a_notebook_of_cells(tmp_path: Path, printed: Printed) -> None:
    path = HERE / "eager" / "basics.py"
    cells = path.read_text().split("\n\n")[1:]  # without the docstring
    cells[0] = "%matplotlib inline\n" + cells[0]
    notebook = {
        "cells": [
            {"cell_type": "code", "source": cell, "outputs": [], "metadata": {}}
            for cell in cells
        ],
        "metadata": {"kernelspec": {"name": "python3", "language": "python"}},
        "nbformat": 4,
    }
    copy = tmp_path / "basics.ipynb"
    copy.write_text(json.dumps(notebook))
    theirs = path.with_suffix(".out").read_text().splitlines()
    assert_same_lines(printed(copy), theirs)


PYTHON_2 = '''\
"""As it was written for Python 2."""
import tensorflow.contrib.eager as tfe
import tensorflow as tf
tfe.enable_eager_execution()

weights = {"w": tfe.Variable(2.0, name="w"), "b": tfe.Variable(1.0, name="b")}
f = lambda (x, y): weights["w"] * x - y
for name, weight in sorted(weights.iteritems()):
    print name, weight.numpy()
for i in xrange(2):
    print "step %d: %.2f" % (i, f((i, 7 / 2)))
print tf.constant([1, 2]) / 2, map(float, tf.constant([3, 4]))
'''


def test_a_program_in_python_2(tmp_path: Path, printed: Printed) -> None:
    program = tmp_path / "old.py"
    program.write_text(PYTHON_2)
    assert printed(program) == [
        "b 1.0",
        "w 2.0",
        "step 0: -3.00",
        "step 1: -1.00",
        "tf.Tensor([0 1], shape=(2,), dtype=int32) [3.0, 4.0]",  # integers, as then
    ]


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow.contrib.eager as tfe",
        "from tensorflow.contrib import eager as tfe",
        "from tensorflow.contrib.eager.python import tfe",
        "import tensorflow.contrib.eager.python.tfe as tfe",
        "import tensorflow as tf; tfe = tf.contrib.eager",
        "import tensorflow as tf; import tensorflow.contrib.eager as tfe",
        "import tensorflow.compat.v1 as tf; tfe = tf.contrib.eager",
    ],
)
def test_forms_of_imports(line: str, tmp_path: Path, printed: Printed) -> None:
    program = tmp_path / "imports.py"
    program.write_text(
        f"{line}\nv = tfe.Variable\ntfe.enable_eager_execution()\n"
        "print(v(1.5).numpy(), tfe.executing_eagerly(), "
        "tfe.metrics.Mean.__name__, tfe.num_gpus())\n"
    )
    assert printed(program) == ["1.5 True Mean 0"]


INNER = """\
import tensorflow as tf
from tensorflow.contrib.eager.python import evaluator, network
from tensorflow.python.eager import context
from tensorflow.python.eager.execution_callbacks import InfOrNanError, errstate
from tensorflow.python.framework import test_util

tf.enable_eager_execution()
try:
    with errstate("raise"):
        tf.log(0.0)
except InfOrNanError as error:
    print(error.op_type, context.num_gpus(), evaluator.Evaluator.__name__)
print(network.Network is tf.contrib.eager.Network)
print(test_util.run_in_graph_and_eager_modes.__name__)
"""


def test_inner_modules(tmp_path: Path, printed: Printed) -> None:
    program = tmp_path / "inner.py"
    program.write_text(INNER)
    assert printed(program) == [
        "Log 0 Evaluator",
        "True",
        "run_in_graph_and_eager_modes",
    ]
