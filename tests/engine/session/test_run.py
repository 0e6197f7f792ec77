"""`Session.run`: what can be fetched and fed, and in which form it comes back."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf

Pair = collections.namedtuple("Pair", "a b")


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def test_scalars_strings_and_types() -> None:
    with tf.Session() as sess:
        for value, kind in ((1.5, np.float32), (3, np.int32), (True, np.bool_)):
            got = sess.run(tf.constant(value))
            assert type(got) is kind
            assert got == value
        assert sess.run(tf.constant("a")) == b"a"
        texts = sess.run(tf.constant(["a", "é"]))
        assert texts.dtype == object
        assert texts.tolist() == [b"a", "é".encode()]


def test_nested_fetches() -> None:
    c = tf.constant([1.0, 2.0], name="c")
    s = tf.constant("a", name="s")
    with tf.Session() as sess:
        got = sess.run(
            {
                "k": [c, (s, Pair(c, "s"))],
                "d": collections.OrderedDict([("z", c), ("y", "c:0")]),
                "none": [],
            }
        )
    assert list(got) == ["k", "d", "none"]
    assert got["k"][0].tolist() == [1.0, 2.0]
    assert got["k"][1][0] == b"a"
    assert type(got["k"][1][1]) is Pair
    assert got["k"][1][1].b is None  # a name without a number is an operation
    assert type(got["d"]) is collections.OrderedDict
    assert list(got["d"]) == ["z", "y"]
    assert got["d"]["y"].tolist() == [1.0, 2.0]
    assert got["none"] == []


def test_a_structure_keeps_its_type_whatever_ran_before() -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.Session() as sess:
        for _ in range(3):
            assert type(sess.run((a, b))) is tuple
            assert type(sess.run([a, b])) is list
            assert type(sess.run(Pair(a, b))) is Pair
            assert type(sess.run((Pair(a, b),))[0]) is Pair
            assert type(sess.run(((a, b),))[0]) is tuple
            assert type(sess.run([[a, b]])[0]) is list
            assert sess.run({"a": a, "b": b}) == {"a": 1.0, "b": 2.0}
            assert sess.run({"a": b, "b": a}) == {"a": 2.0, "b": 1.0}
            assert list(sess.run({"b": b, "a": a})) == ["b", "a"]
            ordered = sess.run(collections.OrderedDict(a=a, b=b))
            assert type(ordered) is collections.OrderedDict
            assert sess.run({"a": [a], "b": (b,)}) == {"a": [1.0], "b": (2.0,)}
            assert sess.run({"a": (a,), "b": [b]}) == {"a": (1.0,), "b": [2.0]}


def test_nested_fetches_are_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.Session() as sess:

        def run() -> Any:
            return sess.run(
                {"loss": a, "more": {"both": Pair([a, b], ((b,), "Const"))}}
            )

        first = run()
        monkeypatch.setattr(sess, "_run_checked", None)
        assert (
            run()
            == first
            == {"loss": 1.0, "more": {"both": ([1.0, 2.0], ((2.0,), None))}}
        )


def test_operations_give_none_and_duplicates_their_value() -> None:
    c = tf.constant(2.0, name="c")
    with tf.Session() as sess:
        assert sess.run(["c", tf.no_op(), c, c]) == [None, None, 2.0, 2.0]
        assert sess.run(c.op) is None


def test_variables_as_fetches_and_feeds() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    r = tf.Variable(3.0, use_resource=True, name="r")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run([v, r])[0].tolist() == [1.0, 2.0]
        assert sess.run(v, {v: [5.0, 6.0]}).tolist() == [5.0, 6.0]
        assert sess.run(r, {r: 5.0}) == 5.0
        assert sess.run(v).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("key", ["tensor", "name"])
def test_any_tensor_can_be_fed(key: str) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, 1.0, name="y")
    z = tf.multiply(y, 2.0, name="z")
    with tf.Session() as sess:
        assert sess.run(z, {x if key == "tensor" else "x:0": [1, 2]}).tolist() == [4, 6]
        fed = sess.run(z, {y if key == "tensor" else "y:0": np.float32([1, 2])})
        assert fed.tolist() == [2, 4]
        # The fed tensor itself can be fetched, and what it needs does not run.
        assert sess.run([y, z], {y: [0, 5]})[0].tolist() == [0, 5]


def test_values_are_converted_to_the_tensors_type() -> None:
    i = tf.placeholder(tf.int32)
    f = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert sess.run(i, {i: 1.5}) == 1  # as TF: only ints are checked
        assert sess.run(i, {i: [1.5]}).tolist() == [1]
        assert sess.run(f, {f: True}) == 1.0
        assert np.isnan(sess.run(f, {f: None}))
        assert sess.run(f, {f: np.float64(0.5)}).dtype == np.float32


def test_sparse_tensors() -> None:
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
    fed = tf.sparse_placeholder(tf.float32, name="fed")
    values = tf.identity(fed.values)
    with tf.Session() as sess:
        got = sess.run({"s": sparse})["s"]
        assert isinstance(got, tf.SparseTensorValue)
        assert got.indices.tolist() == [[0, 0], [1, 2]]
        assert got.dense_shape.tolist() == [2, 3]
        for value in (got, tuple(got), tf.SparseTensorValue(*got)):
            assert sess.run(values, {fed: value}).tolist() == [1.0, 2.0]
        assert sess.run(fed, {fed: got}).values.tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="needs 3 arrays"):
            sess.run(values, {fed: ([[0, 0]], [1.0])})


def test_indexed_slices() -> None:
    bare = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    full = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([4]))
    with tf.Session() as sess:
        got = sess.run(bare)
        assert got.values.tolist() == [1.0]
        assert got.dense_shape is None
        assert sess.run(full).dense_shape.tolist() == [4]
        got = sess.run(full, {full: ([2.0], [1], [5])})
        assert (got.values, got.indices, got.dense_shape) == ([2.0], [1], [5])
        assert sess.run(bare, {bare: ([3.0], [1])}).values.tolist() == [3.0]


# ---- nothing fetched or fed is an alias of what the session keeps


def test_fetched_arrays_are_the_callers_own() -> None:
    c = tf.constant([1.0, 2.0])
    x = tf.placeholder(tf.float32, [2])
    v = tf.Variable([1.0, 2.0])
    r = tf.Variable([1.0, 2.0], use_resource=True)
    fetches = [c, tf.identity(c), v, v.read_value(), tf.identity(v), r, x]
    fetches += [tf.identity(x), tf.reshape(c, [2, 1]), tf.reshape(v, [2, 1])]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        mine = np.float32([1.0, 2.0])
        for _ in range(15):  # the loop, then the generated source
            got = sess.run(fetches, {x: mine})
            for array in got:
                assert array.flags.writeable
                array += 100.0
            assert mine.tolist() == [1.0, 2.0]
            again = sess.run(fetches, {x: mine})
            assert all(a.reshape(-1).tolist() == [1.0, 2.0] for a in again)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("size", [2, 5000])
def test_fed_arrays_never_become_a_variables_buffer(
    use_resource: bool, size: int
) -> None:
    x = tf.placeholder(tf.float32, [size])
    v = tf.Variable(tf.zeros([size]), use_resource=use_resource)
    sets = [v.assign(x), v.assign(tf.identity(x)), v.assign(tf.reshape(x, [size]))]
    with tf.Session() as sess:
        sess.run(v.initializer)
        for assign in sets:
            for _ in range(14):
                mine = np.ones(size, np.float32)
                sess.run(assign, {x: mine})
                mine[:] = 7.0
                assert (sess.run(v) == 1.0).all()
            mine = np.ones(size, np.float32)
            sess.run(assign, {x: mine})
            sess.run(v.assign_add(tf.ones([size])))
            assert (mine == 1.0).all()
            assert (sess.run(v) == 2.0).all()


def test_variables_keep_their_own_copy_of_a_constant() -> None:
    c = tf.constant(np.ones(5000, np.float32))
    v, w = tf.Variable(c), tf.Variable(c)
    with tf.Session() as sess:
        sess.run([v.initializer, w.initializer])
        for _ in range(15):
            sess.run(v.assign_add(c))
        assert (sess.run(c) == 1.0).all()
        assert (sess.run(w) == 1.0).all()
        assert (sess.run(v) == 16.0).all()


# ---- programs


def test_generated_source_gives_what_the_loop_gives() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    v = tf.Variable([[1.0, 2.0, 3.0]])
    y = tf.multiply(tf.add(x, v), tf.constant([2.0, 0.5, 1.0]))
    parts = tf.split(y, 3, axis=1)
    fetches = [y, parts[2], tf.shape(y), v.assign_add([[1.0, 1.0, 1.0]])]
    rng = np.random.default_rng(3)
    fed = rng.normal(size=(20, 4, 3)).astype(np.float32)
    with tf.Session() as sess:
        sess.run(v.initializer)
        state = np.float32([[1, 2, 3]])
        for values in fed:
            got = sess.run(fetches, {x: values})
            # Reads before writes: y sees the state before this step's update.
            expected = (values + state) * np.float32([2.0, 0.5, 1.0])
            state = state + 1
            np.testing.assert_allclose(got[0], expected, rtol=1e-6)
            np.testing.assert_allclose(got[1], expected[:, 2:], rtol=1e-6)
            assert got[2].tolist() == [4, 3]
            np.testing.assert_array_equal(got[3], state)
        ((program, _),) = [p for k, p in sess._programs.items() if len(k[0]) == 4]
        assert program.hot


def test_a_program_is_made_once_and_the_graph_may_grow() -> None:
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    with tf.Session() as sess:
        assert sess.run(y, {x: 1.0}) == 2.0
        made = dict(sess._programs)
        assert sess.run(y, {x: 2.0}) == 3.0
        z = y * 2.0
        assert sess.run(z, {x: 1.0}) == 4.0
        assert sess.run(y, {x: 5.0}) == 6.0
        kept = {k: v for k, v in sess._programs.items() if k in made}
        assert kept == made
        assert len(sess._programs) == 2


def test_a_changed_graph_is_seen() -> None:
    v = tf.Variable(1.0)
    bump = v.assign_add(1.0).op
    out = tf.constant(5.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(out)
        assert sess.run(v) == 1.0
        out.op._add_control_input(bump)
        sess.run(out)
        assert sess.run(v) == 2.0


@pytest.mark.parametrize("level", [-1, 0])
def test_optimization_off_and_on(level: int) -> None:
    config = tf.ConfigProto(device_count={"GPU": 0})
    config.graph_options.optimizer_options.opt_level = level
    x = tf.placeholder(tf.float32, [2], name="x")
    c = tf.add(tf.constant([1.0, 2.0], name="p"), [3.0, 4.0], name="c")
    one = tf.multiply(x, c, name="one")
    two = tf.multiply(x, c, name="two")
    y = tf.add(tf.identity(one, name="id"), two, name="y")
    with tf.Session(config=config) as sess:
        step = sess.planner.plan([y], (x,))
        names = [node.name for node in step.nodes]
        changed = {(c.pass_name, c.node) for c in step.log}
        value = sess.run(y, {x: [1.0, 10.0]})
    assert value.tolist() == [8.0, 120.0]
    if level == 0:
        assert ("fold_constants", "c") in changed
        assert ("merge_duplicates", "two") in changed
        assert ("remove_identities", "id") in changed
        assert names == ["c", "one", "y"]
    else:
        assert names == ["p", "c/y", "c", "one", "two", "id", "y"]
        assert not changed


def test_passes_keep_effects_and_reads_apart() -> None:
    v = tf.Variable(1.0, name="v")
    before = tf.identity(v, name="before")
    with tf.control_dependencies([before]):
        bump = tf.assign_add(v, 1.0, name="bump")
    with tf.control_dependencies([bump]):
        after = tf.identity(v.read_value(), name="after")
        constant = tf.add(1.0, 2.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(15):
            got: Any = sess.run([before, after])
            # As in TensorFlow, where a fetched read is the variable's own buffer.
            assert got == [2.0 + i, 2.0 + i]
        assert sess.run(constant) == 3.0  # folded, and still waits for the bump
        assert sess.run(v) == 17.0


def test_passes_keep_what_is_waited_for() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.constant(1.0)
    with tf.control_dependencies([x]):
        waits = [tf.identity(y), tf.add(y, 1.0), tf.group(tf.no_op())]
    with tf.Session() as sess:
        sess.run(tf.add(y, 1.0))
        for fetch in waits:
            with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
                sess.run(fetch)
            sess.run(fetch, {x: 1.0})


def test_each_pass_can_be_switched() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    c = tf.add(1.0, 2.0, name="c")
    y = tf.add(tf.multiply(x, c, name="m1"), tf.multiply(x, c, name="m2"), name="y")

    def passes(change: Any) -> set[str]:
        config = tf.ConfigProto(device_count={"GPU": 0})
        change(config.graph_options)
        with tf.Session(config=config) as sess:
            assert sess.run(y, {x: 2.0}) == 12.0
            return {change.pass_name for change in sess.planner.plan([y], (x,)).log}

    def only_merge(options: Any) -> None:
        options.optimizer_options.opt_level = -1
        options.optimizer_options.do_common_subexpression_elimination = True

    def no_folding(options: Any) -> None:
        options.rewrite_options.constant_folding = 2  # OFF

    def none(options: Any) -> None:
        options.rewrite_options.disable_meta_optimizer = True

    assert {"fold_constants", "merge_duplicates"} <= passes(lambda options: None)
    assert (
        {"merge_duplicates"}
        <= passes(only_merge)
        <= {
            "merge_duplicates",
            "remove_dead",
            "remove_identities",
        }
    )
    assert "fold_constants" not in passes(no_folding)
    assert passes(none) == set()


def test_strings_are_fed_as_bytes_and_nothing_else_is() -> None:
    p = tf.placeholder(tf.string, [None])
    q = tf.identity(p)
    with tf.Session() as sess:
        got: Any = sess.run(q, {p: np.array(["a", "é", b"b"], object)})
        assert got.tolist() == [b"a", "é".encode(), b"b"]
        with pytest.raises(
            tf.errors.InternalError, match="Unsupported object type int"
        ):
            sess.run(q, {p: [1, "a"]})
        assert sess.run(q, {p: ["c"]}).tolist() == [b"c"]
