"""`tensorflow.python...` and `tensorflow.core...`: paths that old code imports from.

TensorFlow's inner modules define the names of `tf.*` under other paths.  Here such a
path is a module that looks names up in the public packages of its row in
`inner_paths.py`.
"""

from __future__ import annotations

import difflib
import importlib
from types import ModuleType
from typing import Any

from tfteach.compat import estimator_paths, generated_ops
from tfteach.compat.inner_paths import ALIASES, FOR_GRADIENTS, PARENTS, TABLE
from tfteach.compat.modules_at_the_top import AT_THE_TOP
from tfteach.compat.top_level import top_level
from tfteach.framework.protos import pool


def public(path: str) -> Any:
    """The module `tf.<path>`, or None; "." is `tf` itself."""
    found = top_level()
    for part in path.split(".") if path != "." else ():
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found if isinstance(found, ModuleType) else None


def _module(name: str) -> Any:
    """A module of this package, or None."""
    if not name.startswith("tfteach."):
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


class Inner(ModuleType):
    """A module below `tensorflow.python`; names come from the packages of its row."""

    def __init__(self, path: str, packages: tuple[str, ...]) -> None:
        root = "tensorflow" if path.startswith("contrib.") else "tensorflow.python"
        super().__init__(f"{root}.{path}".rstrip("."))
        self.__path__: list[str] = []
        self._place = path
        self._replaced: dict[tuple[str, str], Any] = {}  # what programs set
        self._packages = packages

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # `from tensorflow.python.ops.array_ops import *`
            return [n for n in dir(self) if not n.startswith("_")]
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._lookup(name)
        path = f"{self._place}.{name}".lstrip(".")
        if found is None or path in TABLE:
            # It has more names than the public module, and may share its name with a
            # function in it.
            found = inner(path) or found
        if found is None:
            raise AttributeError(self._told(name), name=name, obj=self)
        if not isinstance(found, bool | int):  # a switch
            super().__setattr__(name, found)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        """Set the attribute in its original module, too: programs set switches here."""
        is_switch = False
        for package in self.__dict__.get("_packages", ()):
            place = _module(package)
            if place is not None and name in vars(place):
                self._replaced.setdefault((package, name), vars(place)[name])
                is_switch = isinstance(value, bool | int)
                setattr(place, name, value)
        if not is_switch:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Undo a setting, as `mock.patch` does."""
        if name in vars(self) or not any(known == name for _, known in self._replaced):
            super().__delattr__(name)
        for package, known in [*self._replaced]:
            if known == name:
                original = self._replaced.pop((package, known))
                setattr(_module(package), name, original)

    def __dir__(self) -> list[str]:
        names = set()
        for package in self._packages:
            place = _module(package)
            names |= set(vars(place)) if place else set(dir(public(package)))
        here = f"{self._place}."
        names |= {p.removeprefix(here) for p in TABLE if p.startswith(here)}
        return sorted(n for n in names if "." not in n)

    def _lookup(self, name: str) -> Any:
        if name.startswith("gen_"):  # TensorFlow's modules import those of theirs
            return generated_ops.module(f"ops.{name}")
        name = ALIASES.get(f"{self._place}.{name}", name)
        for package in self._packages:
            place = _module(package) or public(package)
            try:
                return getattr(place, name)
            except AttributeError:
                continue
        if name.startswith("_"):
            # TensorFlow's private names: what our modules share is public in them.
            for place in filter(None, map(_module, self._packages)):
                if name[1:] in vars(place):
                    return vars(place)[name[1:]]
        return generated_ops.re_exported(self._place, name)

    def _told(self, name: str) -> str:
        shown = " or ".join(
            "tf" if package == "." else f"tf.{package}"
            for package in self._packages
            if not package.startswith("tfteach.")
        )
        message = f"module {self.__name__!r} has no attribute {name!r}"
        if self._place in estimator_paths.ABSENT:
            return f"{message}: {estimator_paths.ABSENT[self._place]} is not there"
        return message + (f": tfteach has no such name in {shown}" if shown else "")


_made: dict[str, Inner] = {}


def inner(path: str) -> Any:
    """The module `tensorflow.python.<path>`, or None."""
    if path.partition(".")[0] == "keras" and public(path):
        return public(path)
    path = AT_THE_TOP.get(path, path)
    if path.rpartition(".")[2].startswith("gen_"):
        return generated_ops.module(path)
    made = _made.get(path)
    if made is not None:
        return made
    row = TABLE.get(path)
    known = row is not None or path in PARENTS or path in FOR_GRADIENTS
    if not known and path not in generated_ops.exporters():
        return None
    if row and not any(public(p) or _module(p) for p in row):
        return None  # its public package is not there
    _made[path] = Inner(path, row or ())
    return _made[path]


def similar(path: str) -> str:
    """Alternatives to a missing `tensorflow.python.<path>`."""
    outer, _, name = path.rpartition(".")
    paths = (path.rpartition(".") for path in TABLE)
    known = [leaf for folder, _, leaf in paths if folder == outer]
    for package in TABLE.get(outer, ()):
        known += dir(public(package))
    close = [k for k in difflib.get_close_matches(name, known, 4, 0.75) if k != name]
    named = f"Is it one of {', '.join(sorted(set(close)))}? " if close else ""
    return f"{named}The public names are those of tf.*."


def proto_module(path: str) -> Any:
    """The module `tensorflow.core.<path>`, such as `framework.graph_pb2`, or None."""
    name = path.rpartition(".")[2]
    if not name.endswith("_pb2"):
        folders = (
            "", "framework", "protobuf", "util", "example", "summary", "kernels",
            "kernels.boosted_trees",
        )  # fmt: skip
        if path not in folders:
            return None
        package = ModuleType(f"tensorflow.core.{path}".rstrip("."))
        package.__path__ = []
        return package
    try:
        return pool.proto_module(name.removesuffix("_pb2"))
    except ModuleNotFoundError:
        return None
