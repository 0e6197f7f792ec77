"""Lookup tables; what they build and refuse is TensorFlow 1.15.5's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf

lookup = tf.contrib.lookup


def run(result: Any, initialize: bool = True) -> Any:
    with tf.Session() as sess:
        if initialize:
            sess.run(tf.tables_initializer())
        return sess.run(result)


def nodes() -> list[str]:
    graph = tf.get_default_graph().as_graph_def()
    return [f"{n.name} {n.op}({', '.join(n.input)})" for n in graph.node]


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def test_index_table_with_buckets_builds_tensorflows_nodes() -> None:
    table = lookup.index_table_from_tensor(
        tf.constant(["a", "b", "c"]), num_oov_buckets=2, name="vocab"
    )
    ids = table.lookup(tf.constant(["b", "z", "q"]))
    assert nodes() == [
        "Const Const()",
        "vocab/Size Const()",
        "vocab/range/start Const()",
        "vocab/range/delta Const()",
        "vocab/range Range(vocab/range/start, vocab/Size, vocab/range/delta)",
        "vocab/Cast Cast(vocab/range)",
        "vocab/hash_table/Const Const()",
        "vocab/hash_table/hash_table HashTableV2()",
        "vocab/hash_table/table_init/LookupTableImportV2 "
        "LookupTableImportV2(vocab/hash_table/hash_table, Const, vocab/Cast)",
        "Const_1 Const()",
        "hash_table_Lookup/hash_bucket StringToHashBucketFast(Const_1)",
        "hash_table_Lookup/hash_table_Lookup/LookupTableFindV2 LookupTableFindV2("
        "vocab/hash_table/hash_table, Const_1, vocab/hash_table/Const)",
        "hash_table_Lookup/hash_table_Size/LookupTableSizeV2 "
        "LookupTableSizeV2(vocab/hash_table/hash_table)",
        "hash_table_Lookup/Add Add(hash_table_Lookup/hash_bucket, "
        "hash_table_Lookup/hash_table_Size/LookupTableSizeV2)",
        "hash_table_Lookup/NotEqual NotEqual(hash_table_Lookup/"
        "hash_table_Lookup/LookupTableFindV2, vocab/hash_table/Const)",
        "hash_table_Lookup/SelectV2 SelectV2(hash_table_Lookup/NotEqual, "
        "hash_table_Lookup/hash_table_Lookup/LookupTableFindV2, hash_table_Lookup/Add)",
    ]
    assert ids.shape == [3]
    assert run(ids).tolist() == [1, 4, 4]


def test_integers_are_keys_too() -> None:
    table = lookup.index_table_from_tensor([10, 20], dtype=tf.int64)
    assert run(table.lookup(tf.constant([20, 5], tf.int64))).tolist() == [1, -1]


def test_words_of_indices() -> None:
    table = lookup.index_to_string_table_from_tensor(["a", "b"], default_value="U")
    found = run(table.lookup(tf.constant([1, 7], tf.int64)))
    assert found.tolist() == [b"b", b"U"]


def test_sparse_keys_give_sparse_values() -> None:
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    table = tf.lookup.StaticHashTable(init, -1)
    found = run(table.lookup(tf.SparseTensor([[0, 1]], ["b"], [1, 2])))
    assert found.values.tolist() == [2]
    assert found.indices.tolist() == [[0, 1]]


def test_vocabulary_table_needs_buckets() -> None:
    ids = tf.constant([0, 1], tf.int64)
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], ids)
    table = tf.lookup.StaticVocabularyTable(init, 3)
    assert run(table.lookup(tf.constant(["b", "z"]))).tolist() == [1, 3]
    with pytest.raises(ValueError, match="oov_buckets must be > 0; got 0"):
        tf.lookup.StaticVocabularyTable(init, 0)


def test_a_table_must_be_initialized() -> None:
    init = lookup.KeyValueTensorInitializer(["a"], [1.5])
    table = lookup.HashTable(init, -1.0, name="h")
    with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
        run(table.lookup(tf.constant(["a"])), initialize=False)
    assert run(table.size()) == 1
    keys, values = run(table.export())
    assert (keys.tolist(), values.tolist()) == ([b"a"], [1.5])


def test_filling_again_needs_as_many_entries() -> None:
    for name, keys in (("one", ["a", "b"]), ("two", ["c"])):
        init = lookup.KeyValueTensorInitializer(keys, list(range(len(keys))))
        table = lookup.HashTable(init, -1, shared_name="shared", name=name)
    with tf.Session() as sess:
        sess.run(table.init)
        sess.run(table.init)
        with pytest.raises(tf.errors.FailedPreconditionError, match="different data"):
            sess.run(tf.tables_initializer())


def test_one_key_with_two_values_is_refused() -> None:
    init = lookup.KeyValueTensorInitializer(["a", "a"], [1, 2])
    lookup.HashTable(init, -1)
    message = "HashTable has different value for same key. Key a has 1 and trying"
    with pytest.raises(tf.errors.FailedPreconditionError, match=message):
        run([])


def test_files(tmp_path: Path) -> None:
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("x\ny\nz\n")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("k,4\nm,5\n")
    words = tf.constant(["x", "z", "w"])
    ids = lookup.index_table_from_file(str(vocabulary), num_oov_buckets=1).lookup(words)
    back = lookup.index_to_string_table_from_file(str(vocabulary))
    init = tf.lookup.TextFileInitializer(
        str(pairs), tf.string, 0, tf.int64, 1, delimiter=","
    )
    table = tf.lookup.StaticHashTable(init, -1)
    fetches = [
        ids,
        back.lookup(tf.constant([1, 9], tf.int64)),
        table.lookup(tf.constant(["m", "n"])),
    ]
    found = [value.tolist() for value in run(fetches)]
    assert found == [[0, 2, 3], [b"y", b"UNK"], [5, -1]]


def test_bad_files(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("x\ny\n")
    for path, size, error, message in (
        (words, 9, tf.errors.InvalidArgumentError, "expected 9 but got 2"),
        (tmp_path / "none", None, tf.errors.NotFoundError, "No such file"),
    ):
        with tf.Graph().as_default():
            lookup.index_table_from_file(str(path), vocab_size=size)
            with pytest.raises(error, match=message):
                run([])
    with pytest.raises(ValueError, match="vocabulary_file must be specified"):
        lookup.index_table_from_file(None)
    with pytest.raises(ValueError, match="vocab_size must be greater than 0, got 0"):
        lookup.index_table_from_file("x", vocab_size=0)


def test_mutable_tables_change_between_runs() -> None:
    table = lookup.MutableHashTable(tf.string, tf.float32, [0.0, 0.0], name="m")
    insert = table.insert(["x", "y"], [[1.0, 2.0], [3.0, 4.0]])
    remove, found = table.remove(["y"]), table.lookup(["y", "x"])
    with tf.Session() as sess:
        sess.run(insert)
        assert sess.run(found).tolist() == [[3, 4], [1, 2]]
        sess.run(remove)
        assert sess.run([found, table.size()])[0].tolist() == [[0, 0], [1, 2]]
    with tf.Session() as sess:  # each session has its own
        assert sess.run(table.size()) == 0
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Expected shape \[1,2"
        ):
            sess.run(table.insert(["x"], [1.0]))


def test_keys_of_another_type_are_refused() -> None:
    init = lookup.KeyValueTensorInitializer(["a"], [1])
    table = lookup.HashTable(init, -1)
    with pytest.raises(TypeError, match="Keys must be dtype"):
        table.lookup(tf.constant([1.0]))


def test_words_and_indices_under_their_first_names() -> None:

    words = tf.constant(["b", "c"])
    found = [
        lookup.string_to_index(words, ["a", "b"]),
        lookup.string_to_index(words, ["a", "b"], default_value=7, name="mine"),
        lookup.index_to_string(tf.constant([1, 5], tf.int64), ["a", "b"]),
        lookup.index_to_string(tf.constant([1, 5], tf.int64), ["a", "b"], "none"),
        lookup.string_to_index_table_from_tensor(["a", "b"], 1).lookup(words),
    ]
    graph = tf.get_default_graph()
    for name in ("string_to_index/hash_table/hash_table", "mine/range"):
        assert graph.get_operation_by_name(name) is not None
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
            session.run(found[0])
        session.run(tf.tables_initializer())
        results = [value.tolist() for value in session.run(found)]
    expected = [[1, -1], [1, 7], [b"b", b"UNK"], [b"b", b"none"], [1, 2]]
    assert results == expected


def test_files_under_their_first_names(tmp_path: Path) -> None:
    path = str(tmp_path / "words")
    Path(path).write_text("a\nb\n")
    make = tf.contrib.lookup.string_to_index_table_from_file
    fed = tf.placeholder(tf.string, [])
    tables = [make(path, 1), make(path, vocab_size=1, default_value=5), make(fed, 2)]
    # A path that is fed is no asset of the model.
    assert len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)) == 2
    with tf.Session() as session:
        session.run(tf.tables_initializer(), {fed: path})
        found = session.run([t.lookup(tf.constant(["b", "x"])) for t in tables[:2]])
    assert [ids.tolist() for ids in found] == [[1, 2], [5, 5]]
    with pytest.raises(ValueError, match="vocabulary_file: words"):
        make("words", vocab_size=0)


def test_specs_and_tables_are_checked() -> None:

    for call in (
        lambda: lookup.index_table_from_tensor(["a"], 1, hasher_spec=1),
        lambda: lookup.index_table_from_file("words", 1, hasher_spec=None),
    ):
        with pytest.raises(TypeError, match="must be of type HasherSpec, got"):
            call()
    with pytest.raises(ValueError, match="key must have size 2, got 3"):
        lookup.StrongHashSpec([1, 2, 3])
    keys, values = tf.constant(["a", "b"]), tf.constant([1, 2, 3], tf.int64)
    init = lookup.KeyValueTensorInitializer(keys, values)
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal"):
        lookup.HashTable(init, -1)
    with tf.Graph().as_default(), tf.Session() as session:
        lookup.index_table_from_tensor(np.array([], np.str_), 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be empty"):
            session.run(tf.tables_initializer())
