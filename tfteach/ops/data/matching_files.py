"""Datasets of the names of files that match patterns.

Source: core/kernels/data/experimental/matching_files_dataset_op.cc.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import string
from tfteach.framework.errors import NotFoundError
from tfteach.framework.files import file_system
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, KernelContext
from tfteach.ops.data.dataset import Dataset, Running
from tfteach.ops.data.elements import Element
from tfteach.ops.data.reading import FileDatasetOp

_WILDCARDS = "*?["


class MatchedFiles(Dataset):
    """The names of files that match patterns, pattern by pattern, each sorted.

    Unlike those of `tf.matching_files` they include hidden files, and the names of
    relative patterns begin with a directory.
    """

    def __init__(self, patterns: list[bytes]) -> None:
        self._patterns = patterns
        self.types = (string,)
        self.component_shapes = ((),)

    def elements(self, running: Running) -> Iterator[Element]:
        return _Names(self._patterns)


class _Names:
    """Iterates over names; an error is raised again by each further call."""

    def __init__(self, patterns: list[bytes]) -> None:
        self._patterns = patterns
        self._next = 0
        self._names: Iterator[str] = iter(())
        self._is_any_found = False

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        while True:
            for name in self._names:
                self._is_any_found = True
                return (np.array(name.encode(), object),)
            if self._next == len(self._patterns):
                break
            pattern = file_system.resolve(self._patterns[self._next])
            self._names = iter(_matching(pattern))
            self._next += 1
        if not self._is_any_found:
            raise NotFoundError(None, None, "Don't find any matched files")
        raise StopIteration


def _matching(pattern: str) -> list[str]:
    """The files that match a pattern, sorted.

    Raises:
      NotFoundError: the directory before the first wildcard does not exist.
    """
    if file_system.is_remote(pattern):
        return file_system.glob(pattern)
    folder, *rest = _parts(pattern)
    if not os.path.isdir(folder):
        message = f"{folder}; No such file or directory"
        raise NotFoundError(None, None, message)
    folders = [folder]
    *between, last = rest
    for part in between:
        folders = [path for path in _entries(folders, part) if os.path.isdir(path)]
    return sorted(p for p in _entries(folders, last) if not os.path.isdir(p))


def _parts(pattern: str) -> list[str]:
    """The directory before the first wildcard, and the parts of the path in it."""
    folder, name = os.path.split(pattern)
    rest = [name]
    while any(mark in folder for mark in _WILDCARDS):
        folder, name = os.path.split(folder)
        rest.insert(0, name)
    return [folder or ".", *rest]


def _entries(folders: list[str], part: str) -> list[str]:
    return [
        os.path.join(folder, name)
        for folder in folders
        for name in os.listdir(folder)
        if fnmatchcase(name, part)
    ]


# ---- ops


class MatchingFilesDataset(FileDatasetOp):
    """Names of files.  Source: experimental_dataset_ops.cc, MatchingFilesDataset."""

    signature = "patterns: string -> handle: variant"
    is_stateful: ClassVar[bool] = True

    def infer_shape(self, patterns: Shape) -> Shape:
        if patterns is not None and len(patterns) > 1:
            raise ValueError(
                f"Shape must be at most rank 1 but is rank {len(patterns)}"
            )
        return ()

    def dataset(self, context: KernelContext, *inputs: Any) -> Dataset:
        patterns: Array = inputs[0]
        return MatchedFiles(patterns.ravel().tolist())
