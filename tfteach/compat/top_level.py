"""The package as programs see it, for the compat modules that emulate its paths.

The package imports everything, so modules below cannot import it: it registers itself.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

_registered: ModuleType | None = None


def register(package: ModuleType) -> None:
    """Make `top_level` return `package`."""
    global _registered
    _registered = package


def top_level() -> Any:
    """The package `tfteach`."""
    assert _registered is not None, "tfteach registers itself when it is imported"
    return _registered
