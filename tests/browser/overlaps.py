"""Whether labels of lines lie on boxes, headers, badges, borders or one another."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator

SEARCH = """(root) => {
    const rect = (el, name) => {
        const {left, right, top, bottom} = el.getBoundingClientRect();
        return {left, right, top, bottom, name};
    };
    const all = (selector, name) => [...root.querySelectorAll(selector)].map(
        (el) => rect(el, name(el)));
    const label = (el) => `label ${el.textContent}`;
    const box = (el) => `box ${el.parentNode.dataset.id}`;
    const labels = [...root.querySelectorAll('.tft-label')].filter(
        (el) => el.textContent).map((el) => rect(el, label(el)));
    const solid = [
        ...all('.tft-canvas .tft-node:not(.tft-open) > .tft-shape', box),
        ...all('.tft-open-title', (el) => `header ${el.textContent}`),
        ...all('.tft-area text', (el) => `header ${el.textContent}`),
        ...all('.tft-badge rect', (el) => `badge ${el.parentNode.textContent}`),
    ];
    const open = all('.tft-canvas .tft-node.tft-open > .tft-shape', box);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.3
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.3;
    const holds = (a, b) => a.left <= b.left && a.right >= b.right
        && a.top <= b.top && a.bottom >= b.bottom;
    const found = [];
    labels.forEach((a, i) => {
        for (const b of [...labels.slice(i + 1), ...solid])
            if (meet(a, b)) found.push(`${a.name} on ${b.name}`);
        for (const b of open)
            if (meet(a, b) && !holds(b, a)) found.push(`${a.name} across ${b.name}`);
    });
    return {count: labels.length, found};
}"""

AT_REST = """(root) => new Promise((done) => {
    let before = '';
    const look = () => {
        const now = [...root.querySelectorAll('.tft-canvas .tft-node')].map(
            (el) => el.getAttribute('transform')).join();
        if (now === before) done();
        else { before = now; setTimeout(() => requestAnimationFrame(look), 60); }
    };
    look();
})"""


def check_labels(view: Locator, at_least: int) -> None:
    """Once the boxes have come to rest, no label lies on anything.

    Args:
      view: a view with a graph.
      at_least: the number of labels that must be there.
    """
    view.evaluate(AT_REST)
    result: Any = view.evaluate(SEARCH)
    assert result["found"] == []
    assert result["count"] >= at_least, result
