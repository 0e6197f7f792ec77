"""Writing Python source and compiling it: the package's only `exec`.

A `SourceWriter` collects the lines of one function, with the objects they refer to and
the origin of each line.  `compile()` turns them into a `GeneratedFunction`, which maps
an exception back to its line's origin, and whose source is displayed by tracebacks and
debuggers.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

_numbers = itertools.count()

Origin = TypeVar("Origin")


def define(source: str, name: str, namespace: dict[str, Any], file: str) -> Any:
    """Execute `source` in `namespace`; returns the object it defines as `name`."""
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


class GeneratedFunction(Generic[Origin]):
    """A compiled function and its source.

    Attributes:
      function: the callable.
      source: its text.
      file: the unique name under which tracebacks show it.
      origins: line number -> the line's origin.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        source: str,
        file: str,
        origins: dict[int, Origin],
    ) -> None:
        self.function = function
        self.source = source
        self.file = file
        self.origins = origins
        # Without a modification time, linecache never accesses the disk.
        lines = source.splitlines(keepends=True)
        linecache.cache[file] = (len(source), None, lines, file)
        forget = weakref.finalize(self, linecache.cache.pop, file, None)
        forget.atexit = False

    def origin_of(self, error: BaseException) -> Origin | None:
        """The origin of the line that raised `error`."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                return self.origins.get(trace.tb_lineno)
            trace = trace.tb_next
        return None


class SourceWriter(Generic[Origin]):
    """Writes one Python function, line by line.

    Attributes:
      parameters: the function's.
      namespace: its globals.

    Example:
      >>> writer = SourceWriter[str]("double", ["x"])
      >>> with writer.block("if x is not None:"):
      ...     writer.line("return 2 * x", origin="the product")
      >>> writer.compile("example").function(21)  # 42
    """

    def __init__(self, name: str, parameters: Sequence[str]) -> None:
        self.parameters = list(parameters)
        self.namespace: dict[str, Any] = {}
        self._name = name
        self._lines: list[str] = []
        self._origins: dict[int, Origin] = {}
        self._indent = " "
        self._temporaries = itertools.count()
        self._free: list[str] = []

    def line(self, text: str, origin: Origin | None = None) -> None:
        """Add a line; an exception raised there is traced back to `origin`."""
        self._lines.append(self._indent + text)
        if origin is not None:
            self._origins[1 + len(self._lines)] = origin  # line 1 is the def

    @contextmanager
    def block(
        self, header: str, origin: Origin | None = None
    ) -> Generator[None, None, None]:
        """Add a compound statement; lines written inside `with` are its body."""
        self.line(header, origin)
        length, outer = len(self._lines), self._indent
        self._indent += " "
        yield
        if len(self._lines) == length:
            self.line("pass")
        self._indent = outer

    def bind(self, name: str, value: Any) -> str:
        """Make `value` available to the function as `name`; returns the name."""
        self.namespace[name] = value
        return name

    def temporary(self) -> str:
        """The name of a local variable: a released one, or a new one.

        Reusing a name frees its previous value as soon as the new one is assigned.
        """
        return self._free.pop() if self._free else f"v{next(self._temporaries)}"

    def release(self, *names: str) -> None:
        """Release temporaries whose values are no longer needed, for reuse."""
        self._free += names

    @property
    def source(self) -> str:
        head = f"def {self._name}({', '.join(self.parameters)}):"
        return "\n".join([head, *self._lines])

    def compile(self, subject: str) -> GeneratedFunction[Origin]:
        """The function.

        Args:
          subject: a description for the file name shown in tracebacks.
        """
        file = f"<tfteach {subject} {next(_numbers)}>"
        source = self.source
        function = define(source, self._name, self.namespace, file)
        return GeneratedFunction(function, source, file, self._origins)
