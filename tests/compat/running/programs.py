"""Old scripts and notebooks, written into a folder, and what a run of one did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Done(NamedTuple):
    output: list[str]
    told: list[str]
    status: int
    errors: str


Run = Callable[..., Done]


def script(folder: Path, text: str, name: str = "old.py") -> Path:
    (folder / name).write_text(text)
    return folder / name


def notebook(folder: Path, *cells: str, **metadata: object) -> Path:
    made = [
        {"cell_type": "code", "source": cell.splitlines(keepends=True)}
        for cell in cells
    ]
    made.insert(1, {"cell_type": "markdown", "source": ["# Title"]})
    path = folder / "notes.ipynb"
    path.write_text(json.dumps({"cells": made, "metadata": metadata, "nbformat": 4}))
    return path
