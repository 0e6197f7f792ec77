"""Print, tf.print, checks of numerics and Python functions, in runs."""

import logging
import sys

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eager_program

# What TensorFlow 1.15 wrote for these.
NESTED = """\
[[[0 1 2 ... 7 8 9]
  [10 11 12 ... 17 18 19]
  [20 21 22 ... 27 28 29]
  ...
  [70 71 72 ... 77 78 79]
  [80 81 82 ... 87 88 89]
  [90 91 92 ... 97 98 99]]

 [[100 101 102 ... 107 108 109]
  [110 111 112 ... 117 118 119]
  [120 121 122 ... 127 128 129]
  ...
  [170 171 172 ... 177 178 179]
  [180 181 182 ... 187 188 189]
  [190 191 192 ... 197 198 199]]]
"""


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def big():
    return tf.constant([[1.0, 2.5], [3.0, 1e10]])


@pytest.mark.parametrize(
    ("summarize", "text"),
    [
        (None, "m: [[1 2.5][3...]...][3][str][1 0][1.5][1 2 3...][][a b]\n"),
        (-1, "m: [[1 2.5][3 1e+10]][3][str][1 0][1.5][1 2 3 4 5][][a b]\n"),
        (2, "m: [[1 2.5]...][3][str][1 0][1.5][1 2...][][a b]\n"),
    ],
)
def test_print_writes_as_tensorflow_does(session, capfd, summarize, text):
    data = [
        big(),
        tf.constant(3),
        tf.constant("str"),
        tf.constant([True, False]),
        tf.constant(1.5, tf.float64),
        tf.constant([1, 2, 3, 4, 5]),
        tf.constant([], tf.float32),
        tf.constant(["a", "b"]),
    ]
    value = session.run(tf.Print(big(), data, "m: ", summarize=summarize))
    np.testing.assert_array_equal(value, np.float32([[1, 2.5], [3, 1e10]]))
    assert capfd.readouterr().err == text


def test_print_first_n_counts_per_session(session, capfd):
    printed = tf.Print(tf.constant(1), [tf.constant(7)], first_n=2)
    for _ in range(4):
        session.run(printed)
    assert capfd.readouterr().err == "[7]\n" * 2
    with tf.Session(graph=session.graph) as other:
        other.run(printed)
    assert capfd.readouterr().err == "[7]\n"


def test_print_passes_gradients_on(session):
    x = tf.constant(3.0)
    [grad] = tf.gradients(tf.Print(x * x, [x]), x)
    assert session.run(grad) == 6


def test_print_v2(session, capfd):
    session.run(
        tf.print("hello", big(), 3, [tf.constant(1), "a"], {"k": tf.constant([1, 2])})
    )
    assert capfd.readouterr().err == (
        "hello [[1 2.5]\n [3 1e+10]] 3 [1, 'a'] {'k': [1 2]}\n"
    )
    session.run(
        tf.print(
            tf.range(10),
            tf.constant("s"),
            tf.constant(["s", "t"]),
            tf.constant(1.5),
            sep="|",
            end="END\n",
            output_stream=sys.stdout,
        )
    )
    assert capfd.readouterr().out == '[0 1 2 ... 7 8 9]|"s"|["s" "t"]|1.5END\n'
    session.run(tf.print(tf.reshape(tf.range(200), [2, 10, 10])))
    assert capfd.readouterr().err == NESTED
    session.run(
        tf.print(
            tf.constant([1e10, 1e-10, 0.1, 1 / 3, np.nan, np.inf]),
            tf.constant([True]),
            tf.constant([1 + 2j]),
            tf.constant([1e10, 1 / 3], tf.float64),
            summarize=6,
        )
    )
    assert capfd.readouterr().err == (
        "[1e+10 1e-10 0.1 0.333333343 nan inf] [1] [?] "
        "[10000000000 0.33333333333333331]\n"
    )
    session.run(
        tf.print(
            tf.constant("ü"), tf.constant(["a\xff'\"\1\n".encode()]), tf.constant(1j)
        )
    )
    assert capfd.readouterr().err == (
        '"\\303\\274" ["a\\303\\277\\\'\\"\\001\\n"] [?]\n'
    )
    session.run(tf.print(tf.constant([1j, 2j, 3j, 4j]), tf.zeros([0], tf.complex64)))
    assert capfd.readouterr().err == "[? ? ?...] []\n"
    session.run(tf.print(tf.constant("only")))
    session.run(tf.print())
    session.run(tf.print("{} in the text", tf.constant(1)))
    assert capfd.readouterr().err == "only\n\n{} in the text 1\n"


