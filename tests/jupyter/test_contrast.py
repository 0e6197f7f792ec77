"""The view's colours can be read: WCAG's contrast of the pairs that meet on screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = Path(__file__).parents[2] / "widgets" / "src" / "graph.css"

# JupyterLab's own grounds, which stand in for the fallbacks (layout-color0, -color1).
GROUNDS = {"light": ("#ffffff", "#ffffff"), "dark": ("#111111", "#212121")}
FILLS = ["op", "const", "placeholder", "variable", "flow", "scope"]
FILLS += [f"like-{i}" for i in range(6)]
HEAT = [f"heat-{i}" for i in range(5)]


def theme(name: str) -> dict[str, str]:
    """The theme's variables; what dark does not set it takes from light."""
    blocks = re.findall(r"^[^@{}]*\{[^{}]*--tft-bg:[^{}]*\}", CSS.read_text(), re.M)
    assert len(blocks) == 2
    wanted = blocks if name == "dark" else blocks[:1]
    found: dict[str, str] = {}
    for block in wanted:
        found.update(re.findall(r"--tft-([\w-]+):\s*([^;]+);", block))
    found["bg"], found["panel"] = GROUNDS[name]
    return found


def luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_the_measure() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_can_be_read(name: str) -> None:
    colours = theme(name)
    pairs = [(text, on) for text in ("ink", "muted") for on in FILLS]
    pairs += [("ink", on) for on in HEAT]
    pairs += [(text, on) for text in ("ink", "muted") for on in ("bg", "panel", "grid")]
    pairs += [(text, "raised") for text in ("ink", "muted", "fetch")]
    pairs += [(text, on) for text in ("accent", "fetch", "feed") for on in ("panel",)]
    pairs += [("bg", badge) for badge in ("fetch", "feed", "muted")]
    low = {
        f"{text} on {on}": round(contrast(colours[text], colours[on]), 2)
        for text, on in pairs
        if contrast(colours[text], colours[on]) < 4.5
    }
    assert low == {}


@pytest.mark.parametrize("name", ["light", "dark"])
def test_lines_and_outlines_can_be_seen(name: str) -> None:
    colours = theme(name)
    lines = ["edge", "control", "reference", "accent", "fetch", "feed"]
    lines += [f"{fill}-line" for fill in [*FILLS, "heat"]]
    low = {
        line: round(contrast(colours[line], colours["bg"]), 2)
        for line in lines
        if contrast(colours[line], colours["bg"]) < 3
    }
    assert low == {}
