"""A slice of `tests.fuzz.placements`, for every run of the tests."""

from __future__ import annotations

import pytest

from tests.fuzz import placement_graphs, placements
from tfteach.engine.devices import devices


def test_placements_are_whole_and_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cuda_cards", lambda: 0)
    seeds = list(range(20))
    found = placements.by_tfteach(seeds)
    assert placements.by_tfteach(seeds) == found
    errors = [run["error"][0] for runs in found for run in runs if "error" in run]
    assert set(errors) == {"InvalidArgumentError"}
    for seed, runs in zip(seeds, found, strict=True):
        _, fields = placement_graphs.options_of(seed)
        if "graph_options" in fields:
            continue
        names: set[str] = set()  # the whole graph is logged, whatever is run
        for run in runs:
            if run["log"] and "error" not in run:
                logged = {line.split(": ")[0] for line in run["log"]}
                assert len(logged) == len(run["log"])
                assert names <= logged
                names = logged
