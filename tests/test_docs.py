"""README.md and docs/: links resolve, pictures are small, decisions are complete."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests import reference
from tfteach.jupyter import _VIEWS
from tfteach.jupyter.magics import MAGICS

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
DECISIONS = ROOT / "docs" / "decisions"
PAGES = [
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/**/*.md")),
]
MOST_BYTES = 150_000


def links(page: Path) -> list[str]:
    """What a page links to or shows, as it is written; code is no link."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    found = re.findall(r'(?:src|srcset)="([^"]+)"|\]\(([^)\s]+)\)', text)
    return ["".join(either) for either in found]


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).lower().replace(" ", "-") for head in heads}


def test_every_view_and_magic_has_its_place() -> None:
    text = (ROOT / "docs" / "views.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (\w+)$", text, re.MULTILINE)
    assert set(heads) >= set(_VIEWS)
    for module, name in MAGICS.items():
        found = import_module(f"tfteach.jupyter.magics.{module}")
        for kind, marker in (("line", "%"), ("cell", "%%")):
            for magic in getattr(found, name).magics[kind]:
                assert re.search(rf"(?<!%){marker}{magic}\b", text), marker + magic


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in links(page):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_pictures_are_small_and_shown() -> None:
    shown = {
        (ROOT / page).parent / "".join(link)
        for page in PAGES
        for link in links(ROOT / page)
    }
    there = set(PICTURES.iterdir())
    assert there
    assert there - {path.resolve() for path in shown} == set()
    for path in there:
        assert path.stat().st_size <= MOST_BYTES, path.name
        assert path.read_bytes().startswith(b"\x89PNG")


def test_each_picture_is_there_in_light_and_in_dark() -> None:
    names = {path.stem.rpartition("_")[0] for path in PICTURES.iterdir()}
    themes = {f"{name}_{theme}" for name in names for theme in ("light", "dark")}
    assert {path.stem for path in PICTURES.iterdir()} == themes


def test_functions_on_the_page_of_explain_are_imported_from_there():
    page = (ROOT / "docs/explain.md").read_text(encoding="utf-8")
    lines = re.findall(r"^from tfteach\.explain import .+$", page, re.MULTILINE)
    assert len(lines) > 30
    for line in lines:
        exec(line, {})


@pytest.mark.parametrize("path", reference.PAGES)
def test_reference_pages_are_current(path: str) -> None:
    written = (ROOT / path).read_text(encoding="utf-8")
    assert written == reference.PAGES[path](), f"run {reference.COMMAND}"


def test_decisions_are_indexed_by_number_and_title() -> None:
    pages = {path.name: path for path in DECISIONS.glob("[0-9]*.md")}
    assert sorted(int(name[:4]) for name in pages) == [*range(1, len(pages) + 1)]
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^- \[(.+)\]\((\S+)\)$", index, re.MULTILINE)
    titles = {}
    for name, path in pages.items():
        titles[name] = (
            path.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")
        )
        assert titles[name].startswith(f"{int(name[:4])}. "), name
    assert sorted((name, title) for title, name in rows) == sorted(titles.items())


@pytest.mark.parametrize("name", sorted(p.name for p in DECISIONS.glob("[0-9]*.md")))
def test_decision_is_complete(name: str) -> None:
    text = (DECISIONS / name).read_text(encoding="utf-8")
    assert re.search(r"^Date: \d{4}-\d\d-\d\d", text, re.MULTILINE)
    sections = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    assert sections[::2] == ["Context", "Decision", "Consequences", "Rejected"]
    assert all(section.strip() for section in sections[1::2])
    built = "tfteach/jupyter/static"
    named = re.findall(r"\b(?:tfteach|tests|widgets|notebooks)/[\w./-]*\w/?", text)
    missing = {path for path in named if not (ROOT / path).exists()}
    assert {path for path in missing if not path.startswith(built)} == set()
