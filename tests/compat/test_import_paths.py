"""`import tfteach.<public module>`, whatever folder the code is in."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import tfteach as tf
from tfteach.compat.import_paths import _ROOMS


@pytest.mark.parametrize(
    "path",
    "contrib.layers contrib.learn.datasets.mnist examples.tutorials.mnist.input_data "
    "examples image layers nn nn.rnn_cell train compat.v1 compat.v2 "
    "compat.v2.nn".split(),
)
def test_public_modules_are_imported_by_their_public_paths(path: str) -> None:
    found = importlib.import_module(f"tfteach.{path}")
    expected = tf
    for part in path.split("."):
        expected = getattr(expected, part)
    assert found is expected


def test_names_are_imported_from_them() -> None:
    from tfteach.contrib.layers import fully_connected  # type: ignore[import-not-found]
    from tfteach.examples.tutorials.mnist import (  # type: ignore[import-not-found]
        input_data,
    )

    assert fully_connected is tf.contrib.layers.fully_connected
    assert input_data is tf.examples.tutorials.mnist.input_data


@pytest.mark.parametrize(
    "path", ["nonsense", "contrib.nonsense", "nn.rnn_cell.nonsense"]
)
def test_other_paths_are_not_found(path: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'tfteach.{path}'"):
        importlib.import_module(f"tfteach.{path}")


def test_our_own_rooms_are_found_first() -> None:
    folders = Path(tf.__file__).parent.glob("*/__init__.py")
    assert {folder.parent.name for folder in folders} == _ROOMS
    module = importlib.import_module("tfteach.compat.import_paths")
    assert module.__file__ is not None
    assert tf.compat is tf.api.compat  # type: ignore[attr-defined]
