"""The functions of `file_system.py` for files that fsspec reaches.

Imported with the first URL only.
"""

from __future__ import annotations

import contextlib
import errno
import io
import posixpath
from collections.abc import Iterator
from typing import Any, NoReturn

from tfteach.framework import errors
from tfteach.framework.files.os_errors import error

# Here a file appears as a whole when it is closed, and there are no directories.
_OBJECT_STORES = frozenset("s3 s3a gs gcs abfs abfss az adl oci oss".split())


def file_system(url: str) -> Any:
    """The fsspec file system of a URL.

    Raises:
      UnimplementedError: there is none, or a package is missing.
    """
    return _found(url)[0]


def _found(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the file's path there."""
    try:
        from fsspec.core import url_to_fs

        found: tuple[Any, str] = url_to_fs(url)
        return found
    except ImportError as err:  # fsspec, or the package for this scheme
        missing = err.name or ""
        advice = "install fsspec: pip install 'tfteach[remote]'"
        _unimplemented(url, advice if missing.startswith("fsspec") else str(err))
    except ValueError as err:
        _unimplemented(url, str(err))


def _unimplemented(url: str, why: str) -> NoReturn:
    scheme = url.partition("://")[0]
    raise error(
        errors.UNIMPLEMENTED,
        f"File system scheme '{scheme}' not implemented (file: '{url}'): {why}",
    ) from None


def is_object_store(url: str) -> bool:
    """Whether files appear there only as a whole."""
    return url.partition("://")[0] in _OBJECT_STORES


@contextlib.contextmanager
def _translated(url: str) -> Iterator[None]:
    """Translate what file systems raise beside OSErrors."""
    try:
        yield
    except (OSError, errors.OpError):
        raise
    except NotImplementedError as err:
        raise error(
            errors.UNIMPLEMENTED, f"{url}; its file system cannot do this: {err}"
        ) from None
    except Exception as err:  # each one has its own: boto's, aiohttp's, ...
        raise error(errors.UNKNOWN, f"{url}; {type(err).__name__}: {err}") from err


def open_file(url: str, mode: str, **options: Any) -> Any:
    """An open file; with `autocommit=False` it waits for its `commit`."""
    fs, path = _found(url)
    with _translated(url):
        if mode == "rb" and "memory" in _protocols(fs):
            # Its open files share one position.
            return io.BytesIO(fs.cat_file(path))
        if mode == "xb":
            if fs.exists(path):
                raise FileExistsError(errno.EEXIST, "File exists", url)
            mode = "wb"
        if mode in ("wb", "ab") and fs.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", url)
        return fs.open(path, mode, **options)


class Upload:
    """A file that an object store shows once it is committed.

    Args:
      url: the file.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._file = open_file(url, "wb", autocommit=False)
        self._is_done = False

    def write(self, data: memoryview, /) -> int:
        """Append data; returns their number of bytes."""
        with _translated(self._url):
            self._file.write(data)
            return len(data)

    def close(self) -> None:
        """Send what is left."""
        with _translated(self._url):
            self._file.close()

    def commit(self) -> None:
        """Let the file appear."""
        with _translated(self._url):
            self._file.commit()
        self._is_done = True

    def discard(self) -> None:
        """Delete what was sent, unless it was committed."""
        if self._is_done:
            return
        self._is_done = True
        with contextlib.suppress(Exception):  # at worst the store keeps some parts
            self._file.discard()
        self._file.closed = True  # or it would be sent when it is deleted


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def exists(url: str) -> bool:
    """Whether there is a file or a directory."""
    fs, path = _found(url)
    with _translated(url):
        return bool(fs.exists(path))


def isdir(url: str) -> bool:
    """Whether there is a directory."""
    fs, path = _found(url)
    with _translated(url):
        return bool(fs.isdir(path))


def stat(url: str) -> tuple[int, int, bool]:
    """Length, time of the last change in nanoseconds or 0, is a directory."""
    fs, path = _found(url)
    with _translated(url):
        info = fs.info(path)
        changed = 0
        with contextlib.suppress(NotImplementedError, KeyError, FileNotFoundError):
            changed = int(fs.modified(path).timestamp() * 1e9)
        return info.get("size") or 0, changed, info["type"] == "directory"


def version(url: str) -> Any:
    """What changes if a file is replaced; None if it does not exist."""
    fs, path = _found(url)
    with _translated(url):
        try:
            fs.invalidate_cache()
            return fs.ukey(path)
        except FileNotFoundError:
            return None


def listdir(url: str) -> list[str]:
    """The names in a directory."""
    fs, path = _found(url)
    with _translated(url):
        found = [name.rstrip("/") for name in fs.ls(path, detail=False)]
    here = path.rstrip("/")
    return [posixpath.basename(name) for name in found if name != here]


def glob(url: str) -> list[str]:
    """The files that match a pattern, sorted, written as the pattern is."""
    fs, path = _found(url)
    tail = path.lstrip("/")
    head = url[: url.rindex(tail)] if tail in url else url.partition("://")[0] + "://"
    with _translated(url):
        return sorted(head + name.lstrip("/") for name in fs.glob(path))


def mkdir(url: str) -> None:
    """Create a directory, where there are any."""
    fs, path = _found(url)
    if not is_object_store(url):
        with _translated(url):
            fs.mkdir(path, create_parents=False)


def makedirs(url: str) -> None:
    """Create a directory and its parents, where there are any."""
    fs, path = _found(url)
    if not is_object_store(url):
        with _translated(url):
            fs.makedirs(path, exist_ok=True)


def remove(url: str) -> None:
    """Delete a file."""
    fs, path = _found(url)
    with _translated(url):
        if fs.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", url)
        if not fs.exists(path):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", url)
        fs.rm_file(path)


def rmdir(url: str) -> None:
    """Delete an empty directory."""
    fs, path = _found(url)
    if not is_object_store(url):
        with _translated(url):
            fs.rmdir(path)


def rmtree(url: str) -> None:
    """Delete a directory with everything in it."""
    fs, path = _found(url)
    with _translated(url):
        fs.rm(path, recursive=True)


def rename(source: str, target: str) -> None:
    """Move a file or a directory within a file system."""
    fs, path = _found(source)
    other = _found(target)[1]
    with _translated(source):
        if not fs.exists(path):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", source)
        fs.mv(path, other, recursive=bool(fs.isdir(path)))
