"""Which exports of a directory to keep, and which to delete.

A filter is a function from a list of `Path`s to some of them.
Source: contrib/learn/python/learn/utils/gc.py.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import NamedTuple

from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.type_aliases import PathLike


class Path(NamedTuple):
    """An export.

    Attributes:
      path: its directory.
      export_version: the number that its name holds: in most programs, the time of
        the export in seconds.
    """

    path: str
    export_version: int | None


Filter = Callable[[list[Path]], list[Path]]


def largest_export_versions(n: int) -> Filter:
    """A filter of the `n` newest exports.

    Source: contrib/learn/python/learn/utils/gc.py.
    """

    def keep(paths: list[Path]) -> list[Path]:
        newest = sorted(paths, key=_version)[-n:] if n > 0 else []
        return sorted(newest)

    return keep


def one_of_every_n_export_versions(n: int) -> Filter:
    """A filter of the newest export in each interval of `n` versions.

    Interval k holds the versions from k * n + 1 to (k + 1) * n; 0 counts to the first.

    Source: contrib/learn/python/learn/utils/gc.py.
    """

    def keep(paths: list[Path]) -> list[Path]:
        newest: dict[int, Path] = {}
        for path in paths:
            version = _version(path)
            interval = math.floor((version - 1) / n) if version else 0
            known = newest.get(interval)
            if known is None or _version(known) < version:
                newest[interval] = path
        return sorted(newest.values())

    return keep


def mod_export_version(n: int) -> Filter:
    """A filter of the exports whose version is a multiple of `n`.

    Source: contrib/learn/python/learn/utils/gc.py.
    """
    return lambda paths: sorted(path for path in paths if _version(path) % n == 0)


def union(lf: Filter, rf: Filter) -> Filter:
    """A filter of the exports that one of two filters keeps.

    Source: contrib/learn/python/learn/utils/gc.py.
    """
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f: Filter) -> Filter:
    """A filter of the exports that another one does not keep.

    Source: contrib/learn/python/learn/utils/gc.py.
    """

    def keep(paths: list[Path]) -> list[Path]:
        return sorted({*paths} - {*f(paths)})

    return keep


def get_paths(base_dir: PathLike, parser: Callable[[Path], Path | None]) -> list[Path]:
    """The exports in a directory, sorted.

    Args:
      base_dir: the directory.
      parser: a function that returns a Path with its version, or None for another
        directory.

    Source: contrib/learn/python/learn/utils/gc.py.
    """
    folder = resolve(base_dir)
    names = file_system.listdir(folder)
    parsed = (parser(Path(os.path.join(folder, name), None)) for name in names)
    return sorted(path for path in parsed if path is not None)


def _version(path: Path) -> int:
    assert path.export_version is not None
    return path.export_version
