"""Errors of converted code.  The messages are those of TensorFlow 1.15.5."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.framework.functions.func_graph import InaccessibleTensorError
from tfteach.framework.operation import OperatorNotAllowedInGraphError
from tfteach.lib.autograph.errors import StagingError

pytestmark = pytest.mark.usefixtures("eagerly")


def message_of(error: BaseException) -> str:
    """The last paragraph of a message, which has no lines of the way to the error."""
    lines = str(error).split("\n")
    start = max(i for i, line in enumerate(lines) if re.match(r"    \w+: ", line))
    return "\n".join(line[4:] for line in lines[start:]).strip()


def undefined_in_else(x: Any) -> Any:
    if x > 0:
        y = 1
    return y


def undefined_in_if(x: Any) -> Any:
    if x > 0:
        pass
    else:
        y = 1
    return y


def types_differ(x: Any) -> Any:
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y


def none_in_one(x: Any) -> Any:
    y = None
    if x > 0:
        y = 1
    return y


def return_in_one(x: Any) -> Any:
    if x > 0:
        return x


def return_of_none(x: Any) -> Any:
    if x > 0:
        return x
    else:
        return None


def return_in_loop(x: Any) -> Any:
    while x < 10:
        x = x + 1
        if x > 5:
            return x
    return x


def undefined_in_loop(n: Any) -> Any:
    for i in tf.range(n):
        y = i
    return y


def type_changes(n: Any) -> Any:
    x, y = 0, 0
    while x < n:
        x = x + 1
        y = tf.cast(x, tf.float32)
    return y


def shape_changes(n: Any) -> Any:
    x = tf.zeros([1])
    i = 0
    while i < n:
        x = tf.concat([x, x], 0)
        i += 1
    return x


def shape_changes_in_for(n: Any) -> Any:
    x = tf.zeros([1])
    for _ in tf.range(n):
        x = tf.concat([x, x], 0)
    return x


def shape_changes_over_rows(n: Any) -> Any:
    x = tf.zeros([1])
    for _ in tf.stack([n, n]):
        x = tf.concat([x, x], 0)
    return x


def chained_comparison(n: Any) -> Any:
    if 1 < n < 5:
        return 1
    else:
        return 2


def mixed_types(x: Any) -> Any:
    def product(y: Any) -> Any:
        return y * 0.5

    if x > 0:
        z = product(x)
    else:
        z = x
    return z


NOT_CONVERTED = (
    "OperatorNotAllowedInGraphError: using a `tf.Tensor` as a Python `bool` is not "
    "allowed: AutoGraph did not convert this function. Try decorating it directly with "
    "@tf.function."
)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (
            undefined_in_else,
            ValueError,
            "ValueError: The following symbols must also be initialized in the else "
            "branch: ('y',). Alternatively, you may initialize them before the if "
            "statement.",
        ),
        (
            undefined_in_if,
            ValueError,
            "ValueError: The following symbols must also be initialized in the if "
            "branch: ('y',). Alternatively, you may initialize them before the if "
            "statement.",
        ),
        (
            types_differ,
            TypeError,
            'TypeError: "y" has dtype int32 in the TRUE branch, but dtype=float32 '
            "in the FALSE branch. TensorFlow control flow requires that they are the "
            "same.",
        ),
        (
            none_in_one,
            ValueError,
            "ValueError: Lengths of branch outputs of cond must match.\n"
            "len(graphs[0].outputs): 1\nlen(graphs[1].outputs): 0",
        ),
        (
            return_in_one,
            ValueError,
            "ValueError: A value must also be returned from the else branch. If a "
            "value is returned from one branch of a conditional a value must be "
            "returned from all branches.",
        ),
        (
            return_of_none,
            ValueError,
            "ValueError: Lengths of branch outputs of cond must match.\n"
            "len(graphs[0].outputs): 2\nlen(graphs[1].outputs): 1",
        ),
        (
            return_in_loop,
            ValueError,
            "ValueError: return statements are not supported within a TensorFlow loop.",
        ),
        (
            undefined_in_loop,
            ValueError,
            "ValueError: TensorFlow requires that the following symbols must be "
            "defined before the loop: ('y',)",
        ),
        (
            type_changes,
            TypeError,
            'TypeError: "y" has dtype int32 before the loop, but dtype float32 after '
            "one iteration. TensorFlow control flow requires it stays the same.",
        ),
        *(
            (
                function,
                ValueError,
                'ValueError: "x" has shape (1,) before the loop, but shape (2,) after '
                "one iteration. TensorFlow control flow requires it stays the same or "
                "be more specific.",
            )
            for function in (
                shape_changes,
                shape_changes_in_for,
                shape_changes_over_rows,
            )
        ),
        (chained_comparison, OperatorNotAllowedInGraphError, NOT_CONVERTED),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_messages(
    function: Callable[..., Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        tf.function(function)(tf.constant(3))
    assert type(caught.value) is error
    assert message_of(caught.value) == message


def test_structures_that_differ_are_described() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = (1, 2)
        else:
            y = (1, 2, 3)  # type: ignore[assignment]
        return y

    def g(n: Any) -> Any:
        x: Any = ()
        i = 0
        while i < n:
            x = (i,)
            i += 1
        return x

    with pytest.raises(TypeError) as caught:
        tf.function(f)(tf.constant(1))
    assert (
        '"y" does not have the same nested structure in the TRUE and FALSE branches.'
        in str(caught.value)
    )
    with pytest.raises(TypeError) as caught:
        tf.function(g)(tf.constant(1))
    assert '"x" does not have the same nested structure after one iteration.' in str(
        caught.value
    )


def test_the_way_to_an_error_is_shown_in_the_users_lines() -> None:
    with pytest.raises(TypeError) as caught:
        tf.function(mixed_types)(tf.constant(3))
    lines = str(caught.value).split("\n")
    assert lines[0] == "in converted code:"
    assert re.fullmatch(r"    relative to /.*:", lines[1])
    assert lines[2] == ""
    first = mixed_types.__code__.co_firstlineno
    assert lines[3].endswith(f"test_messages.py:{first + 2} product  *")
    assert lines[4] == "        return y * 0.5"
    found = traceback.extract_tb(caught.value.__traceback__)
    assert (__file__, first + 2, "product") in [
        (f.filename, f.lineno, f.name) for f in found
    ]
    assert (__file__, first + 4, "mixed_types") in [
        (f.filename, f.lineno, f.name) for f in found
    ]


class OfTwo(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(a, b)


class OfText(Exception):
    pass


def test_the_classes_of_errors() -> None:
    def missing(x: Any) -> Any:
        return {"a": 1}["b"]

    def own(x: Any) -> Any:
        raise OfText("abc")

    def of_two(x: Any) -> Any:
        raise OfTwo(1, 2)

    with pytest.raises(KeyError) as key_error:
        tf.function(missing)(tf.constant(1))
    assert type(key_error.value).__name__ == "KeyError"
    assert str(key_error.value).endswith("\n    KeyError: 'b'\n")
    with pytest.raises(OfText) as text_error:
        tf.function(own)(tf.constant(1))
    assert str(text_error.value).endswith("\n    OfText: abc\n")
    with pytest.raises(StagingError) as staging_error:
        tf.function(of_two)(tf.constant(1))
    assert str(staging_error.value).endswith("\n    OfTwo: (1, 2)\n")


def test_a_tensor_that_leaves_a_loop_by_the_back_door() -> None:
    def f(n: Any) -> Any:
        found: list[Any] = []
        for i in tf.range(n):
            found.append(i)
        return found

    with pytest.raises(InaccessibleTensorError, match="cannot be accessed here"):
        tf.function(f)(tf.constant(3))


def test_errors_of_a_run_name_the_line() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = tf.gather([1, 2], x)
        else:
            y = x
        return y

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(f)(tf.constant(5))
    assert "indices = 5 is not in [0, 2)" in str(caught.value)
    assert f"line {f.__code__.co_firstlineno + 2}, in f" in str(caught.value)


def test_unconverted_functions() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return 1
        else:
            return 2

    def g(x: Any) -> Any:
        for _ in x:
            pass

    disabled = "AutoGraph is disabled in this function. Try decorating it directly"
    with pytest.raises(OperatorNotAllowedInGraphError) as caught:
        tf.function(f, autograph=False)(tf.constant(1))
    assert str(caught.value).startswith(
        f"using a `tf.Tensor` as a Python `bool` is not allowed: {disabled}"
    )
    with pytest.raises(OperatorNotAllowedInGraphError) as caught:
        tf.function(g, autograph=False)(tf.constant([1]))
    assert str(caught.value).startswith(
        f"iterating over `tf.Tensor` is not allowed: {disabled}"
    )
    left_alone: Any = tf.autograph.experimental.do_not_convert(f)
    with pytest.raises(OperatorNotAllowedInGraphError, match="AutoGraph is disabled"):
        tf.function(lambda x: left_alone(x))(tf.constant(1))
    with tf.Graph().as_default(), pytest.raises(TypeError, match="in Graph execution"):
        f(tf.constant(1))
