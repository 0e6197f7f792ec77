"""One exception class per status code, as programs catch them.

Each docstring names the usual cause of the error and its remedy.
Source: tensorflow/core/lib/core/error_codes.proto, python/framework/errors_impl.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfteach.framework.export import export_value

if TYPE_CHECKING:
    from tfteach.framework.graph import Operation

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """A failure while a graph ran.

    Attributes:
      op: the `Operation` that failed, or None.
      node_def: its NodeDef, or None.
      message: the description of the error.
      error_code: one of the numbers of this module.
    """

    code = UNKNOWN

    def __init__(
        self, node_def: Any, op: Operation | None, message: str, error_code: int = -1
    ) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = self.code if error_code < 0 else error_code

    @property
    def message(self) -> str:
        return self._message

    @property
    def op(self) -> Operation | None:
        return self._op

    @property
    def node_def(self) -> Any:
        if self._node_def is None and self._op is not None:
            return self._op.node_def
        return self._node_def

    @property
    def error_code(self) -> int:
        return self._error_code

    def at(self, op: Operation) -> OpError:
        """Attribute the error to `op`, unless it already has an op; returns self."""
        if self._op is None:
            self._op = op
            where = (
                f" (defined at {op.source.file}:{op.source.line})"
                if (op.source is not None)
                else ""
            )
            self._message += f"\n\t [[node {op.name}{where} ]]"
        return self

    def __str__(self) -> str:
        if self._op is None or self._op.source is None:
            return self._message
        source = self._op.source
        text = f"\n    {source.text}" if source.text else ""
        return (
            f"{self._message}\n\nOriginal stack trace for '{self._op.name}':\n"
            f'  File "{source.file}", line {source.line}, in {source.function}{text}'
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # An Operation belongs to its graph; only the text travels between processes.
        return type(self)._remake, (str(self), self._error_code)

    @classmethod
    def _remake(cls, message: str, error_code: int) -> OpError:
        if cls is OpError:
            return OpError(None, None, message, error_code)
        return cls(None, None, message)


def _status(code: int) -> Any:
    """Class decorator: sets the status code and adds TF's 3-argument `__init__`."""

    def decorate(cls: type[OpError]) -> type[OpError]:
        cls.code = code
        _BY_CODE[code] = cls
        return cls

    return decorate


_BY_CODE: dict[int, type[OpError]] = {}


class InaccessibleTensorError(ValueError):
    """A tensor of a branch or a loop was used outside of it."""


@_status(CANCELLED)
class CancelledError(OpError):
    """The run was cancelled: the session or a queue was closed meanwhile."""


@_status(UNKNOWN)
class UnknownError(OpError):
    """A failure with no more specific status, such as an exception in a py_func."""


@_status(INVALID_ARGUMENT)
class InvalidArgumentError(OpError):
    """An op received an unusable input: a shape, a value, an unfed placeholder.

    Read the op's name and line in the message, and compare the shapes it names.
    """


@_status(DEADLINE_EXCEEDED)
class DeadlineExceededError(OpError):
    """The run took longer than `RunOptions.timeout_in_ms`."""


@_status(NOT_FOUND)
class NotFoundError(OpError):
    """A file, a key in a checkpoint, a table or an op type does not exist."""


@_status(ALREADY_EXISTS)
class AlreadyExistsError(OpError):
    """An object to be created already exists."""


@_status(PERMISSION_DENIED)
class PermissionDeniedError(OpError):
    """The caller may not do this, such as writing to a read-only file."""


@_status(RESOURCE_EXHAUSTED)
class ResourceExhaustedError(OpError):
    """A device's memory is full: use smaller batches or a larger memory share."""


@_status(FAILED_PRECONDITION)
class FailedPreconditionError(OpError):
    """The state is not ready: most often a variable that was never initialized.

    Run `tf.global_variables_initializer()` in this session first.
    """


@_status(ABORTED)
class AbortedError(OpError):
    """The operation was aborted by a conflict; a new session may help."""


@_status(OUT_OF_RANGE)
class OutOfRangeError(OpError):
    """Read past the end: the usual signal that an input is exhausted."""


@_status(UNIMPLEMENTED)
class UnimplementedError(OpError):
    """The op has no kernel for these types or attributes."""


@_status(INTERNAL)
class InternalError(OpError):
    """An invariant of the runtime broke: a bug in tfteach, please report it."""


@_status(UNAVAILABLE)
class UnavailableError(OpError):
    """A server cannot be reached now."""


@_status(DATA_LOSS)
class DataLossError(OpError):
    """A file is damaged or truncated: its checksum does not match its bytes."""


@_status(UNAUTHENTICATED)
class UnauthenticatedError(OpError):
    """The request has no valid credentials."""


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a status code.

    Raises:
      KeyError: no class has that code.
    """
    return _BY_CODE[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The status code of a class of this module."""
    return cls.code


def invalid_argument(message: str) -> InvalidArgumentError:
    """An InvalidArgumentError raised by a kernel; the executor fills in the op."""
    return InvalidArgumentError(None, None, message)


_CODES = [name for name in list(globals()) if name.isupper() and name[0] != "_"]
_CODES.remove("TYPE_CHECKING")
_NAMES = [*_CODES, "OpError", *(cls.__name__ for cls in _BY_CODE.values())]
export_value(__name__, **{name: f"errors.{name}" for name in _NAMES})
export_value(
    __name__,
    OpError="OpError errors.OpError",
    exception_type_from_error_code="errors.exception_type_from_error_code",
    error_code_from_exception_type="errors.error_code_from_exception_type",
)
