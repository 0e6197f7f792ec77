"""The views' colours can be read: WCAG's contrast of what meets on screen.

Every style sheet of the views is read, in both themes, in JupyterLab and in a host that
says nothing of its colours: each colour of text against the ground it stands on.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

SHEETS = sorted((Path(__file__).parents[2] / "widgets" / "src").rglob("*.css"))

# What a page says of its grounds: JupyterLab's (layout-color0, -color1), or nothing.
LAB = {
    "light": {"--jp-layout-color0": "#ffffff", "--jp-layout-color1": "#ffffff"},
    "dark": {"--jp-layout-color0": "#111111", "--jp-layout-color1": "#212121"},
}
HOSTS = [(theme, host) for theme in ("light", "dark") for host in ("lab", "bare")]

FILLS = ["op", "const", "placeholder", "variable", "flow", "scope"]
FILLS += [f"like-{i}" for i in range(6)]

# Shapes, not words, although their rules have a `color`.
NO_TEXT = ("::before", "::after", "-sign", "-dot")


class Rule(NamedTuple):
    """A rule of a sheet."""

    sheet: str
    selector: str
    values: dict[str, str]


def read_rules() -> list[Rule]:
    found = []
    for sheet in SHEETS:
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.S)
        for selector, body in re.findall(r"([^{};]+)\{([^{}]*)\}", text):
            values = dict(re.findall(r"([\w-]+)\s*:\s*([^;]+)", body))
            found.append(Rule(sheet.name, " ".join(selector.split()), values))
    return found


RULES = read_rules()


class Palette:
    """The custom properties of a theme, resolved to colours."""

    def __init__(self, theme: str, host: str) -> None:
        self.known = dict(LAB[theme]) if host == "lab" else {}
        for dark in (False, True) if theme == "dark" else (False,):
            for rule in RULES:
                if (".tft-dark" in rule.selector) == dark:
                    own = {
                        k: v for k, v in rule.values.items() if k.startswith("--tft")
                    }
                    self.known.update(own)

    def colour(self, text: str, ground: str = "#ffffff") -> str | None:
        """As #rrggbb on a ground; None of what is no colour or one of the page's."""
        text = text.replace("!important", "").strip()
        if match := re.fullmatch(r"var\((--[\w-]+)(?:,\s*(.+))?\)", text):
            value = self.known.get(match[1], match[2])
            return None if value is None else self.colour(value, ground)
        if match := re.fullmatch(
            r"color-mix\(in srgb, (.+) ([\d.]+)%, transparent\)", text
        ):
            return over(self.colour(match[1]), float(match[2]) / 100, ground)
        if match := re.fullmatch(r"rgb\((\d+) (\d+) (\d+) / ([\d.]+)%\)", text):
            digits = "".join(f"{int(part):02x}" for part in match.groups()[:3])
            return over(f"#{digits}", float(match[4]) / 100, ground)
        if re.fullmatch(r"#[0-9a-f]{3}", text):
            return "#" + "".join(2 * digit for digit in text[1:])
        return text if re.fullmatch(r"#[0-9a-f]{6}", text) else None

    def named(self, name: str) -> str:
        found = self.colour(f"var(--tft-{name})")
        assert found is not None, name
        return found


def parts(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def over(colour: str | None, share: float, ground: str) -> str | None:
    """A colour that lets its ground through."""
    if colour is None:
        return None
    both = zip(parts(colour), parts(ground), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in both)


def luminance(colour: str) -> float:
    red, green, blue = (
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4
        for p in (part / 255 for part in parts(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def words_of(rule: Rule) -> str | None:
    """The colour that a rule gives to words."""
    if rule.selector.endswith(NO_TEXT):
        return None
    if "color" in rule.values:
        return rule.values["color"]
    last = rule.selector.split()[-1]
    return rule.values.get("fill") if re.search(r"text|label|name|word", last) else None


def grounds_of(rule: Rule, palette: Palette) -> list[str]:
    """What its words stand on: its own ground, else those of the views."""
    pages = [palette.named("bg"), palette.named("panel")]
    own = rule.values.get("background", rule.values.get("background-color", ""))
    if own in ("var(--fill)", "var(--fill, var(--tft-op))"):
        return [palette.named(fill) for fill in FILLS]
    painted = [found for page in pages if (found := palette.colour(own, page))]
    return painted or pages


def test_the_measure() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert over("#000000", 0.5, "#ffffff") == "#808080"


def test_every_sheet_is_read() -> None:
    assert {rule.sheet for rule in RULES} == {sheet.name for sheet in SHEETS}
    assert sum(words_of(rule) is not None for rule in RULES) > 100


@pytest.mark.parametrize(("theme", "host"), HOSTS)
def test_words_can_be_read_where_they_stand(theme: str, host: str) -> None:
    palette = Palette(theme, host)
    low = {}
    for rule in RULES:
        words = words_of(rule)
        if words is None or (
            words == "var(--tft-bg)" and not rule.values.get("background")
        ):
            continue  # words of badges, which stand on no ground of the view
        for ground in grounds_of(rule, palette):
            colour = palette.colour(str(words), ground)
            if colour is not None and contrast(colour, ground) < 4.5:
                ratio = round(contrast(colour, ground), 2)
                low[f"{rule.sheet} {rule.selector}: {words} on {ground}"] = ratio
    assert low == {}


@pytest.mark.parametrize(("theme", "host"), HOSTS)
def test_words_can_be_read_in_boxes(theme: str, host: str) -> None:
    palette = Palette(theme, host)
    fills = {
        fill
        for rule in RULES
        if (fill := palette.colour(rule.values.get("--fill", ""))) is not None
    }
    fills |= {palette.named(name) for name in [*FILLS, "raised", "grid", "bg", "panel"]}
    assert len(fills) > 15
    heat = {palette.named(f"heat-{i}") for i in range(5)}
    pairs = [(name, on) for name in ("ink", "muted") for on in fills - heat]
    pairs += [("ink", on) for on in heat]
    pairs += [("bg", palette.named(badge)) for badge in ("fetch", "feed", "muted")]
    low = {
        f"{name} on {on}": round(contrast(palette.named(name), on), 2)
        for name, on in pairs
        if contrast(palette.named(name), on) < 4.5
    }
    assert low == {}


@pytest.mark.parametrize(("theme", "host"), HOSTS)
def test_lines_and_outlines_can_be_seen(theme: str, host: str) -> None:
    palette = Palette(theme, host)
    lines = {"edge", "control", "reference", "accent", "fetch", "feed", "copy"}
    lines |= {
        match[1]
        for rule in RULES
        if (match := re.fullmatch(r"var\(--tft-(.+)\)", rule.values.get("--line", "")))
    }
    lines -= {"open-line"}  # a frame, whose title and ground say the same
    assert len(lines) > 20
    ground = palette.named("bg")
    low = {
        line: round(contrast(palette.named(line), ground), 2)
        for line in lines
        if contrast(palette.named(line), ground) < 3
    }
    assert low == {}


def test_no_sheet_counts_on_jupyters_colours() -> None:
    """Where a host has none, the words of a light page would stand on a dark one."""
    counting = {
        f"{rule.sheet} {rule.selector}: {key}"
        for rule in RULES
        for key, value in rule.values.items()
        if re.search(r"--jp-(?!layout-color[01]|code-font)", value)
    }
    assert counting == set()
