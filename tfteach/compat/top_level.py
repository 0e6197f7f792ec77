"""The package as programs see it, for the modules below that stand in for its paths.

It imports everything, so that nothing below can import it: it registers itself.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

_registered: ModuleType | None = None


def register(package: ModuleType) -> None:
    """Make `package` what `top_level` returns."""
    global _registered
    _registered = package


def top_level() -> Any:
    """The package `tfteach`."""
    assert _registered is not None, "tfteach registers itself when it is imported"
    return _registered
