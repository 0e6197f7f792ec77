"""Iterators of each kind: initialization, sharing, errors, threads."""

from __future__ import annotations

import gc
import threading
import time
import traceback
import weakref
from typing import Any, cast

import numpy as np
import pytest

import tfteach as tf

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def elements(session: tf.Session, tensor: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(session.run(tensor))
        except tf.errors.OutOfRangeError:
            return found


def test_an_iterator_is_to_be_initialized() -> None:
    iterator = Dataset.range(3).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been init"):
            session.run(element)
        for _ in range(2):
            session.run(iterator.initializer)
            assert elements(session, element) == [0, 1, 2]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
        session.run(iterator.initializer)
        assert session.run(element) == 0
        session.run(iterator.initializer)
        assert session.run(element) == 0
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(element) == 0


def test_a_one_shot_iterator_begins_by_itself() -> None:
    iterator = Dataset.range(3).make_one_shot_iterator()
    first, second = iterator.get_next(), iterator.get_next()
    with pytest.raises(ValueError, match="Iterator does not have an initializer"):
        _ = iterator.initializer
    with tf.Session() as session:
        assert sorted(session.run([first, second])) == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run([first, second])
    with tf.Session() as session:
        assert elements(session, first) == [0, 1, 2]


def test_a_placeholder_feeds_an_initializable_iterator_only() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    dataset = Dataset.from_tensor_slices(x)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    assert element.shape.as_list() == [2]
    rows = np.arange(4, dtype=np.float32).reshape(2, 2)
    with tf.Session() as session:
        session.run(iterator.initializer, {x: rows})
        rows[:] = -1  # the dataset has a copy
        np.testing.assert_array_equal(session.run(element), [0, 1])
    with pytest.raises(ValueError, match=r"Cannot capture a placeholder \(name:x"):
        dataset.make_one_shot_iterator()


def test_a_one_shot_iterator_cannot_have_state() -> None:
    with tf.variable_scope("", use_resource=True):
        v = tf.get_variable("v", [], tf.int64, tf.constant_initializer(5))
    dataset = Dataset.range(3).map(lambda i: i + v)
    with pytest.raises(ValueError, match=r"one-shot .*\n?.*Cannot capture a stateful"):
        dataset.make_one_shot_iterator()
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run([v.initializer])
        session.run(iterator.initializer)
        assert session.run(element) == 5
        session.run(v.assign(100))
        assert elements(session, element) == [101, 102]


def test_a_reinitializable_iterator_changes_its_dataset() -> None:
    iterator = tf.data.Iterator.from_structure(
        (tf.int64, tf.string), (tf.TensorShape([]), None)
    )
    number, text = iterator.get_next()
    assert number.shape == ()
    assert text.shape.ndims is None
    assert number.op.inputs[0].op.device == "/device:CPU:0"
    one = Dataset.range(2).map(lambda i: (i, tf.as_string(i)))
    two = Dataset.from_tensors((np.int64(7), ["x", "y"]))
    begins = [iterator.make_initializer(d, "begin") for d in (one, two)]
    assert [op.name for op in begins] == ["begin", "begin_1"]
    assert begins[0].colocation_groups() == [b"loc:@IteratorV2"]
    with tf.Session() as session:
        session.run(begins[0])
        assert elements(session, [number, text]) == [[0, b"0"], [1, b"1"]]
        session.run(begins[1])
        assert session.run(text).tolist() == [b"x", b"y"]


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (lambda: Dataset.from_tensors(1.0), "Expected output types"),
        (lambda: Dataset.range(3).batch(2), "Expected output shapes compatible with"),
        (lambda: Dataset.zip((Dataset.range(1),)), "(?s)same nested structure"),
    ],
)
def test_an_initializer_wants_the_structure(dataset: Any, message: str) -> None:
    iterator = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([]))
    with pytest.raises((TypeError, ValueError), match=message):
        iterator.make_initializer(dataset())


def test_a_handle_is_fed() -> None:
    handle = tf.placeholder(tf.string, [], name="handle")
    train, test = Dataset.range(10, 13), Dataset.range(3)
    iterator = tf.data.Iterator.from_string_handle(
        handle, train.output_types, train.output_shapes
    )
    element = iterator.get_next()
    first, second = train.make_one_shot_iterator(), test.make_initializable_iterator()
    other = Dataset.from_tensors(1.5).make_one_shot_iterator()
    names = [i.string_handle() for i in (first, second, other)]
    assert first.string_handle("again").op.name == "again"
    with tf.Session() as session:
        one, two, wrong = session.run(names)
        session.run(second.initializer)
        found = [session.run(element, {handle: h}) for h in (one, two, one, two)]
        assert found == [10, 0, 11, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Data type mismatch"):
            session.run(element, {handle: wrong})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
            session.run(element, {handle: b"nonsense"})
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError):
        session.run(element, {handle: one})


