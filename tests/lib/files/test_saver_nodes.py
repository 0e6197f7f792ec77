"""The nodes of Savers of every kind against real TensorFlow 1.15's."""

import base64
import json
import zlib
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import savers
from tests.test_golden_graphs import assert_same_nodes
from tfteach.lib.files import saver_builder

GOLDEN = json.loads(Path(savers.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("function", savers.GRAPHS, ids=lambda f: f.__name__)
def test_nodes_are_tensorflows(function, monkeypatch):
    monkeypatch.setattr(savers, "_builders", lambda: saver_builder)
    monkeypatch.chdir(Path.cwd())  # `build` changes it
    row = GOLDEN[function.__name__]
    wanted = tf.GraphDef.FromString(zlib.decompress(base64.b64decode(row["graph"])))
    made, found = savers.build(tf, function)
    assert_same_nodes(made, wanted)
    assert found == row["savers"]
