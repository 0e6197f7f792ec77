"""`tf.gfile` and `tf.io.gfile`: files, with TensorFlow's errors.

Local paths, and with fsspec URLs such as `memory://`, `s3://` or `gs://`.
Source: python/lib/io/file_io.py (API and error messages).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfteach.compat.platform.text import as_str_any, path_to_str
from tfteach.framework import errors
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.os_errors import error


@dataclass(frozen=True)
class FileStatistics:
    """The result of `tf.gfile.Stat`."""

    length: int
    mtime_nsec: int
    is_directory: bool


@export("io.gfile.exists")
def exists(path: Any) -> bool:
    """Whether there is a file or a directory at `path`."""
    return file_system.exists(resolve(path))


@export("io.gfile.isdir")
def isdir(path: Any) -> bool:
    """Whether `path` is a directory."""
    return file_system.isdir(resolve(path))


@export("io.gfile.stat")
def stat(path: Any) -> FileStatistics:
    """`length` in bytes, `mtime_nsec` and `is_directory` of a file.

    Raises:
      NotFoundError: there is no such file.
    """
    return FileStatistics(*file_system.stat(resolve(path)))


@export("io.gfile.listdir")
def listdir(path: Any) -> list[str]:
    """The names in a directory, in no particular order.

    Raises:
      NotFoundError: there is no such directory.
    """
    name = resolve(path)
    if not file_system.isdir(name):
        raise error(errors.NOT_FOUND, f"Could not find directory {name}")
    return file_system.listdir(name)


@export("io.gfile.glob")
def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, sorted; for several patterns, one after another.

    Args:
      pattern: text with `*`, `?` or `[...]`, or an iterable of such texts.

    Raises:
      NotFoundError: the fixed part of the pattern is not a directory.
    """
    if not isinstance(pattern, (str, bytes, os.PathLike)):
        return [path for one in pattern for path in glob(one)]
    name = resolve(pattern)
    cut = min((name.find(mark) for mark in "*?[" if mark in name), default=len(name))
    fixed = file_system.dirname(name[:cut])
    if fixed and not file_system.isdir(fixed):
        raise error(errors.NOT_FOUND, f"{fixed}; No such file or directory")
    return file_system.glob(name)


@export("io.gfile.mkdir")
def mkdir(path: Any) -> None:
    """Create a directory; an existing one is not an error.

    Raises:
      NotFoundError: the parent directory does not exist; see `makedirs`.
    """
    name = resolve(path)
    if not file_system.exists(name):
        file_system.mkdir(name)


@export("io.gfile.makedirs")
def makedirs(path: Any) -> None:
    """Create a directory and its parents; existing ones are not an error."""
    name = resolve(path)
    if not file_system.exists(name):
        file_system.makedirs(name)


@export("io.gfile.remove")
def remove(path: Any) -> None:
    """Delete a file.

    Raises:
      NotFoundError: there is no such file.
      FailedPreconditionError: it is a directory; see `rmtree`.
    """
    file_system.remove(resolve(path))


@export("io.gfile.rmtree")
def rmtree(path: Any) -> None:
    """Delete a directory and everything in it.

    Raises:
      NotFoundError: there is no such directory.
      FailedPreconditionError: it is a file.
    """
    name = resolve(path)
    if not (file_system.exists(name) or os.path.islink(name)):
        raise error(errors.NOT_FOUND, f"{name} not found")
    if not file_system.isdir(name):
        raise error(errors.FAILED_PRECONDITION, f"{name}; Not a directory")
    file_system.rmtree(name)


@export("io.gfile.copy")
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
      AlreadyExistsError: `dst` exists, and `overwrite` is False.
      NotFoundError: `src` does not exist, or the directory of `dst` does not.
    """
    source, target = resolve(src), resolve(dst)
    if file_system.exists(target) and not overwrite:
        raise error(errors.ALREADY_EXISTS, "file already exists")
    stat(source)
    if file_system.isdir(source):
        raise error(errors.INVALID_ARGUMENT, f"{target}; Invalid argument")
    file_system.copy(source, target)


@export("io.gfile.rename")
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Move a file or a directory.

    Raises:
      AlreadyExistsError: `dst` exists, and `overwrite` is False.
      NotFoundError: `src` does not exist, or the directory of `dst` does not.
    """
    source, target = resolve(src), resolve(dst)
    if file_system.exists(target) and not overwrite:
        raise error(errors.ALREADY_EXISTS, "file already exists")
    file_system.rename(source, target)


@export("io.gfile.walk")
def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk a tree: yields (directory, its subdirectories' names, its files' names).

    Args:
      top: the directory to start from.
      topdown: whether a directory precedes its subdirectories, or follows them.
      onerror: called with the error if a directory cannot be listed; without it such a
        directory is skipped.
    """
    name = as_str_any(path_to_str(top))
    try:
        names = listdir(name)
    except errors.NotFoundError as err:
        if onerror is not None:
            onerror(err)
        return
    inner = [item for item in names if isdir(os.path.join(name, item))]
    here = (name, inner, [item for item in names if item not in set(inner)])
    if topdown:
        yield here
    for item in inner:
        yield from walk(os.path.join(name, item), topdown, onerror)
    if not topdown:
        yield here


# ---- the same functions under their TensorFlow 1 names


@export("gfile.Exists")
def file_exists(filename: Any) -> bool:
    """Whether there is a file or a directory at `filename`."""
    return exists(filename)


@export("gfile.IsDirectory")
def is_directory(dirname: Any) -> bool:
    """Whether `dirname` is a directory."""
    return isdir(dirname)


@export("gfile.Stat")
def stat_v1(filename: Any) -> FileStatistics:
    """`tf.io.gfile.stat`."""
    return stat(filename)


@export("gfile.ListDirectory")
def list_directory(dirname: Any) -> list[str]:
    """`tf.io.gfile.listdir`."""
    return listdir(dirname)


@export("gfile.Glob")
def get_matching_files(filename: Any) -> list[str]:
    """`tf.io.gfile.glob`."""
    return glob(filename)


@export("gfile.MkDir")
def create_dir(dirname: Any) -> None:
    """`tf.io.gfile.mkdir`."""
    mkdir(dirname)


@export("gfile.MakeDirs")
def recursive_create_dir(dirname: Any) -> None:
    """`tf.io.gfile.makedirs`."""
    makedirs(dirname)


@export("gfile.Remove")
def delete_file(filename: Any) -> None:
    """`tf.io.gfile.remove`."""
    remove(filename)


@export("gfile.DeleteRecursively")
def delete_recursively(dirname: Any) -> None:
    """`tf.io.gfile.rmtree`."""
    rmtree(dirname)


@export("gfile.Copy")
def copy_v1(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """`tf.io.gfile.copy`."""
    copy(oldpath, newpath, overwrite)


@export("gfile.Rename")
def rename_v1(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """`tf.io.gfile.rename`."""
    rename(oldname, newname, overwrite)


@export("gfile.Walk")
def walk_v1(top: Any, in_order: bool = True) -> Any:
    """`tf.io.gfile.walk`; `in_order` is its `topdown`."""
    return walk(top, in_order)