def test_iterators_share_by_name() -> None:
    iterators = [
        Dataset.range(5).make_initializable_iterator(shared_name="shared")
        for _ in range(2)
    ]
    elements = [iterator.get_next() for iterator in iterators]
    with tf.Session() as session:
        session.run(iterators[0].initializer)
        assert [session.run(e) for e in elements] == [0, 1]


def test_an_error_names_the_line_of_the_function() -> None:
    def halve(i):
        return 12 // i  # this line

    iterator = Dataset.range(2).map(halve).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(element)
        assert caught.value.op is not None
        assert caught.value.op.type == "FloorDiv"
        assert "this line" in str(caught.value) or "halve" in str(caught.value)
        assert session.run(element) == 12


def test_a_function_that_raises_while_building() -> None:
    def broken(i):
        raise KeyError("what the user wrote")

    with pytest.raises(KeyError, match="what the user wrote") as caught:
        Dataset.range(2).map(broken)
    assert traceback.extract_tb(caught.tb)[-1].name == "broken"


def test_python_functions_raise_inside_map() -> None:
    def fail(i):
        if i == 1:
            raise ValueError("not one")
        return i

    dataset = Dataset.range(3).map(lambda i: tf.py_func(fail, [i], tf.int64))
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="not one"):
            session.run(element)
        assert session.run(element) == 2


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda d: d.filter(lambda i: i), ValueError, "scalar boolean"),
        (lambda d: d.filter(lambda i: [i > 1]), ValueError, "scalar boolean"),
        (lambda d: d.map(lambda i: object()), TypeError, "Unsupported return value"),
        (lambda d: d.map(lambda i: None), TypeError, "Unsupported return value"),
        (lambda d: d.concatenate(d.map(tf.to_float)), TypeError, "different types"),
        (lambda d: d.apply(lambda _: 3), TypeError, "must return a Dataset"),
        (lambda d: Dataset.zip([d, d]), TypeError, "do not support Python lists"),
        (lambda d: Dataset.zip((d, 3)), TypeError, "nested structure of `Dataset`"),
        (lambda d: Dataset.range(), ValueError, "Invalid arguments"),
        (lambda d: Dataset.from_tensor_slices(3), ValueError, "rank >= 1"),
        (
            lambda d: Dataset.from_tensor_slices(([1], [1, 2])),
            ValueError,
            "not compatible",
        ),
        (lambda d: Dataset.from_sparse_tensor_slices(3), TypeError, "SparseTensor"),
        (lambda d: iter(d), RuntimeError, "eager execution"),
        (
            lambda d: tf.data.get_output_types(cast("Any", 3)),
            TypeError,
            "Dataset or Iterator",
        ),
        (
            lambda d: tf.data.Iterator.from_structure(tf.int64, output_classes=int),
            TypeError,
            "Could not build a structure for output class",
        ),
    ],
)
def test_refusals(build: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        build(Dataset.range(3))


def test_options_are_typed() -> None:
    options = tf.data.Options()
    with pytest.raises(AttributeError, match="Cannot set the property nonsense"):
        options.nonsense = 1
    with pytest.raises(TypeError, match="must be of type <class 'bool'>"):
        options.experimental_slack = 3
    options.experimental_threading.private_threadpool_size = 2
    options.experimental_threading.max_intra_op_parallelism = 1
    dataset = Dataset.range(3).with_options(options).map(lambda i: i)
    assert dataset.options() == options
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert elements(session, element) == [0, 1, 2]


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("stats", "latency_all_edges", True),
        ("optimization", "hoist_random_uniform", True),
        ("optimization", "filter_with_random_uniform_fusion", True),
    ],
)
def test_options_without_effect_are_refused(group: str, name: str, value: Any) -> None:
    options = tf.data.Options()
    setattr(getattr(options, f"experimental_{group}"), name, value)
    dataset = Dataset.range(3).with_options(options)
    with pytest.raises(NotImplementedError, match=f"experimental_{group}.{name}"):
        dataset.make_one_shot_iterator()


