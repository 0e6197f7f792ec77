"""`tf.train.match_filenames_once`: the files of a pattern in a local variable.

Source: python/training/input.py (API, nodes).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.io.file_ops import matching_files
from tfteach.variables.base import Variable


@export("train.match_filenames_once")
def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Variable:
    """A local variable with the files that match a pattern: found once, when it is set.

    `tf.local_variables_initializer` looks for the files.

    Args:
      pattern: a string or a vector of them, such as "data/*.tfrecord".
      name: of the operations.

    Returns:
      A Variable of strings, of unknown shape.

    Example:
      >>> files = tf.train.match_filenames_once("data/*.csv")
      >>> queue = tf.train.string_input_producer(files)

    Source: python/training/input.py.
    """
    make: Any = Variable  # its metaclass chooses the class
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        files: Variable = make(
            matching_files(pattern),
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
            validate_shape=False,
            name=scope,
        )
        return files
