"""Records that are drawn in blocks are those that are drawn one at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tfteach.explain.pipelines.pipeline_rates import watch_pipelines

Dataset = tf.data.Dataset
LINES = [[b"a", b"b", b"c", b"d", b"e"], [], [b"f", b"g", b"h"], [b"i"]]


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    found = []
    for i, lines in enumerate(LINES):
        path = tmp_path / f"{i}.txt"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        found.append(str(path))
    return found


def elements(dataset: Any) -> list[Any]:
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def of_all_files(names: list[str]) -> Any:
    return tf.data.TextLineDataset(names)


def of_each_file(names: list[str]) -> Any:
    return Dataset.from_tensor_slices(names).flat_map(tf.data.TextLineDataset)


def with_others(names: list[str]) -> Any:
    """Inner datasets that have no blocks, among them empty ones."""
    return Dataset.from_tensor_slices(names).flat_map(
        lambda name: Dataset.zip(tf.data.TextLineDataset(name)).skip(1)
    )


def nested(names: list[str]) -> Any:
    return Dataset.range(2).flat_map(lambda _: of_each_file(names))


@pytest.mark.parametrize("build", [of_all_files, of_each_file, with_others, nested])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 9, 50])
def test_batches_have_the_elements_in_order(
    build: Callable[[list[str]], Any], size: int, names: list[str]
) -> None:
    alone = elements(build(names))
    assert alone
    batches = elements(build(names).batch(size))
    assert [line for batch in batches for line in batch] == alone
    assert all(len(batch) == size for batch in batches[:-1])
    assert all(batch.dtype == object for batch in batches)


def test_a_file_that_is_missing_ends_the_dataset(names: list[str]) -> None:
    Path(names[1]).unlink()
    following = of_each_file(names).batch(3).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(following).tolist() == [b"a", b"b", b"c"]
        for _ in range(2):
            with pytest.raises(tf.errors.NotFoundError):
                session.run(following)


def test_a_damaged_record_loses_its_batch_and_its_file(tmp_path: Path) -> None:
    names = [str(tmp_path / "first"), str(tmp_path / "second")]
    for i, name in enumerate(names):
        with tf.python_io.TFRecordWriter(name) as writer:
            for j in range(5):
                writer.write(b"%d%d" % (i, j))
    data = bytearray(Path(names[0]).read_bytes())
    data[2 * len(data) // 5 + 12] ^= 1  # of the third record
    Path(names[0]).write_bytes(data)
    batches = tf.data.TFRecordDataset(names).batch(3)
    following = batches.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.DataLossError):
            session.run(following)
        assert session.run(following).tolist() == [b"10", b"11", b"12"]
        assert session.run(following).tolist() == [b"13", b"14"]


def test_blocks_are_counted_by_their_elements(names: list[str]) -> None:
    with watch_pipelines() as run:
        assert len(elements(of_each_file(names).batch(4))) == 3
    (river,) = run.rivers()
    counts = {s.kind: river.rates[s.key].elements for s in river.pipeline.stages}
    assert counts["flat_map"] == 9
    assert counts["batch"] == 3
