"""Views saved as one HTML page, which works without a kernel and without a network.

The page has what the kernel would send: the modules of the views, their traits, and
the answers to what a reader may ask of it. Its script (widgets/src/page/) is the host.
The content security policy admits that script by its hash and no other, so that a name
in a graph stays text whatever it contains.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
import pathlib
import secrets
from collections.abc import Iterable
from typing import Any, NamedTuple

STATIC = pathlib.Path(__file__).parent / "static"

# Traits of any widget, which no view reads.
_OF_THE_HOST = ("_esm", "_css", "layout", "comm", "tabbable", "tooltip", "_dom_classes")
_PREFIXES_OF_THE_HOST = ("_model_", "_view_", "_anywidget_")


class Answers(NamedTuple):
    """What a kernel would answer to changed traits.

    Attributes:
      asked: the traits that ask.
      cases: (values of these traits, values of the traits that answer).
      otherwise: the answer to all other values, which says that the page has none.
    """

    asked: tuple[str, ...]
    cases: list[tuple[list[Any], dict[str, Any]]]
    otherwise: dict[str, Any]


class Part(NamedTuple):
    """A view in a saved page.

    Attributes:
      title: the words on its tab.
      widget: an anywidget.
      state: traits that differ from those of the widget.
      answers: what the page answers for the kernel; None if nothing is asked of it.
    """

    title: str
    widget: Any
    state: dict[str, Any]
    answers: Answers | None


def page_of(
    title: str, text: str, parts: Iterable[Part], linked: Iterable[str] = ()
) -> str:
    """A self-contained HTML page with one or several views.

    Args:
      title: the title.
      text: the contents as text, for readers without scripts.
      parts: the views; of several, each has a tab.
      linked: the traits that all views have in common.

    Returns:
      HTML.
    """
    views = []
    for part in parts:
        code = part.widget.get_state(["_esm", "_css"])
        code = {"module": code["_esm"], "style": code["_css"]}
        state = part.widget.get_state([k for k in part.widget.keys if not _is_host(k)])
        answers = _wire(part.widget, part.answers)
        state |= part.state
        views.append({"title": part.title, **code, "state": state, "answers": answers})
    return _html(title, text, {"views": views, "linked": list(linked)})


def _is_host(name: str) -> bool:
    """Whether a trait is for Jupyter's page; asking for its layout would make one."""
    return name in _OF_THE_HOST or name.startswith(_PREFIXES_OF_THE_HOST)


def _wire(widget: Any, answers: Answers | None) -> dict[str, Any] | None:
    """Answers as JSON, in which equal values occur once."""
    if answers is None:
        return None
    values: list[Any] = []
    numbers: dict[str, int] = {}

    def number_of(name: str, value: Any) -> int:
        convert = widget.trait_metadata(name, "to_json")
        value = value if convert is None else convert(value, widget)
        number = numbers.setdefault(json.dumps(value), len(values))
        if number == len(values):
            values.append(value)
        return number

    cases = [
        {"when": when, "answer": {k: number_of(k, v) for k, v in answer.items()}}
        for when, answer in answers.cases
    ]
    return {
        "asked": answers.asked,
        "values": values,
        "cases": cases,
        "otherwise": answers.otherwise,
    }


def only_saved(fetches: list[str]) -> str:
    """What a page says of a run that it was not saved for."""
    run = f"fetches {', '.join(fetches)}" if fetches else "has no fetches"
    return (
        f"this page was saved for the run that {run}. Another run has to be planned by "
        "Python, in a notebook."
    )


def _html(title: str, text: str, saved: dict[str, Any]) -> str:
    import tfteach

    # Compressed, since modules and graphs are long; in base64 there is no "</script>".
    packed = gzip.compress(json.dumps(saved, separators=(",", ":")).encode(), mtime=0)
    data = base64.b64encode(packed).decode()
    script = (STATIC / "saved_page.js").read_text("utf-8").replace("</", "<\\/")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}' blob:; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )
    style = (STATIC / "saved_page.css").read_text("utf-8")
    head = html.escape(title)
    return f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="generator" content="tfteach {html.escape(tfteach.__version__)}">
<title>{head}</title>
<style>{style}</style>
<header><h1>{head}</h1>
<p>Saved with tfteach {html.escape(tfteach.__version__)}; works without Python.</p>
</header>
<p id="said" role="status" hidden></p>
<main id="views"></main>
<details><summary>As text</summary><pre>{html.escape(text)}</pre></details>
<script type="application/octet-stream" id="saved">{data}</script>
<script>{script}</script>
</html>
"""


def write_page(path: str | os.PathLike[str], page: str) -> None:
    """Write a page at once: whoever opens the file finds the old or the whole new one.

    Raises:
      OSError: the file cannot be written, such as FileNotFoundError if its folder does
        not exist.
    """
    target = pathlib.Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a directory: expected a file to write")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no directory {target.parent}")
    scratch = target.with_name(f"{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        scratch.write_bytes(page.encode("utf-8", "replace"))  # values may be any text
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)
