"""The lessons' checks, imported as a lesson imports them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"


@pytest.fixture(scope="module")
def checks() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(NOTEBOOKS)
        yield importlib.import_module("lesson_checks")
