"""`tf.autograph` and `tf.contrib.autograph`.  The numbers are TensorFlow 1.15.5's."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.lib.autograph.errors import ConversionError

Feature = tf.autograph.experimental.Feature
eager = pytest.mark.usefixtures("eagerly")


def positive(x: Any) -> Any:
    if x > 0:
        return x
    else:
        return -x


def limited(x: Any, n: Any) -> Any:
    for i in tf.range(n):
        x = x + i
        if x > 5:
            break
    return x


def test_to_graph_builds_switch_and_merge_in_a_graph() -> None:
    converted: Any = tf.autograph.to_graph(positive)
    assert converted.__name__ == "tf__positive"
    y = converted(tf.constant(-2))
    with tf.Session() as session:
        assert session.run(y) == 2
    types = {op.type for op in tf.get_default_graph().get_operations()}
    assert {"Switch", "Merge"} <= types
    assert converted(-3) == 3


@eager
def test_to_graph_in_an_eager_program() -> None:
    converted: Any = tf.autograph.to_graph(positive)
    assert converted(tf.constant(-3)).numpy() == 3
    loop: Any = tf.autograph.to_graph(limited)
    assert loop(tf.constant(0), tf.constant(10)).numpy() == 6
    assert loop(0, 3).numpy() == 3


def test_to_graph_without_the_functions_that_are_called() -> None:
    def f(x: Any) -> Any:
        return positive(x)

    alone: Any = tf.autograph.to_graph(f, recursive=False)
    with pytest.raises(TypeError, match="as a Python `bool`"):
        alone(tf.constant(1))
    with tf.Session() as session:
        every: Any = tf.autograph.to_graph(f)
        assert session.run(every(tf.constant(-1))) == 1


class Base:
    def __init__(self, limit: Any) -> None:
        super().__init__()
        self.limit = limit

    name = "base"

    def above(self, x: Any) -> Any:
        if x > self.limit:
            return x
        else:
            return self.negative(x)

    def negative(self, x: Any) -> Any:
        return -x


class Derived(Base):
    def negative(self, x: Any) -> Any:
        return -2 * x


def test_methods_and_classes() -> None:
    method: Any = tf.autograph.to_graph(Base(1).above)
    converted: Any = tf.autograph.to_graph(Base)
    assert converted.__name__ == "TfBase"
    assert converted.name == "base"
    with tf.Session() as session:
        x = tf.constant(-5)
        assert session.run(method(Base(1), x)) == 5
        assert session.run(converted(tf.constant(2)).above(x)) == 5
    with pytest.raises(NotImplementedError, match="do not directly extend classes"):
        tf.autograph.to_graph(Derived)
    text = tf.autograph.to_code(Base)
    assert text.startswith("class TfBase:\n\n    def __init__(self, limit: Any)")
    assert "ag__.converted_call(super(__class__, self).__init__)" in text


def test_what_cannot_be_converted() -> None:
    with pytest.raises(NotImplementedError, match="object conversion is not yet"):
        tf.autograph.to_graph(3)
    with pytest.raises(NotImplementedError, match="object conversion is not yet"):
        tf.autograph.to_graph(Base(1))
    namespace: dict[str, Any] = {}
    exec("def f():\n    pass", namespace)
    for convert in (tf.autograph.to_graph, tf.autograph.to_code):
        with pytest.raises(ConversionError, match=r"converting <function f at .*Error"):
            convert(namespace["f"])

    class Empty:
        x = 1

    with pytest.raises(ConversionError, match="no member methods"):
        tf.autograph.to_graph(Empty)


def test_to_code() -> None:
    assert tf.autograph.to_code(positive).split("\n")[:6] == [
        "def tf__positive(x: Any) -> Any:",
        "    with ag__.FunctionScope('positive', 'positive_scope', ag__.options) as "
        "positive_scope:",
        "        do_return = False",
        "        retval_ = ag__.UndefinedReturnValue()",
        "",
        "        def if_true():",
    ]
    assert tf.contrib.autograph.to_code(positive) == tf.autograph.to_code(positive)
    code = tf.autograph.to_code(lambda x: x and -x)
    assert code == (
        "tf__lambda = lambda x: ag__.with_function_scope(lambda lambda_scope: "
        "ag__.and_(lambda: x, lambda: -x), 'lambda_scope', ag__.options)\n"
    )


def test_to_graph_of_contrib_and_of_a_lambda() -> None:
    converted: Any = tf.contrib.autograph.to_graph(lambda x: -x if x < 0 else x)
    assert converted(-2) == 2


def test_do_not_convert() -> None:
    for decorator in (
        tf.autograph.experimental.do_not_convert,
        tf.autograph.experimental.do_not_convert(),
    ):
        left_alone: Any = decorator(positive)
        assert left_alone.__name__ == "positive"
        f: Any = tf.autograph.to_graph(lambda x, f=left_alone: f(x))
        assert f(-1) == 1
        with pytest.raises(TypeError, match="AutoGraph is disabled"):
            f(tf.constant(-1))


def test_convert_as_a_decorator() -> None:
    @tf.contrib.autograph.convert(recursive=True)
    def f(x: Any) -> Any:
        return positive(x)

    with tf.Session() as session:
        assert session.run(f(tf.constant(-7))) == 7


# ---- features


def traced(features: Any) -> Any:
    return tf.function(experimental_autograph_options=features)


@eager
def test_equality_and_chained_comparisons() -> None:
    @traced(Feature.EQUALITY_OPERATORS)
    def f(n: Any) -> Any:
        if n == 3:
            found = 1
        else:
            found = 2
        if 1 < n < 5:
            found += 10
        if n != 4:
            found += 100
        return found

    assert [f(tf.constant(n)).numpy() for n in (3, 4, 7)] == [111, 12, 102]


@eager
def test_assertions() -> None:
    @traced(Feature.ASSERT_STATEMENTS)
    def f(n: Any) -> Any:
        assert n > 0, "positive"
        assert n < 100
        return n

    assert f(tf.constant(3)).numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"failed: \[positive\]"):
        f(tf.constant(-3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Assertion error\]"):
        f(tf.constant(300))


@eager
def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    @traced(Feature.BUILTIN_FUNCTIONS)
    def f(n: Any) -> Any:
        print("n is", n, tf.constant("text"), sep="|")
        return n

    f(tf.constant(3))
    f(tf.constant(4))
    assert capsys.readouterr().out == "n is|3|text\nn is|4|text\n"

    @tf.function
    def g(n: Any) -> Any:
        print("tracing", n)
        return n

    g(tf.constant(3))
    g(tf.constant(4))
    assert capsys.readouterr().out == ('tracing Tensor("n:0", shape=(), dtype=int32)\n')


@eager
def test_lists() -> None:
    set_element_type = tf.contrib.autograph.set_element_type

    @traced(Feature.LISTS)
    def f(n: Any) -> Any:
        squares: Any = []
        set_element_type(squares, tf.int32, [])
        for i in tf.range(n):
            squares.append(i * i)
        last = squares.pop()
        return last, squares[1], tf.contrib.autograph.stack(squares)

    last, second, rest = f(tf.constant(5))
    assert (last.numpy(), second.numpy(), rest.numpy().tolist()) == (
        16,
        1,
        [0, 1, 4, 9],
    )

    @traced(Feature.LISTS)
    def g(x: Any, i: Any) -> Any:
        x[i] = 100
        return x[0] + x[i]

    assert g(tf.constant([1, 2, 3]), tf.constant(1)).numpy() == 101


@eager
def test_name_scopes_and_control_dependencies() -> None:
    @traced((Feature.EQUALITY_OPERATORS, Feature.NAME_SCOPES))
    def scoped(x: Any) -> Any:
        def inner(y: Any) -> Any:
            return y + 1

        if x != 3:
            x = inner(x)
        return x

    assert [scoped(tf.constant(n)).numpy() for n in (3, 7)] == [3, 8]
    graph = scoped.get_concrete_function(tf.constant(1)).graph
    assert sorted(op.name for op in graph.get_operations()) == [
        "Identity",
        "scoped/Equal",
        "scoped/Equal/y",
        "scoped/LogicalNot",
        "scoped/cond",
        "scoped/cond/Identity",
        "x",
    ]


def test_control_dependencies_in_a_graph() -> None:
    v = tf.get_variable("v", initializer=1, use_resource=True)

    def f(x: Any) -> Any:
        v.assign_add(x)
        v.assign(v * 10)
        return x

    converted: Any = tf.autograph.to_graph(
        f, experimental_optional_features=Feature.AUTO_CONTROL_DEPS
    )
    y = converted(tf.constant(4))
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(y) == 4
        assert session.run(v) == 50


def test_the_members_of_feature() -> None:
    assert Feature.all() == tuple(Feature)
    assert Feature.ALL not in Feature.all_but(Feature.LISTS)
    assert set(Feature.all_but([Feature.LISTS, Feature.ALL])) == {*Feature} - {
        Feature.LISTS,
        Feature.ALL,
    }


# ---- messages


def test_verbosity(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(x: Any) -> Any:
        return not x

    try:
        tf.autograph.set_verbosity(2, alsologtostdout=True)
        tf.autograph.to_graph(f)
        shown = capsys.readouterr().out
        assert "Converting <function" in shown
        assert "return ag__.not_(x)" in shown
        tf.autograph.set_verbosity(0, alsologtostdout=True)
        tf.autograph.to_graph(lambda x: not x)
        assert capsys.readouterr().out == ""
        monkeypatch.setenv("AUTOGRAPH_VERBOSITY", "1")
        from tfteach.lib.autograph import verbosity

        assert not verbosity.has_verbosity(1)
        verbosity.verbosity_level = None
        assert verbosity.has_verbosity(1)
    finally:
        tf.autograph.set_verbosity(None)


def test_trace_prints_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    tf.autograph.trace("a", 1)
    assert capsys.readouterr().out == "a 1\n"


@eager
def test_loop_options_change_nothing() -> None:
    @tf.function
    def f(n: Any) -> Any:
        total = 0
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(maximum_iterations=1)
            total += i
        return total

    assert f(tf.constant(4)).numpy() == 6
