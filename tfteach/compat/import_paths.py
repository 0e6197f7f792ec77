"""`import tfteach.contrib.layers`: the public modules by their public paths.

The folders of this package are named for its developers, `tf.contrib.layers` for its
users.  A finder installed before Python's own resolves the public paths.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

_PACKAGE = "tfteach."
# The package's own folders, which Python finds.
_ROOMS = frozenset(
    "api autodiff compat control engine explain framework jupyter lib ops "
    "variables".split()
)


class _PublicModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tfteach.<public module>`."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        package, _, below = name.partition(".")
        if package != "tfteach" or not below or _is_ours(below):
            return None
        if _public(name) is None:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        # The same module object as `tf.<name>`: import returns sys.modules[name].
        found = _public(module.__name__)
        assert found is not None
        if not hasattr(found, "__path__"):
            found.__path__ = []  # so that Python looks for submodules
        sys.modules[module.__name__] = found


def _is_ours(path: str) -> bool:
    first, _, rest = path.partition(".")
    # The folder `compat` and the public `tf.compat`, which contains v1 and v2, share
    # their name.
    return first in _ROOMS and not (first == "compat" and rest[:2] in ("v1", "v2"))


def _public(name: str) -> ModuleType | None:
    """The public module `name`, which begins with "tfteach.", or None."""
    found: Any = sys.modules["tfteach"]
    path = name.removeprefix(_PACKAGE)
    first, _, below = path.partition(".")
    if first == "examples":
        return _module(f"tfteach.compat.examples.{below}".rstrip("."))
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found if isinstance(found, ModuleType) else None


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as err:
        if err.name != name:
            raise
        return None


_FINDER = _PublicModules()


def install() -> None:
    """Resolve the public paths from now on."""
    if _FINDER not in sys.meta_path:  # `%reload_ext` runs the package again
        sys.meta_path.insert(0, _FINDER)
