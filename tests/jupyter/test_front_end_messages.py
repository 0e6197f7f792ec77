"""The page's types name exactly the traits that the widgets synchronize."""

from __future__ import annotations

import re
from pathlib import Path

import anywidget
import pytest

import tfteach.jupyter as tfj

KERNEL = Path(__file__).parents[2] / "widgets" / "src" / "kernel"
BY_ANYWIDGET = {name for name, _ in anywidget.AnyWidget.class_traits().items()}

# Every exported view has a TypeScript interface; only these two differ in name.
INTERFACES = {"GraphDiff": "DifferenceTraits"}
VIEWS = sorted(
    name
    for name in tfj.__all__
    if isinstance(view := getattr(tfj, name), type)
    and issubclass(view, anywidget.AnyWidget)
)


def interfaces() -> dict[str, set[str]]:
    """Interface -> its fields, inherited ones included."""
    source = "".join(path.read_text() for path in sorted(KERNEL.glob("*_messages.ts")))
    found: dict[str, set[str]] = {}
    pattern = r"^export interface (\w+Traits)(?: extends ([\w, ]+))? \{\n(.*?)^\}"
    for name, bases, body in re.findall(pattern, source, re.MULTILINE | re.DOTALL):
        found[name] = set(re.findall(r"^  (\w+):", body, re.MULTILINE))
        for base in bases.split(", "):
            found[name] |= found.get(base, set())
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_knows_a_views_traits(view: str) -> None:
    synced = set(getattr(tfj, view).class_traits(sync=True)) - BY_ANYWIDGET
    fields = interfaces()[INTERFACES.get(view, view.removesuffix("View") + "Traits")]
    assert fields == synced - {"_esm", "_css"}
