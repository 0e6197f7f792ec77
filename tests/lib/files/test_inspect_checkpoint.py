"""Printed checkpoints, as real TensorFlow prints them (except for the table)."""

import numpy as np
import pytest

import tfteach as tf
from tfteach.lib.files.inspect_checkpoint import main, print_tensors_in_checkpoint_file


@pytest.fixture
def prefix(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=np.float32([[1.5, -2], [0, 1]]))
        tf.get_variable("b", initializer=np.float32([0.5, 0.25]), use_resource=True)
        parts = tf.fixed_size_partitioner(2)
        one = tf.ones_initializer()
        tf.get_variable("part", [2, 2], initializer=one, partitioner=parts)
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model"))


TABLE = """\
b (DT_FLOAT) [2]
part (DT_FLOAT) [2,2], 2 slices
w (DT_FLOAT) [2,2]

# Total number of params: 10
"""
ONE = """\
tensor_name:  w
[[ 1.5 -2. ]
 [ 0.   1. ]]
# Total number of params: 10
"""
ALL = """\
tensor_name:  b
[0.5  0.25]
tensor_name:  part
[[1. 1.]
 [1. 1.]]
tensor_name:  w
[[ 1.5 -2. ]
 [ 0.   1. ]]
# Total number of params: 10
"""
NAMES = """\
tensor_name:  b
tensor_name:  part
tensor_name:  w
# Excluding 1 tensors (4 params) that match ^p when counting.
# Total number of params: 6
"""


@pytest.mark.parametrize(
    ("arguments", "options", "printed"),
    [
        ((None, False), [], TABLE),
        (("w", False), ["--tensor_name=w"], ONE),
        (("", True), ["--all_tensors"], ALL),
        (
            ("", False, True, "^p"),
            ["--all_tensor_names=true", "--count_exclude_pattern=^p"],
            NAMES,
        ),
    ],
)
def test_what_is_printed(arguments, options, printed, prefix, capsys):
    print_tensors_in_checkpoint_file(prefix, *arguments)
    assert capsys.readouterr().out == printed
    assert main([f"--file_name={prefix}", *options]) == 0
    assert capsys.readouterr().out == printed


def test_errors_are_printed(prefix, capsys):
    print_tensors_in_checkpoint_file(prefix, "nope", False)
    out = capsys.readouterr().out
    assert out.startswith("tensor_name:  nope\nKey nope not found in checkpoint")
    print_tensors_in_checkpoint_file(prefix + "s", "", False)
    assert "Failed to find any matching files for" in capsys.readouterr().out
    print_tensors_in_checkpoint_file(f"{prefix}.data-00000-of-00001", "", False)
    assert f"--file_name = {prefix}\n" in capsys.readouterr().out
