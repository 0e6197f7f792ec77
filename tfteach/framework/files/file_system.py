"""Files by path or URL: local ones by `os`, others (`memory://`, `s3://`) by fsspec.

All functions take what `resolve` returned, and raise `tf.errors`.  Nothing of fsspec is
imported before the first URL.

Source: core/platform/{env,file_system}.cc.
"""

from __future__ import annotations

import glob as _glob
import os
import shutil
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from tfteach.framework import errors
from tfteach.framework.files.os_errors import error, os_errors_translated

if TYPE_CHECKING:
    from tfteach.framework.files.remote_file_system import Upload


class FileState(NamedTuple):
    """What is known of a file.

    Attributes:
      length: in bytes.
      mtime_nsec: when it was last changed; 0 where the file system does not say.
      is_directory: whether it is a directory.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def is_remote(name: str) -> bool:
    """Whether a name is that of a file which `os` does not know."""
    return "://" in name and _scheme(name) != ""


def _scheme(name: str) -> str:
    scheme, mark, _ = name.partition("://")
    known = mark and scheme.replace("+", "").replace(".", "").isalnum()
    return scheme if known else ""


def resolve(path: Any) -> str:
    """A local path, or the URL of a file of another file system.

    Args:
      path: text, bytes or a path object; `file://` is removed.

    Raises:
      UnimplementedError: the file system is not known, or fsspec not installed.
      TypeError: it is not a path.
    """
    name = path.__fspath__() if isinstance(path, os.PathLike) else path
    if isinstance(name, bytes):
        name = name.decode()
    if not isinstance(name, str):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    if "://" not in name:
        return name
    scheme = _scheme(name)
    if not scheme:
        return name
    if scheme == "file":
        rest = name.partition("://")[2]
        return rest[rest.find("/") :] if "/" in rest else rest
    _remote().file_system(name)
    return name


def _remote() -> Any:
    from tfteach.framework.files import remote_file_system

    module: ModuleType = remote_file_system
    return module


def open_file(name: str, mode: str, buffering: int = -1) -> BinaryIO:
    """An open file.

    Args:
      name: the file.
      mode: "rb", "wb", "ab" or "xb".  What is written to a remote file may be there
        only once it is closed.
      buffering: as of `open`; of local files only.
    """
    with os_errors_translated(name):
        if is_remote(name):
            return cast(BinaryIO, _remote().open_file(name, mode))
        return cast(BinaryIO, open(name, mode, buffering))


def read_file(path: str) -> bytes:
    """The bytes of a file.

    Raises:
      NotFoundError: there is no such file.
    """
    name = resolve(path)
    with open_file(name, "rb") as file, os_errors_translated(name):
        return file.read()


def begin_upload(name: str) -> Upload | None:
    """A new file of an object store, where it appears as a whole; None elsewhere."""
    if is_remote(name) and _remote().is_object_store(name):
        return cast("Upload", _remote().Upload(name))
    return None


def exists(name: str) -> bool:
    """Whether there is a file or a directory."""
    if is_remote(name):
        return bool(_remote().exists(name))
    return os.path.exists(name)


def isdir(name: str) -> bool:
    """Whether there is a directory."""
    if is_remote(name):
        return bool(_remote().isdir(name))
    return os.path.isdir(name)


def stat(name: str) -> FileState:
    """What is known of a file.  Raises NotFoundError if it does not exist."""
    with os_errors_translated(name):
        if is_remote(name):
            return FileState(*_remote().stat(name))
        found = os.stat(name)
    return FileState(found.st_size, found.st_mtime_ns, os.path.isdir(name))


def version(name: str) -> Any:
    """What changes if a file is replaced; None if it does not exist."""
    if is_remote(name):
        return _remote().version(name)
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def listdir(name: str) -> list[str]:
    """The names in a directory."""
    with os_errors_translated(name):
        if is_remote(name):
            return cast(list[str], _remote().listdir(name))
        return os.listdir(name)


def glob(pattern: str) -> list[str]:
    """The files that match a pattern, sorted."""
    if is_remote(pattern):
        with os_errors_translated(pattern):
            return cast(list[str], _remote().glob(pattern))
    return sorted(_glob.glob(pattern))


def mkdir(name: str) -> None:
    """Create a directory."""
    with os_errors_translated(name):
        if is_remote(name):
            _remote().mkdir(name)
        else:
            os.mkdir(name)


def makedirs(name: str) -> None:
    """Create a directory, and its parents; existing ones are not an error."""
    with os_errors_translated(name):
        if is_remote(name):
            _remote().makedirs(name)
        else:
            os.makedirs(name, exist_ok=True)


def remove(name: str) -> None:
    """Delete a file."""
    with os_errors_translated(name):
        if is_remote(name):
            _remote().remove(name)
        else:
            os.remove(name)


def rmdir(name: str) -> None:
    """Delete an empty directory."""
    with os_errors_translated(name):
        if is_remote(name):
            _remote().rmdir(name)
        else:
            os.rmdir(name)


def rmtree(name: str) -> None:
    """Delete a directory with everything in it."""
    with os_errors_translated(name):
        if is_remote(name):
            _remote().rmtree(name)
        else:
            shutil.rmtree(name)


def copy(source: str, target: str) -> None:
    """Copy a file, from any file system to any; another at `target` is replaced."""
    if not (is_remote(source) or is_remote(target)):
        with os_errors_translated(target):
            shutil.copyfile(source, target)
        return
    with (
        open_file(source, "rb") as file,
        os_errors_translated(target),
        open_file(target, "wb") as other,
    ):
        shutil.copyfileobj(file, other, 1 << 20)


def rename(source: str, target: str) -> None:
    """Move a file, or a local directory; another at `target` is replaced.

    Raises:
      UnimplementedError: they are in different file systems.
    """
    with os_errors_translated(source):
        if not (is_remote(source) or is_remote(target)):
            os.replace(source, target)
        elif _scheme(source) == _scheme(target):
            _remote().rename(source, target)
        else:
            raise error(
                errors.UNIMPLEMENTED,
                f"Renaming {source} to {target} not implemented: they are in different "
                "file systems; copy the file and remove the old one",
            )


def dirname(name: str) -> str:
    """The directory of a file."""
    if is_remote(name):
        scheme, _, rest = name.partition("://")
        return f"{scheme}://{rest.rpartition('/')[0]}"
    return os.path.dirname(name)
