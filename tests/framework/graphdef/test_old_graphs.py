"""GraphDefs of 2016 against real TensorFlow: golden/old_graphs.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import old_graphs

GOLDEN: dict[str, Any] = json.loads(
    Path(old_graphs.__file__).with_suffix(".json").read_text()
)


def agrees(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(agrees, ours, theirs))
    if isinstance(theirs, str):  # messages may say more
        return bool(ours.startswith(theirs.rstrip(".")))
    return bool(ours == theirs)


@pytest.mark.parametrize("name", old_graphs.scenarios())
def test_old_graph_runs_as_in_tensorflow(name: str, tmp_path: Path) -> None:
    old_graphs.make_files(tf, str(tmp_path))
    ours = old_graphs.record(tf, old_graphs.scenarios()[name], str(tmp_path))
    assert agrees(ours, GOLDEN[name]), ours


def test_every_answer_belongs_to_a_scenario() -> None:
    assert GOLDEN.keys() == old_graphs.scenarios().keys()


def test_fixed_length_records_of_an_old_graph(tmp_path: Path) -> None:
    """TensorFlow 1.15 fails here: its kernel reads an attribute of the newer op."""
    path = tmp_path / "data.bin"
    path.write_bytes(b"Habcdef")
    reader = "reader = FixedLengthRecordReader(header_bytes=1, record_bytes=3)"
    with tf.Graph().as_default():
        session, _ = old_graphs.imported(
            tf, old_graphs.QUEUE + reader + old_graphs.READ
        )
        session.run("fill", {"names:0": [str(path)]})
        assert session.run("read:1") == b"abc"
        assert session.run("read:1") == b"def"


def test_lmdb_reader_is_refused_by_name(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        text = old_graphs.QUEUE + "reader = LMDBReader()" + old_graphs.READ
        session, _ = old_graphs.imported(tf, text)
        session.run("fill", {"names:0": [str(tmp_path)]})
        message = "LMDBReader 'reader' needs LMDB.*TFRecordReader"
        with pytest.raises(tf.errors.UnimplementedError, match=re.compile(message)):
            session.run("read:1")
