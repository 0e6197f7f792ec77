"""The script for the next card, on the stand-in."""

from __future__ import annotations

import numpy as np
import pytest

from tests import strict_card
from tests.benchmarks import on_card


def test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    monkeypatch.setattr(on_card, "STEPS", 1)
    monkeypatch.setattr(on_card, "in_jax", dict)
    some = [("check a sum", lambda: on_card.check(on_card.PROGRAMS[0]))]
    monkeypatch.setattr(on_card, "checks", lambda: iter(some))
    rows = on_card.main("--only times --models linear,unknown --size 64".split())
    found = {row["row"]: row for row in rows}
    assert found["z = x + y"]["step"] == found["linear step"]["step"] == "graph"
    assert found["unknown step"]["error"] == "KeyError: 'unknown'"
    assert found["20 ops on 64 floats"]["one_pass_ms"] > 0.0
    assert found["product of float16"]["tflops"] > 0.0
    assert on_card.main(["--only", "checks"]) == [
        {"row": "check a sum", "off": 0.0, "ok": True, "step": "graph"}
    ]
    assert on_card.main(["--only", "checks", "--limit", "-1"]) == [
        {"row": "check a sum", "left out": True}
    ]


def test_a_wrong_result_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([[[np.ones(2)]], [[np.array([1.0, 1.5])]]])
    monkeypatch.setattr(on_card, "values_on", lambda *_: (next(values), "graph"))
    assert on_card.check(on_card.PROGRAMS[0]) == {
        "off": 0.33,
        "ok": False,
        "step": "graph",
    }
