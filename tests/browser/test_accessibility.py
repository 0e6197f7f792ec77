"""Every view for every reader: axe-core's rules, contrast, keyboard, calm."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator

from tests.browser import views
from tests.browser.lab import Lab
from tfteach.jupyter import _VIEWS

AXE = Path(__file__).parents[2] / "widgets" / "node_modules" / "axe-core" / "axe.min.js"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not AXE.exists(), reason="run widgets/hatch_build.py build"),
]

# `region` asks for landmarks around everything, which is the host page's business.
RUN_AXE = """async (roots) => {
    const {violations} = await axe.run({include: roots}, {
        resultTypes: ['violations'], rules: {region: {enabled: false}},
    });
    // A box is named in full, its words in the picture are short for that.
    const known = ({id}, {html}) => id === 'label-content-name-mismatch'
        && html.includes('class="tft-node ');
    return violations
        .filter(({impact}) => impact === 'serious' || impact === 'critical')
        .flatMap((rule) => rule.nodes.filter((node) => !known(rule, node)).slice(0, 8)
            .map((node) => `${rule.id}: ${node.html.slice(0, 150)} ` +
                node.any.concat(node.all).map((check) => check.message).join('; ')));
}"""

# axe reads `color` and knows nothing of `fill`: words in pictures are measured here.
SVG_CONTRAST = """(root) => {
    const parse = (text) => {
        const parts = text.match(/[\\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
        return text === 'none' ? [0, 0, 0, 0] : [...parts, 1].slice(0, 4);
    };
    const over = ([r, g, b, a], ground) =>
        [r, g, b].map((c, i) => c * a + ground[i] * (1 - a)).concat(1);
    const light = (colour) => {
        const [r, g, b] = colour.slice(0, 3).map((c) => c / 255).map(
            (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const groundOf = (el) => {
        const colours = [];
        for (let e = el; e !== null; e = e.parentElement) {
            if (e instanceof SVGGElement) {
                const shape = [...e.children].find(
                    (child) => child.matches('.tft-shape, rect'));
                if (shape) colours.push(parse(getComputedStyle(shape).fill));
            } else if (!(e instanceof SVGElement)) {
                colours.push(parse(getComputedStyle(e).backgroundColor));
            }
        }
        return colours.reverse().reduce(
            (ground, colour) => over(colour, ground), [255, 255, 255, 1]);
    };
    const found = new Set();
    for (const text of root.querySelectorAll('svg text')) {
        const style = getComputedStyle(text);
        if (!text.textContent.trim() || style.visibility === 'hidden') continue;
        if (text.getClientRects().length === 0 || style.display === 'none') continue;
        const ground = groundOf(text);
        const [a, b] = [light(over(parse(style.fill), ground)), light(ground)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) {
            found.add(`${text.getAttribute('class')} in ` +
                `${text.parentNode.getAttribute('class')}: ${ratio.toFixed(2)}`);
        }
    }
    return [...found];
}"""


def test_every_view_is_looked_at() -> None:
    assert set(views.CELLS) >= set(_VIEWS), "a view has no cell in views.py"


AllViews = tuple[Lab, list[tuple[str, Locator]]]


@pytest.fixture(scope="module")
def all_views(module_lab: Lab) -> AllViews:
    """One notebook with every view, its panels open, a box selected."""
    lab = module_lab
    names = views.open_all(lab, "every_view.ipynb")
    lab.page.evaluate(AXE.read_text())
    # Lab's body has no height and hides what overflows: axe takes all for hidden.
    lab.page.add_style_tag(content="body { height: 100vh }")
    roots = [(name, views.root_of(lab, i + 1)) for i, name in enumerate(names)]
    for _, root in roots:
        for words in ("Outline: the graph as a list", "What the signs mean"):
            button = root.get_by_role("button", name=words)
            if button.count():
                button.first.click()
        box = root.locator(".tft-node[data-id='x']")
        if box.count() and box.first.is_visible():
            box.first.focus()
            box.first.dispatch_event("click")
    return lab, roots


def violations(lab: Lab, roots: list[Locator]) -> list[str]:
    """What axe-core says of the views, at once: each run looks at the whole page."""
    before = lab.page.viewport_size
    # As high as the notebook: what is scrolled away counts as hidden.
    lab.page.set_viewport_size({"width": 1400, "height": 20_000})
    handles = [root.element_handle() for root in roots]
    lab.page.wait_for_timeout(1000)  # JupyterLab follows
    roots[0].scroll_into_view_if_needed()
    try:
        found: list[str] = lab.page.evaluate(RUN_AXE, handles)
    finally:
        assert before is not None
        lab.page.set_viewport_size(before)
    return found


@pytest.mark.parametrize("theme", [views.DARK, views.LIGHT])
def test_no_serious_violation(all_views: AllViews, theme: str) -> None:
    lab, roots = all_views
    lab.set_theme(theme)
    lab.page.wait_for_timeout(400)  # colours fade to the new theme's
    assert violations(lab, [root for _, root in roots]) == []
    pale = {
        name: found for name, root in roots if (found := root.evaluate(SVG_CONTRAST))
    }
    assert not pale, json.dumps(pale, indent=1)


# Each view brings a style sheet, and a page has them in the order in which the views
# came: what an element looks like may not depend on it.
OTHER_ORDER = """(roots) => {
    const calm = document.head.appendChild(document.createElement('style'));
    calm.textContent = '* { transition: none !important; animation: none !important }';
    const looks = () => roots.flatMap((root) => [root, ...root.querySelectorAll('*')])
        .map((el) => {
            const style = getComputedStyle(el);
            return [el.getAttribute('class') ?? el.tagName, ...['fill', 'stroke',
                'stroke-width', 'stroke-dasharray', 'color', 'background-color',
                'display', 'position', 'overflow', 'padding', 'margin', 'border',
                'font-size', 'opacity', 'text-anchor'].map(
                    (name) => `${name}: ${style.getPropertyValue(name)}`)];
        });
    const before = looks();
    const sheets = [...document.head.querySelectorAll('style')]
        .filter((sheet) => sheet.textContent.includes('.tft-'));
    const turn = (these) => these.forEach((sheet) => document.head.append(sheet));
    turn([...sheets].reverse());
    const after = looks();
    turn(sheets);
    calm.remove();
    return [sheets.length, before.flatMap((look, i) => look
        .map((said, n) => [look[0], said, after[i][n]])
        .filter(([, one, other]) => one !== other)).slice(0, 20)];
}"""


def test_no_view_changes_the_look_of_another(all_views: AllViews) -> None:
    lab, roots = all_views
    handles = [root.element_handle() for _, root in roots]
    count, different = lab.page.evaluate(OTHER_ORDER, handles)
    assert count >= len(_VIEWS)
    assert different == []


def test_the_checks_see_what_is_wrong(all_views: AllViews) -> None:
    lab, roots = all_views
    lab.set_theme(views.LIGHT)
    root = dict(roots)["GraphView"]
    before = root.evaluate("root => root.innerHTML.length")
    root.evaluate(
        """(root) => {
            root.style.setProperty('--tft-muted', '#8a8f96');
            root.style.setProperty('--tft-ink', '#c9ccd1');
            root.querySelector('.tft-bar').append(document.createElement('button'));
        }"""
    )
    found = "\n".join(violations(lab, [root]) + root.evaluate(SVG_CONTRAST))
    root.evaluate(
        """(root) => {
            root.removeAttribute('style');
            root.querySelector('.tft-bar').lastChild.remove();
        }"""
    )
    assert root.evaluate("root => root.innerHTML.length") == before
    first, last = roots[0][1], roots[-1][1]  # far down in the notebook
    last.evaluate("root => root.style.setProperty('--tft-muted', '#c9ccd1')")
    assert "color-contrast" in "\n".join(violations(lab, [first, last]))
    last.evaluate("root => root.removeAttribute('style')")
    for expected in ("button-name", "color-contrast", "tft-title in"):
        assert expected in found, found


# What Tab reaches: everything that can be pressed, and nothing that can't be seen.
TAB_STOPS = """(root) => [...root.querySelectorAll(
    'button, input, select, summary, a[href], textarea, [tabindex]')]
    .filter((e) => e.tabIndex >= 0 && !e.disabled && e.getClientRects().length > 0
        && getComputedStyle(e).visibility === 'visible').length"""

# Records what gets the focus from now on, null for what is outside of the view.
RECORD_FOCUS = """(root) => {
    const before = document.createElement('button');
    root.before(before);
    before.focus();
    const found = [];
    const note = ({target: e}) => {
        if (!root.contains(e)) { found.push(null); return; }
        const name = e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent
            ?? e.textContent;
        const style = getComputedStyle(e);
        const outlined = style.outlineStyle !== 'none' && style.outlineWidth !== '0px';
        const stage = e.closest('.tft-stage');
        const framed = stage !== null
            && getComputedStyle(stage, '::after').boxShadow !== 'none';
        const shown = outlined || framed || style.boxShadow !== 'none';
        found.push({name: name.trim().slice(0, 60), shown, tag: e.tagName});
    };
    document.addEventListener('focusin', note);
    window.endOfFocus = () => {
        document.removeEventListener('focusin', note);
        before.remove();
        return [found, root.contains(document.activeElement)];
    };
}"""


def test_tab_reaches_everything_and_leaves_again(all_views: AllViews) -> None:
    lab, roots = all_views
    found: dict[str, Any] = {}
    for view, root in roots:
        stops = root.evaluate(TAB_STOPS)
        root.evaluate(RECORD_FOCUS)
        for _ in range(stops + 2):
            lab.page.keyboard.press("Tab")
        focused, stays = lab.page.evaluate("() => window.endOfFocus()")
        reached = list(itertools.takewhile(lambda at: at is not None, focused))
        problems = [f"{at['tag']} without a name" for at in reached if not at["name"]]
        problems += [
            f"no focus to see on {a['name']}" for a in reached if not a["shown"]
        ]
        # Chromium stops at what scrolls, too, if it has nothing to stop at inside.
        if stays or not stops <= len(reached) <= stops + 1:
            problems.append(f"{len(reached)} of {stops} stops reached")
        if problems:
            found[view] = problems
    assert not found, json.dumps(found, indent=1)


def test_nothing_moves_for_who_asks_for_calm(all_views: AllViews) -> None:
    lab, roots = all_views
    lab.page.emulate_media(reduced_motion="reduce")
    found: dict[str, Any] = {}
    for name, root in roots:
        moving = root.evaluate(
            """async (root) => {
                const closed = root.querySelector('.tft-toggle');
                closed?.dispatchEvent(new MouseEvent('click', {bubbles: true}));
                await new Promise((done) => requestAnimationFrame(done));
                const long = [...root.querySelectorAll('*')].filter((e) => {
                    const {transitionDuration, animationName} = getComputedStyle(e);
                    return animationName !== 'none'
                        || transitionDuration.split(',').some((t) => parseFloat(t) > 0);
                });
                const names = long.map(
                    (e) => `${e.tagName} ${e.getAttribute('class')}`);
                const running = root.getAnimations({subtree: true}).length;
                return [...new Set(names)].slice(0, 5).concat(
                    running > 0 ? [`${running} animations run`] : []);
            }"""
        )
        if moving:
            found[name] = moving
    lab.page.emulate_media(reduced_motion="no-preference")
    assert not found, json.dumps(found, indent=1)
