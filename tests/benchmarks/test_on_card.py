"""The script for the next card, on the stand-in."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests import strict_card
from tests.benchmarks import card_model, card_windows, on_card
from tfteach.ops.windows import conv_by_cudnn


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


def test_convolutions_and_pooling(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    small = ((2, 5, 6, 3), (3, 3, 3, 2), (2, 2), (1, 1), "SAME")
    monkeypatch.setattr(card_windows, "SIZES", {"small": small})
    monkeypatch.setattr(card_windows, "CONVOLUTIONS", ["small"])
    pools = {"small": ((2, 5, 6, 3), (2, 2), (2, 2))}
    monkeypatch.setattr(card_windows, "POOLS", pools)
    monkeypatch.setattr(card_model, "CALLS", 1)
    rows = on_card.main(["--only", "windows"])
    assert len(rows) == 4 + 2
    for row in rows:
        assert row["ok"], row
        assert row.get("refused", []) == []
    assert len(rows[0]["cudnn_ms"]) == len(rows[0]["products_ms"]) == 3
    monkeypatch.setitem(sys.modules, "cudnn", None)
    conv_by_cudnn._cudnn.cache_clear()
    found = on_card.main(["--only", "windows"])[0]
    assert found["refused"] == [conv_by_cudnn.NOT_INSTALLED]


def test_random_numbers_and_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    monkeypatch.setattr(on_card, "card_name", lambda: "NVIDIA H200, CuPy 14")
    monkeypatch.setattr(on_card, "DRAWN", 1003)
    monkeypatch.setattr(on_card, "PROGRAMS", [])
    monkeypatch.setattr(on_card, "LOOPS", {})
    monkeypatch.setattr(on_card, "CHAINS", [])
    rows = on_card.main(["--only", "checks"])
    assert len(rows) == 8
    assert all(row["ok"] and "error" not in row for row in rows)
    for row in on_card.main("--only model --size 400".split()):
        assert row["times_the_model"] == pytest.approx(
            row["measured_us"] / row["modelled_us"], rel=0.05
        )
    assert row["formula"].endswith("of PCIe 5.0 x16")
    monkeypatch.setattr(on_card, "card_name", lambda: "GeForce")
    [row] = on_card.main("--only model".split())
    assert row["left out"] == "no model of GeForce"


def test_a_wrong_result_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([[[np.ones(2)]], [[np.array([1.0, 1.5])]]])
    monkeypatch.setattr(on_card, "values_on", lambda *_: (next(values), "graph"))
    assert on_card.check(on_card.PROGRAMS[0]) == {
        "off": 0.33,
        "ok": False,
        "step": "graph",
    }
