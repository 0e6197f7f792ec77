"""Elements and nodes of datasets as real TensorFlow 1.15 has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import (
    dataset_elements,
    dataset_files,
    dataset_groups,
    dataset_inner,
    dataset_threads,
    datasets,
)

RECORDED: dict[str, Any] = json.loads(
    (Path(datasets.__file__).parent / "datasets.json").read_text()
)
BUILDERS = {
    **datasets.builders(dataset_elements),
    **datasets.builders(dataset_groups),
    **datasets.builders(dataset_threads),
    **datasets.builders(dataset_files),
    **datasets.builders(dataset_inner),
}
NAMES = sorted(RECORDED)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    datasets.write_files(tf)
    dataset_files.write_files(tf)


def equal(ours: Any, theirs: Any) -> bool:
    """Whether two elements are equal; floats to their last but one digit."""
    if isinstance(theirs, list) and isinstance(ours, list):
        pairs = zip(ours, theirs, strict=False)
        return len(ours) == len(theirs) and all(equal(a, b) for a, b in pairs)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(
            equal(ours[k], theirs[k]) for k in ours
        )
    if isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, rtol=1e-6))
    return bool(ours == theirs)


@pytest.mark.parametrize("name", NAMES)
def test_elements(name: str) -> None:
    found = datasets.epochs(tf, BUILDERS[name])
    for ours, theirs in zip(found, RECORDED[name]["epochs"], strict=True):
        assert equal(ours, theirs), f"{ours}\n{theirs}"


@pytest.mark.parametrize("name", NAMES)
def test_nodes(name: str) -> None:
    ours = datasets.nodes(tf, BUILDERS[name])
    assert ours == RECORDED[name]["nodes"]


def test_the_name_of_a_factory_is_tensorflows() -> None:
    with tf.Graph().as_default() as graph:
        tf.data.Dataset.range(3).batch(2).make_one_shot_iterator()
        (function,) = graph.as_graph_def().library.function
    assert function.signature.name == datasets.FACTORY_NAME


def test_all_are_recorded() -> None:
    assert BUILDERS.keys() == RECORDED.keys()