def test_eager_programs_print_at_once(capfd):
    with eager_program():
        x = tf.constant([[1.0, 2.0], [3.0, 4.5]])
        assert tf.print({"a": x, "b": [1, "c", tf.constant("d")]}) is None
        tf.print(tf.Variable([1, 2]), 5, None, sep="|", output_stream=sys.stdout)
        assert tf.Print(x, [x, "b"], "msg: ", summarize=2).numpy().tolist() == [
            [1.0, 2.0],
            [3.0, 4.5],
        ]
        for _ in range(3):
            tf.Print(x, [1], "twice ", first_n=2)
    out, err = capfd.readouterr()
    assert err == (
        "{'a': [[1 2]\n [3 4.5]], 'b': [1, 'c', \"d\"]}\nmsg: [[1 2]...][b]\n"
        "twice [1]\ntwice [1]\n"
    )
    assert out == "[1 2]|5|None\n"


def test_print_streams(session, tmp_path, caplog):
    path = tmp_path / "out"
    for _ in range(2):
        session.run(tf.print("a", tf.constant(1), output_stream=f"file://{path}"))
    assert path.read_text() == "a 1\n" * 2
    with caplog.at_level(logging.INFO, "tensorflow"):
        session.run(tf.print("noted", output_stream=logging.info))
        session.run(tf.print("bad", output_stream=logging.ERROR))
    assert [r.levelname for r in caplog.records] == ["INFO", "ERROR"]
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("a", output_stream="bad")
    with pytest.raises(ValueError, match=r"Unrecognized keyword .*\{'foo': 3\}"):
        tf.print("a", foo=3)
    with pytest.raises(ValueError, match=r"2 placeholder.* does not match 1 tensor"):
        tf.strings.format("a {} b {}", [big()])


@pytest.mark.parametrize(
    ("values", "found"),
    [([1, np.nan], "NaN"), ([1, -np.inf], "Inf"), ([np.nan, np.inf], "Inf and NaN")],
)
def test_check_numerics(session, values, found):
    x = tf.placeholder(tf.float32, [2])
    checked = tf.check_numerics(x, "oops")
    assert session.run(checked, {x: [1, 2]}).tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"^oops : .* {found} va"):
        session.run(checked, {x: values})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^bad : "):
        session.run(tf.verify_tensor_all_finite(x, "bad"), {x: values})


def test_check_numerics_checks_gradients(session):
    x = tf.constant(1.0)
    [grad] = tf.gradients(tf.check_numerics(x, "m"), x, grad_ys=tf.constant(np.inf))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"in gradient\. b'm' : Tensor had"
    ):
        session.run(grad)


def test_assert_shows_the_data(session):
    p = tf.placeholder_with_default(False, [])
    check = tf.Assert(p, ["bad", big(), tf.constant([1, 2, 3, 4])], summarize=2)
    session.run(check, {p: True})
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"^assertion failed: \[bad\] \[\[1 2.5\]...\] \[1 2...\]",
    ):
        session.run(check)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"be a scalar: \[1"):
        session.run(tf.Assert(tf.constant([True]), ["x"]))


def test_assert_escapes_texts(session):
    check = tf.Assert(False, ['it\'s "so"\n\u00e9'])
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        session.run(check)
    assert r"failed: [it\'s \"so\"\n\303\251]" in str(error.value)


# ---- py_func


