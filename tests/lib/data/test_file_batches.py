"""Batches of the columns of CSV files and of the features of Examples: refusals."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf

FEATURES = {"a": tf.FixedLenFeature([], tf.int64)}
make_csv = tf.data.experimental.make_csv_dataset
parse = tf.data.experimental.parse_example_dataset


@pytest.fixture(autouse=True)
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,b\n1,x\n", {"label_name": "c"}, "must be one of the columns"),
        ("a,b\n1,2\n", {"column_names": ["a"]}, "different number of fields"),
        ("a,b\n1,2\n3\n", {}, "different number of fields"),
        ("a,a\n1,2\n", {}, "Cannot have duplicate column names"),
        ("a,b\n1,2\n", {"select_columns": ["c"]}, "Value 'c' specified in select_col"),
        ("a,b\n1,2\n", {"select_columns": [5]}, "Column index 5 specified in select"),
        ("a,b\n1,2\n", {"select_columns": ["a", 0]}, "contains duplicate columns"),
        ("1,2\n", {"header": False}, "Cannot infer column names without a header"),
        ("", {}, "Received StopIteration when reading the header line"),
        ('a,b\n"1,2",3\n', {"use_quote_delim": False}, "different number of fields"),
    ],
)
def test_tables_that_are_refused(text: str, arguments: Any, message: str) -> None:
    Path("t.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        make_csv("t.csv", 2, **arguments)


def test_files_of_other_columns_and_no_files() -> None:
    Path("a.csv").write_text("a\n1\n")
    Path("b.csv").write_text("b\n1\n")
    with pytest.raises(ValueError, match="different column names in the header row"):
        make_csv(["a.csv", "b.csv"], 2)
    with pytest.raises(ValueError, match="No files match nope"):
        make_csv("nope*.csv", 2)


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        ("-1 2147483647 1_000 +1", tf.int32),
        ("2147483648 9223372036854775807", tf.int64),
        ("1 1. .5 1e3 1e38 9223372036854775808 -3.5e38", tf.float32),
        ("1 1e39 1e308", tf.float64),
        ("inf", tf.string),
        ("nan", tf.string),
        ("1e400", tf.string),
        ("True", tf.string),
        ("1 0x1", tf.string),
        ("1 NA 2", tf.int32),
        ("NA", tf.string),
        ("1.5 1", tf.float32),
    ],
)
def test_types_are_found_in_the_values(texts: str, dtype: Any) -> None:
    Path("t.csv").write_text("a\n" + texts.replace(" ", "\n") + "\n")
    found = make_csv("t.csv", 2, na_value="NA", num_epochs=1)
    assert found.output_types["a"] is dtype


def test_only_some_rows_are_read_for_the_types() -> None:
    Path("t.csv").write_text("a\n1\n2.5\n")
    types = [
        make_csv("t.csv", 2, num_rows_for_inference=count).output_types["a"]
        for count in (1, 2, None)
    ]
    assert types == [tf.int32, tf.float32, tf.float32]


def test_compressed_tables() -> None:
    Path("t.gz").write_bytes(gzip.compress(b"a,b\n1,x\n2,y\n"))
    dataset = make_csv("t.gz", 2, compression_type="GZIP", num_epochs=1, shuffle=False)
    batch = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = session.run(batch)
    assert [found["a"].tolist(), found["b"].tolist()] == [[1, 2], [b"x", b"y"]]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("ZLIB", r"compression_type \(ZLIB\) is not supported for probing columns"),
        ("X", r"compression_type \(X\) is not supported"),
    ],
)
def test_tables_whose_columns_cannot_be_read(kind: str, message: str) -> None:
    Path("x.csv").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match=message):
        make_csv("x.csv", 2, column_defaults=[0, 0], compression_type=kind)


def test_compressed_tables_of_known_columns() -> None:
    Path("t.zlib").write_bytes(zlib.compress(b"a,b\n1,2\n"))
    dataset = make_csv(
        "t.zlib",
        1,
        column_names=["a", "b"],
        column_defaults=[tf.int32, tf.int32],
        compression_type="ZLIB",
        num_epochs=1,
    )
    with tf.Session() as session:
        found = session.run(dataset.make_one_shot_iterator().get_next())
    assert [found["a"].tolist(), found["b"].tolist()] == [[1], [2]]


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda d: d.apply(parse(None)), ValueError, "Missing: features was None"),
        (lambda d: d.apply(parse({})), ValueError, "at least one sparse key or dense"),
        (lambda d: d.map(len_of).apply(parse(FEATURES)), TypeError, "vectors of strin"),
        (lambda d: d.flat_map(rows).apply(parse(FEATURES)), TypeError, "vectors of st"),
    ],
)
def test_examples_that_are_refused(build: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        build(tf.data.Dataset.from_tensors([""]))


def len_of(records: Any) -> Any:
    return tf.strings.length(records)


def rows(records: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(records)


def test_sparse_features_are_merged() -> None:
    feature = {
        "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 1])),
        "v": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 1.5])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    dataset = tf.data.Dataset.from_tensors([example.SerializeToString()])
    dataset = dataset.apply(parse({"s": tf.SparseFeature("i", "v", tf.float32, 5)}))
    found = dataset.make_one_shot_iterator().get_next()["s"]
    with tf.Session() as session:
        dense = session.run(tf.sparse.to_dense(found))
    assert dense.tolist() == [[0.0, 1.5, 0.0, 0.5, 0.0]]


def test_a_batch_of_features() -> None:
    with tf.python_io.TFRecordWriter("r") as writer:
        for i in range(4):
            value = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            features = tf.train.Features(feature={"a": value})
            writer.write(tf.train.Example(features=features).SerializeToString())
    batch = tf.contrib.data.read_batch_features("r", 3, FEATURES, randomize_input=False)
    assert batch["a"].shape.as_list() == [3]
    with tf.Session() as session:
        found = [session.run(batch["a"]).tolist() for _ in range(2)]
    assert found == [[0, 1, 2], [3, 0, 1]]
    make = tf.data.experimental.make_batched_features_dataset
    with pytest.raises(ValueError, match=r"`label_key` provided \('z'\)"):
        make("r", 2, FEATURES, label_key="z")
    with pytest.raises(TypeError, match=r"`tf\.ReaderBase` subclasses are not"):
        make("r", 2, FEATURES, reader=tf.TFRecordReader)
