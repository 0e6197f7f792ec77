"""Names of a module that are imported on first use (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def no_attribute(module: str, name: str) -> AttributeError:
    """Python's own error for a name that a module does not have."""
    return AttributeError(f"module {module!r} has no attribute {name!r}", name=name)


def lazy_getattr(
    module: str,
    find: Callable[[str], Any],
    missing: Callable[[str, str], AttributeError] = no_attribute,
) -> Callable[[str], Any]:
    """A module's `__getattr__`; each result is stored as an attribute of the module.

    Args:
      module: the module's `__name__`.
      find: name -> value, or None if the module has no such name.
      missing: (module, name) -> the error to raise.
    """

    def getattr_of_module(name: str) -> Any:
        found = find(name)
        if found is None:
            raise missing(module, name)
        setattr(sys.modules[module], name, found)
        return found

    return getattr_of_module


def imported(places: Mapping[str, tuple[str, str]]) -> Callable[[str], Any]:
    """A function that imports the object of a name, for `lazy_getattr`.

    Args:
      places: name -> (module, attribute), or (module, "") for the module itself.
    """

    def find(name: str) -> Any:
        if name not in places:
            return None
        module, attribute = places[name]
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found

    return find
