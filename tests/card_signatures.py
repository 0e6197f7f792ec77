"""What CuPy's functions accept, for tests/strict_card.py."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.golden import cupy_signatures

SIGNATURES: dict[str, Any] = json.loads(
    Path(cupy_signatures.__file__).with_suffix(".json").read_text()
)


def checked(
    name: str, known: list[str] | None, args: tuple[Any, ...], keywords: Iterable[str]
) -> None:
    """Raises TypeError: CuPy's function does not have these parameters."""
    if known is None:
        return
    if len(args) > len(known):
        raise TypeError(f"{name}() accepts {len(known)} arguments, got {len(args)}")
    for keyword in keywords:
        if keyword not in known:
            raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")
