"""CONTRIBUTING.md draws every folder, and the tests mirror the package."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GROUPED = {"tfteach/api", "tfteach/lib/contrib", "tfteach/compat/examples"}


def drawn_folders() -> set[str]:
    """The folders in CONTRIBUTING.md's tree, as paths without a closing slash."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = text.split("## The tree\n")[1].split("\n\nImports point one way")[0]
    found: set[str] = set()
    parent = ""
    for line in tree.splitlines():
        matched = re.match(r"(    |      )((?:[\w/]+/ ?)+)(?: |$)", line)
        if not matched:
            continue
        names = matched[2].split()
        if matched[1] == "    ":
            parent = names[0].rstrip("/")
            found.add(parent)
        else:
            found |= {f"{parent}/{name.rstrip('/')}" for name in names}
    return found


def packages() -> set[str]:
    """The folders of the package that hold modules; of a group only the group."""
    found = {
        path.parent.relative_to(ROOT).as_posix()
        for path in (ROOT / "tfteach").rglob("*.py")
    } - {"tfteach"}
    inside = {f for f in found for group in GROUPED if f.startswith(f"{group}/")}
    return found - inside


def test_the_tree_in_contributing_is_complete() -> None:
    drawn = drawn_folders()
    assert packages() - drawn == set()
    assert {folder for folder in drawn if not (ROOT / folder).is_dir()} == set()


def test_the_tests_mirror_the_package() -> None:
    """A folder of tests is a folder of the package, or in CONTRIBUTING.md's tree."""
    drawn = drawn_folders()
    folders = {
        path.parent.relative_to(ROOT / "tests").as_posix()
        for path in (ROOT / "tests").rglob("*.py")
    }
    others = {
        folder
        for folder in folders
        if not (ROOT / "tfteach" / folder).is_dir()
        and not any(f"tests/{folder}/".startswith(f"{d}/") for d in drawn - {"tests"})
    }
    assert others == set()
