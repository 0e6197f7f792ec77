"""Positions of iterators in checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eager_program
from tfteach.framework.files.tensor_bundle import BundleReader

Dataset = tf.data.Dataset
X = tf.data.experimental


@pytest.fixture(autouse=True)
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Graph]:
    monkeypatch.chdir(tmp_path)
    Path("lines").write_text("a\nbb\nccc\ndddd\n")
    with tf.Graph().as_default() as graph:
        yield graph


def rest(session: tf.Session, element: Any) -> list[Any]:
    found = []
    while len(found) < 12:
        try:
            found.append(session.run(element).tolist())
        except tf.errors.OutOfRangeError:
            return found
    return found


DATASETS: dict[str, Callable[[], Dataset]] = {
    "range": lambda: Dataset.range(6),
    "shuffled": lambda: Dataset.range(8).shuffle(4).repeat(2),
    "seeded": lambda: Dataset.range(8).shuffle(4, seed=1).repeat(2),
    "once": lambda: Dataset.range(9).shuffle(9, reshuffle_each_iteration=False),
    "inside": lambda: Dataset.range(3).flat_map(
        lambda i: Dataset.range(i + 4).shuffle(9)
    ),
    "map": lambda: Dataset.range(6).map(lambda i: i * 2).batch(1),
    "in threads": lambda: Dataset.range(6).map(lambda i: i * 2, 3).prefetch(2),
    "lines": lambda: tf.data.TextLineDataset("lines").map(tf.strings.length),
    "filter": lambda: Dataset.range(12).filter(lambda i: i % 2 > 0),
    "interleave": lambda: Dataset.range(3).interleave(lambda i: Dataset.range(i, 5), 2),
    "groups": lambda: Dataset.range(9).apply(
        X.group_by_window(lambda i: i % 2, lambda k, d: d.batch(2), 2)
    ),
    "random": lambda: X.RandomDataset().map(lambda i: i % 10),
}


@pytest.mark.parametrize("name", list(DATASETS))
def test_a_restored_iterator_continues(name: str) -> None:
    iterator = DATASETS[name]().make_initializable_iterator()
    element = iterator.get_next()
    saver = tf.train.Saver([X.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(2):
            session.run(element)
        path = saver.save(session, "./state")
        expected = rest(session, element)
        assert expected
        for _ in range(2):
            saver.restore(session, path)
            assert rest(session, element) == expected
    with tf.Session() as session:  # as in another program
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert rest(session, element) == expected


def test_other_initializations_have_other_orders() -> None:
    iterator = Dataset.range(50).shuffle(50).batch(50).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        found = []
        for _ in range(2):
            session.run(iterator.initializer)
            found.append(session.run(element).tolist())
    assert found[0] != found[1]
    assert sorted(found[0]) == list(range(50))


def test_errors_of_elements_count() -> None:
    dataset = Dataset.range(4).map(lambda i: 6 // (i - 1))
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    saver = tf.train.Saver([X.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(element)
        saver.restore(session, saver.save(session, "./state"))
        assert rest(session, element) == [6, 3]


@pytest.mark.parametrize(
    ("build", "op"),
    [
        (lambda d: d.map(lambda i: tf.py_func(int, [i], tf.int64)), "PyFunc"),
        (lambda d: d.map(lambda i: tf.random_uniform([])).batch(2), "RandomUniform"),
        (
            lambda d: d.flat_map(lambda i: d.map(lambda j: tf.random_uniform([]))),
            "Rand",
        ),
        (lambda d: Dataset.from_generator(lambda: iter([1]), tf.int64), "PyFunc"),
    ],
)
def test_state_of_functions_cannot_be_saved(build: Any, op: str) -> None:
    iterator = build(Dataset.range(3)).make_initializable_iterator()
    saver = tf.train.Saver([X.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match=f"{op}.* is state"):
            saver.save(session, "./state")


def test_an_iterator_must_be_initialized() -> None:
    iterator = Dataset.range(3).make_initializable_iterator()
    saver = tf.train.Saver([X.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"Save\(\) failed"):
            saver.save(session, "./state")
        session.run(iterator.initializer)
        saver.save(session, "./state")
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.FailedPreconditionError, match=r"Restore\(\) failed"),
    ):
        saver.restore(session, "./state")


def test_names_and_nodes_are_tensorflows(graph: tf.Graph) -> None:
    iterator = Dataset.range(3).make_initializable_iterator()
    saveable = X.make_saveable_from_iterator(iterator)
    assert saveable.name == "IteratorV2:0"
    saver = tf.train.Saver([saveable])
    restore = graph.get_operation_by_name("save/DeserializeIterator")
    assert [t.op.name for t in restore.inputs] == ["IteratorV2", "save/RestoreV2"]
    assert restore.colocation_groups() == [b"loc:@IteratorV2"]
    with tf.Session() as session:
        session.run(iterator.initializer)
        path = saver.save(session, "./state")
    assert tf.train.list_variables(path) == [("IteratorV2:0-state", [])]


def test_a_damaged_position_is_refused() -> None:
    iterator = Dataset.range(3).make_initializable_iterator()
    saver = tf.train.Saver([X.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        path = saver.save(session, "./state")
        data = Path("state.data-00000-of-00001")
        content = bytearray(data.read_bytes())
        for at in (0, len(content) // 2, len(content) - 1):
            damaged = bytearray(content)
            damaged[at] ^= 1
            data.write_bytes(damaged)
            with pytest.raises(tf.errors.DataLossError):
                saver.restore(session, path)


def test_variants_are_read_as_tensorflow_writes_them(tmp_path: Path) -> None:
    """Bytes of a checkpoint that real TensorFlow 1.15 wrote for `range(3)`."""
    message = b"\n\x14tensorflow::Iterator\x12\x1d@@Iterator::Model::Range:next"
    message += b"\x1a\x07\x08\t\x12\x00R\x01\x00"
    from tfteach.framework.files.tensor_bundle_writer import BundleWriter

    with BundleWriter(str(tmp_path / "v")) as writer:
        writer.add_variant("a", message)
    with BundleReader(str(tmp_path / "v")) as reader:
        assert reader.read("a").item() == message


def test_training_continues_with_the_elements_not_drawn() -> None:
    seen: list[float] = []

    class Watch(tf.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs("feature:0")

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(float(run_values.results))

    def input_fn() -> Any:
        dataset = Dataset.range(20).map(tf.to_float)
        iterator = dataset.make_initializable_iterator()
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        return tf.identity(iterator.get_next(), "feature"), tf.constant(0.0)

    def model_fn(features: Any, labels: Any, mode: Any) -> Any:
        step = tf.train.get_global_step()
        train = tf.group(tf.assign_add(step, 1), features)
        return tf.estimator.EstimatorSpec(mode, loss=features, train_op=train)

    config = tf.estimator.RunConfig(save_checkpoints_steps=3)
    estimator = tf.estimator.Estimator(model_fn, "model", config=config)
    for steps in (4, 2):
        hook = X.CheckpointInputPipelineHook(estimator)
        estimator.train(input_fn, steps=steps, hooks=[hook, Watch()])
    assert seen == [0, 1, 2, 3, 4, 5]
    state = tf.train.get_checkpoint_state("model", "checkpoint_input")
    names = [Path(path).name for path in state.all_model_checkpoint_paths]
    assert names == ["input.ckpt-5", "input.ckpt-6"]


def test_a_position_is_serialized_as_a_tensor() -> None:
    """As in TensorFlow: SerializeIterator, then `tf.serialize_tensor` to a file."""
    raw = tf.raw_ops
    iterator = Dataset.range(5).make_initializable_iterator()
    element = iterator.get_next()
    resource = iterator._iterator_resource
    state = raw.SerializeIterator(resource_handle=resource)
    write = tf.write_file("state", tf.serialize_tensor(state))
    parsed = tf.parse_tensor(tf.read_file("state"), tf.variant)
    restore = raw.DeserializeIterator(resource_handle=resource, serialized=parsed)
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(2)] == [0, 1]
        session.run(write)
        assert rest(session, element) == [2, 3, 4]
        session.run(iterator.initializer)
        session.run(restore)
        assert rest(session, element) == [2, 3, 4]


def test_other_variants_are_not_serialized() -> None:
    dataset = Dataset.range(5)
    several = tf.stack([dataset._variant_tensor] * 2)
    broken = tf.parse_tensor(b"\x08\x15\x12\x04\x12\x02\x08\x02", tf.variant)
    with tf.Session() as session:
        for tensor in (dataset._variant_tensor, several):
            with pytest.raises(tf.errors.UnimplementedError, match="exists in runs"):
                session.run(tf.serialize_tensor(tensor))
        with pytest.raises(tf.errors.InvalidArgumentError, match="0 variants for 2"):
            session.run(broken)


# ---- tf.train.Checkpoint


def test_checkpoints_of_iterators_in_eager_programs(tmp_path: Path) -> None:
    with eager_program():
        numbers = tf.data.Dataset.range(9)
        for make in (iter, tf.contrib.eager.Iterator, numbers_once):
            iterator = make(numbers)
            checkpoint = tf.train.Checkpoint(iterator=iterator)
            paths = [checkpoint.save(str(tmp_path / make.__name__))]
            assert [next(iterator).numpy(), next(iterator).numpy()] == [0, 1]
            paths.append(checkpoint.save(str(tmp_path / make.__name__)))
            names = [name for name, _ in tf.train.list_variables(paths[0])]
            assert "iterator/.ATTRIBUTES/ITERATOR_STATE" in names
            for path, value in zip(paths, (0, 2), strict=True):
                checkpoint.restore(path).assert_consumed()
                assert next(iterator).numpy() == value
        later = tf.train.Checkpoint()
        status = later.restore(paths[1])
        later.iterator = iter(numbers)
        assert later.save_counter.numpy() == 2
        status.assert_consumed()
        assert next(later.iterator).numpy() == 2


def numbers_once(dataset: Any) -> Any:
    return dataset.make_one_shot_iterator()


def test_checkpoints_of_iterators_in_graphs(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.Dataset.range(5).make_initializable_iterator()
        element = iterator.get_next()
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        session.run([iterator.initializer, checkpoint.save_counter.initializer])
        assert [session.run(element), session.run(element)] == [0, 1]
        path = checkpoint.save(str(tmp_path / "x"), session=session)
        assert session.run(element) == 2
        checkpoint.restore(path).initialize_or_restore(session)
        assert session.run(element) == 2


def test_checkpoints_refuse_iterators_with_state(tmp_path: Path) -> None:
    with eager_program():
        state = tf.data.Dataset.range(5).map(
            lambda x: tf.py_func(lambda x: x, [x], tf.int64)
        )
        with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
            tf.train.Checkpoint(iterator=iter(state)).save(str(tmp_path / "x"))