def test_py_func_values_and_types(session):
    x = tf.constant([1.0, 2.0])
    assert session.run(tf.py_func(lambda a: a + 1, [x], tf.float32)).tolist() == [2, 3]
    both = tf.py_func(lambda a: (a, a.sum()), [x], [tf.float32, tf.float32])
    one, two = session.run(both)
    assert one.tolist() == [1, 2]
    assert two == 3
    assert both[0].op.type == "PyFunc"
    assert both[0].shape.ndims is None
    assert tf.py_func(max, [x], tf.float32, stateful=False).op.type == "PyFuncStateless"
    assert session.run(tf.numpy_function(lambda a: a * 2, [x], tf.float32))[1] == 4
    text = tf.py_func(lambda s: s.decode() + "ü", [tf.constant("a")], tf.string)
    assert session.run(text) == "aü".encode()
    null = tf.py_func(lambda: b"a\0", [], tf.string)
    assert session.run(null) == b"a\0"


def test_py_func_gets_numpy_values_that_it_may_change(session):
    seen = []

    def note(a, b, c):
        seen.extend([type(a), type(b), type(c)])
        c += 1

    x = tf.placeholder(tf.float32, [2])
    op = tf.py_func(note, [tf.constant(3), tf.constant("s"), x], [])
    value = np.float32([1, 2])
    assert session.run([op, x], {x: value})[1].tolist() == [1, 2]
    assert seen == [np.int32, bytes, np.ndarray]
    assert value.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("boo"), "InvalidArgumentError"),
        (TypeError("boo"), "InvalidArgumentError"),
        (StopIteration("boo"), "OutOfRangeError"),
        (MemoryError("boo"), "ResourceExhaustedError"),
        (NotImplementedError("boo"), "UnimplementedError"),
        (KeyError("boo"), "UnknownError"),
    ],
)
def test_py_func_errors(session, error, kind):
    def fail():
        raise error

    with pytest.raises(getattr(tf.errors, kind)) as caught:
        session.run(tf.py_func(fail, [], tf.float32))
    assert caught.value.message.startswith(f"{type(error).__name__}: ")
    assert "raise error" in caught.value.message  # the user's line
    assert caught.value.__cause__ is error
    assert caught.value.op.type == "PyFunc"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (2.5, "0-th value returned by pyfunc_[0-9]+ is double, but expects float"),
        ((1, 2), "returns 2 values, but expects to see 1 values"),
        (None, "returns 0 values, but expects to see 1 values"),
    ],
)
def test_py_func_refuses_other_results(session, result, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.py_func(lambda: result, [], tf.float32))


def test_py_func_needs_a_function_and_its_process(session):
    with pytest.raises(ValueError, match="Expected func to be callable, got func of"):
        tf.py_func(3, [], tf.float32)
    tf.py_func(lambda: 1, [], tf.int64, name="f")
    graph_def = session.graph.as_graph_def()
    graph_def.node[0].attr["token"].s = b"pyfunc_of_another_process"
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with (
            tf.Session() as other,
            pytest.raises(
                tf.errors.InvalidArgumentError,
                match="ValueError: callback pyfunc_of_another_process is not found",
            ),
        ):
            other.run(graph.get_tensor_by_name("f:0"))


@pytest.mark.parametrize(
    ("stateful", "build", "calls"),
    [
        (False, lambda call, x: call([1.0]), 1),
        (False, lambda call, x: call([1.0]) + x, 1),
        (False, lambda call, x: call([]), 1),
        (False, lambda call, x: call([call([1.0])]), 2),
        (False, lambda call, x: call([x]), 20),
        (False, lambda call, x: tf.cond(x > 5, lambda: call([1.0]), lambda: 0.0), 1),
        (False, lambda call, x: tf.tuple([x], control_inputs=[call([x]).op])[0], 0),
        (True, lambda call, x: call([1.0]), 20),
        (True, lambda call, x: tf.cond(x > 5, lambda: call([1.0]), lambda: 0.0), 0),
    ],
)
def test_how_often_a_py_func_is_called(stateful, build, calls):
    """Stateless ones of constants once in a session, as in TensorFlow 1.15.5."""
    ran = []

    def function(*values):
        ran.append(values)
        return np.float32(2.0)

    def call(inputs):
        return tf.py_func(function, inputs, tf.float32, stateful=stateful)

    x = tf.placeholder(tf.float32, [])
    y = build(call, x)
    with tf.Session() as session:
        for _ in range(20):
            session.run(y, {x: 1.0})
    assert len(ran) == calls
