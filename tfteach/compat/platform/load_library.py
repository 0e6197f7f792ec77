"""`tf.load_op_library` and the like: compiled ops, which cannot run here.

Source: python/framework/load_library.py (API and messages).
"""

from __future__ import annotations

import errno
import os
from typing import Any, NoReturn

from tfteach.framework.errors import NotFoundError
from tfteach.framework.export import export


@export("load_op_library")
def load_op_library(library_filename: Any) -> NoReturn:
    """Load a library of compiled ops: not possible here.

    Args:
      library_filename: the library's path.

    Raises:
      NotFoundError: the file does not exist.
      NotImplementedError: it exists, but its kernels are compiled for TensorFlow.

    Source: python/framework/load_library.py.
    """
    _refuse("load_op_library", _existing(library_filename))


@export("load_library")
def load_library(library_location: Any) -> NoReturn:
    """Load a library of compiled kernels, or a directory of them: not possible here.

    Args:
      library_location: the path of the library or directory.

    Raises:
      FileNotFoundError: the file or directory does not exist.
      NotImplementedError: it exists, but its kernels are compiled for TensorFlow.

    Source: python/framework/load_library.py.
    """
    path = _path(library_location)
    if not os.path.exists(path):
        raise FileNotFoundError(
            errno.ENOENT,
            "The file or folder to load kernel libraries from does not exist.",
            path,
        )
    _refuse("load_library", path)


@export("load_file_system_library")
def load_file_system_library(library_filename: Any) -> NoReturn:
    """Load a library with a file system: not possible here.

    Args:
      library_filename: the library's path.

    Raises:
      NotFoundError: the file does not exist.
      NotImplementedError: it exists, but is compiled for TensorFlow.

    Source: python/framework/load_library.py.
    """
    _refuse("load_file_system_library", _existing(library_filename))


def _path(value: Any) -> str:
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"Expected binary or unicode string, got {value!r}")
    return os.fsdecode(value)


def _existing(value: Any) -> str:
    path = _path(value)
    if not os.path.exists(path):
        raise NotFoundError(
            None,
            None,
            f"{path}: cannot open shared object file: No such file or directory",
        )
    return path


def _refuse(function: str, path: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.{function}: '{path}' is compiled for TensorFlow, and cannot be loaded "
        "here. Write the op as tf.py_func, or as a class (see CONTRIBUTING.md, Adding "
        "an op)."
    )
