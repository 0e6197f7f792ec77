"""`tensorflow` and its modules, where the first use of each renamed symbol warns.

`deprecated_names.txt` lists the names that TensorFlow 1.15 warns about: a name below
`tf.`, and the new one unless that is the same below `tf.compat.v1.`.  Only programs
that import `tensorflow` get warnings: in tfteach itself these names are not deprecated.
Source: python/util/module_wrapper.py (when it warns, format of the message).
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tfteach.framework import deprecation
from tfteach.framework.logger import get_logger


@functools.cache
def renamed() -> dict[str, str]:
    """Deprecated name -> the name to use instead, both below `tf.`."""
    text = Path(__file__).with_name("deprecated_names.txt").read_text("utf-8")
    rows = (line.split() for line in text.splitlines())
    return {name: new[0] if new else f"compat.v1.{name}" for name, *new in rows}


@functools.cache
def _modules() -> frozenset[str]:
    """The modules with deprecated names, directly or in one of their submodules."""
    found = set()
    for name in renamed():
        while name:
            name = name.rpartition(".")[0]
            found.add(name)
    return frozenset(found)


def _own_names(module: ModuleType) -> dict[str, Any]:
    """The attributes that a module has itself: what its `__dict__` is otherwise."""
    found: dict[str, Any] = vars(ModuleType)["__dict__"].__get__(module)
    return found


class WarningModule(ModuleType):
    """A public module whose deprecated names warn on first use.

    Args:
      wrapped: the module in which names are looked up.
      path: the module's name below `tensorflow.`; "" for `tensorflow` itself.
    """

    def __init__(self, wrapped: ModuleType, path: str) -> None:
        name = f"tensorflow.{path}".rstrip(".")
        super().__init__(name, wrapped.__doc__)
        _own_names(self).update(_wrapped=wrapped, _path=path)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """A copy: programs look names up in it, as in `tf.logging.__dict__["INFO"]`."""
        return {**vars(self._wrapped), **_own_names(self)}

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [n for n in dir(self) if not n.startswith("_")]
        value = getattr(self._wrapped, name)
        if name.startswith("__"):
            return value
        path = f"{self._path}.{name}".lstrip(".")
        if path in renamed():
            _warn(path, renamed()[path])
        if isinstance(value, ModuleType):
            value = warning_module(value, path)
        _own_names(self)[name] = value
        return value

    def __dir__(self) -> list[str]:
        return dir(self._wrapped)


def warning_module(module: ModuleType, path: str) -> ModuleType:
    """The proxy of a public module below `tensorflow`; one object per path."""
    if path not in _modules():
        return module
    known = _made.get(path)
    if known is None:
        known = _made.setdefault(path, WarningModule(module, path))
    return known


_made: dict[str, WarningModule] = {}


def _warn(name: str, new: str) -> None:
    """Log the warning, if one of the program's files used the name."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.startswith(deprecation._PACKAGE):
        frame = frame.f_back
    file = frame.f_code.co_filename
    if deprecation._PRINT_DEPRECATION_WARNINGS and not file.startswith("<"):
        get_logger().warning(
            "From %s:%s: The name tf.%s is deprecated. Please use tf.%s instead.\n",
            *(file, frame.f_lineno, name, new),
        )
