"""A dataset of the names of files, which are looked up when it is read.

Source: python/data/experimental/ops/matching_files.py.
"""

from __future__ import annotations

from typing import ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data.dataset import Dataset
from tfteach.ops.data.matching_files import MatchingFilesDataset as MatchingFilesOp


class MatchingFilesDataset(Dataset):
    """The names of files that match patterns, pattern by pattern, each sorted.

    Args:
      patterns: a string or a vector of strings, with `*`, `?` and `[...]` in the names
        of files and directories.

    Raises:
      tf.errors.NotFoundError: in a run, no file matches.
    """

    type_name: ClassVar[str] = "MatchingFilesDataset"

    def __init__(self, patterns: TensorLike) -> None:
        found = convert(patterns, string, "patterns")
        super().__init__(MatchingFilesOp()(found), TensorSpec([], string))
