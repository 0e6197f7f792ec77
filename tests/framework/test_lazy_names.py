"""Names of modules that are imported when they are first used."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from tfteach.framework.lazy_names import imported, lazy_getattr


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("made")
    monkeypatch.setitem(sys.modules, "made", made)
    return made


def test_a_name_is_looked_up_once(module: ModuleType) -> None:
    asked = []

    def find(name: str) -> str | None:
        asked.append(name)
        return "found" if name == "known" else None

    module.__getattr__ = lazy_getattr("made", find)  # type: ignore[method-assign]
    assert module.known == "found"
    assert module.known == "found"
    with pytest.raises(AttributeError, match="module 'made' has no attribute 'other'"):
        _ = module.other
    assert asked == ["known", "other"]


def test_modules_and_their_attributes_are_imported() -> None:
    import math

    find = imported({"root": ("math", "sqrt"), "m": ("math", "")})
    assert find("root") is math.sqrt
    assert find("m") is math
    assert find("sqrt") is None


def test_the_error_can_be_another(module: ModuleType) -> None:
    def missing(where: str, name: str) -> AttributeError:
        return AttributeError(f"no {name} in {where}")

    found = lazy_getattr("made", lambda _: None, missing)
    with pytest.raises(AttributeError, match="no x in made"):
        found("x")
