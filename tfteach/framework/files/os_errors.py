"""Translates the operating system's file errors to `tf.errors`.

Source: core/platform/posix/error.cc (which number gives which class).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

from tfteach.framework import errors

_CODES = {
    errors.INVALID_ARGUMENT: "EINVAL ENAMETOOLONG E2BIG EDOM EFAULT EILSEQ",
    errors.NOT_FOUND: "ENOENT ENODEV ENXIO ESRCH",
    errors.ALREADY_EXISTS: "EEXIST EADDRNOTAVAIL EALREADY",
    errors.PERMISSION_DENIED: "EPERM EACCES EROFS",
    errors.FAILED_PRECONDITION: "ENOTEMPTY EISDIR ENOTDIR EBADF EBUSY ETXTBSY EPIPE",
    errors.RESOURCE_EXHAUSTED: "ENOSPC EDQUOT EMFILE ENFILE EMLINK ENOMEM",
    errors.OUT_OF_RANGE: "EFBIG EOVERFLOW ERANGE",
    errors.UNIMPLEMENTED: "ENOSYS ENOTSUP EXDEV",
    errors.UNAVAILABLE: "EAGAIN ECONNREFUSED EINTR EHOSTDOWN ENETUNREACH",
}
# fsspec raises some of them without a number.
_NUMBERS: dict[type[OSError], int] = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    PermissionError: errno.EACCES,
}
_BY_NUMBER = {
    getattr(errno, name): code
    for code, names in _CODES.items()
    for name in names.split()
    if hasattr(errno, name)
}


def error(code: int, message: str) -> errors.OpError:
    """The exception for one of the codes of `tf.errors`."""
    kind: Any = errors.exception_type_from_error_code(code)
    made: errors.OpError = kind(None, None, message)
    return made


@contextlib.contextmanager
def os_errors_translated(path: str) -> Iterator[None]:
    """A context manager that translates OSErrors: `path; No such file or directory`."""
    try:
        yield
    except OSError as err:
        number = err.errno or _NUMBERS.get(type(err), 0)
        code = _BY_NUMBER.get(number, errors.UNKNOWN)
        raise error(code, f"{path}; {os.strerror(number)}") from None


def local(path: Any) -> str:
    """A path of the local file system, from text, bytes or a path object.

    Raises:
      UnimplementedError: the path names another file system (`gs://`, `s3://`, ...).
      TypeError: it is not a path.
    """
    name = path.__fspath__() if isinstance(path, os.PathLike) else path
    if isinstance(name, bytes):
        name = name.decode()
    if not isinstance(name, str):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    scheme, mark, rest = name.partition("://")
    if not mark or not scheme.replace("+", "").replace(".", "").isalnum():
        return name
    if scheme == "file":
        return rest[rest.find("/") :] if "/" in rest else rest
    raise error(
        errors.UNIMPLEMENTED,
        f"File system scheme '{scheme}' not implemented (file: '{name}')",
    )