def test_options_that_disagree() -> None:
    one, two = tf.data.Options(), tf.data.Options()
    one.experimental_slack, two.experimental_slack = True, False
    with pytest.raises(ValueError, match=r"incompatible values \(True and False\)"):
        one.merge(two)
    with pytest.raises(TypeError, match="Incompatible options type: <class 'int'>"):
        Dataset.range(3).with_options(cast("Any", 3))


def test_structures_of_datasets_and_iterators() -> None:
    dataset = Dataset.from_tensors(
        {"a": [1], "b": (tf.SparseTensor([[0]], [1.0], [2]),)}
    )
    for found in (dataset, dataset.make_one_shot_iterator()):
        assert tf.data.get_output_types(found) == {"a": tf.int32, "b": (tf.float32,)}
        assert str(tf.data.get_output_shapes(found)["b"][0]) == "(2,)"
        assert tf.data.get_output_classes(found)["b"] == (tf.SparseTensor,)
        assert tf.data.experimental.get_structure(found) == {
            "a": tf.TensorSpec([1], tf.int32),
            "b": (tf.SparseTensorSpec([2], tf.float32),),
        }


def test_reference_variables_disable_the_rewrites() -> None:
    v = tf.get_variable("v", [], tf.int64, tf.constant_initializer(2))
    dataset = Dataset.range(3).map(lambda i: i * v)
    with pytest.warns(UserWarning, match="static optimizations are not compatible"):
        iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(iterator.initializer)
        assert elements(session, element) == [0, 2, 4]


def prefetching() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "tfteach-prefetch"]


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_prefetching_runs_ahead_and_leaves_no_thread() -> None:
    seen: list[int] = []

    def see(i):
        seen.append(int(i))
        return i

    dataset = Dataset.range(1000).map(lambda i: tf.py_func(see, [i], tf.int64))
    iterator = dataset.prefetch(3).make_initializable_iterator()
    element = iterator.get_next()
    session = tf.Session()
    for _ in range(3):
        seen.clear()
        session.run(iterator.initializer)
        assert session.run(element) == 0
        wait_for(lambda: len(seen) == 4)
        assert len(prefetching()) == 1
    session.close()
    del session
    gc.collect()
    wait_for(lambda: not prefetching())


def test_the_end_of_prefetching_ends_the_thread() -> None:
    dataset = Dataset.range(5).map(lambda i: 6 // (i - 2)).prefetch(2)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = [session.run(element), session.run(element)]
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            session.run(element)
        assert found + elements(session, element) == [-3, -6, 6, 3]
        wait_for(lambda: not prefetching())


def test_reinitializing_keeps_nothing() -> None:
    alive: list[weakref.ref[Any]] = []

    def remember(i):
        array = np.full(10, i)
        alive.append(weakref.ref(array))
        return array

    dataset = Dataset.range(3).map(lambda i: tf.py_func(remember, [i], tf.int64))
    iterator = dataset.shuffle(10).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        session.run(iterator.initializer)
        gc.collect()
        assert not any(ref() is not None for ref in alive)


def test_threads_draw_each_element_once() -> None:
    dataset = Dataset.range(400).map(lambda i: i + 1)
    element = dataset.make_one_shot_iterator().get_next()
    found: list[int] = []
    with tf.Session() as session:

        def draw() -> None:
            try:
                while True:
                    found.append(int(session.run(element)))
            except tf.errors.OutOfRangeError:
                pass

        threads = [threading.Thread(target=draw) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == list(range(1, 401))


def test_many_calls_of_get_next_warn() -> None:
    iterator = Dataset.range(3).make_one_shot_iterator()
    for _ in range(32):
        iterator.get_next()
    with pytest.warns(UserWarning, match="before the loop"):
        iterator.get_next()


def test_graphs_with_datasets_are_imported(graph: tf.Graph) -> None:
    dataset = Dataset.range(6).map(lambda i: i * 3).filter(lambda i: i > 5).batch(2)
    dataset.make_one_shot_iterator().get_next("next")
    with tf.Graph().as_default() as other:
        tf.import_graph_def(graph.as_graph_def(), name="")
        found = other.get_tensor_by_name("next:0")
        with tf.Session(graph=other) as session:
            assert [e.tolist() for e in elements(session, found)] == [[6, 9], [12, 15]]
