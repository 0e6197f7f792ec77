"""Rows and errors of CSV files as real TensorFlow 1.15 has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.golden import csv_files

RECORDED: list[Any] = json.loads(
    (Path(csv_files.__file__).parent / "csv_files.json").read_text()
)


def test_all_cases_are_recorded() -> None:
    assert [case for case, _ in RECORDED] == csv_files.cases()


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_rows(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    case, expected = RECORDED[number]
    assert csv_files.rows(tf, *case) == expected


def test_a_quoted_field_over_many_lines(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    long = "x\r\n" * 200_000  # more than is read at a time
    path.write_bytes(f'a,"{long}"\nb,c\n'.encode())
    dataset = tf.data.experimental.CsvDataset(str(path), [tf.string, tf.string])
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == (b"a", long.encode())
        assert session.run(element) == (b"b", b"c")
