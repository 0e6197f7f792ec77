"""`tf.resource_loader`: files next to a script.

Source: python/platform/resource_loader.py (API).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tfteach.framework.export import export


def _folder(depth: int) -> str:
    return os.path.dirname(sys._getframe(depth + 1).f_code.co_filename)


@export(
    "resource_loader.get_data_files_path",
    "resource_loader.get_root_dir_with_all_resources",
)
def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return _folder(1)


@export("resource_loader.get_path_to_datafile")
def get_path_to_datafile(path: str) -> str:
    """`path` below the folder of the file that calls this."""
    return os.path.join(_folder(1), path)


@export("resource_loader.readahead_file_path")
def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """`path` unchanged: read-ahead concerns distributed file systems."""
    return path


@export("resource_loader.load_resource")
def load_resource(path: str) -> bytes:
    """The bytes of a file below the folder of this package.

    Raises:
      OSError: the file does not exist.
    """
    package = Path(__file__).parents[2]
    return (package / path).read_bytes()
