"""tf.make_template in eager programs.  Source: TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf

pytestmark = pytest.mark.usefixtures("eagerly")

ONES, ZEROS = tf.ones_initializer(), tf.zeros_initializer()


def scaled(x: Any, by: float = 1.0) -> Any:
    w = tf.get_variable("w", [], initializer=ONES)
    b = tf.get_variable("b", [], initializer=ZEROS, trainable=False)
    return x * w * by + b


def names(variables: list[Any]) -> list[str]:
    return [v.name for v in variables]


def test_calls_share_the_variables() -> None:
    template = tf.make_template("scale", scaled, by=2.0)
    assert template.variables == []
    assert template(tf.constant(3.0)).numpy() == 6.0
    [w] = template.trainable_variables
    w.assign(2.0)
    assert template(tf.constant(3.0)).numpy() == 12.0
    assert names(template.variables) == ["scale/b:0", "scale/w:0"]
    assert template.weights == template.global_variables == template.variables
    assert names(template.trainable_weights) == ["scale/w:0"]
    assert names(template.non_trainable_variables) == ["scale/b:0"]
    assert template.non_trainable_weights == template.non_trainable_variables
    assert template.local_variables == []
    assert template.variable_scope.name == "scale"
    assert type(template).__name__ == "EagerTemplate"


def test_the_next_template_has_another_scope() -> None:
    first, second = (
        tf.make_template("scale", scaled, create_scope_now_=now) for now in (True, True)
    )
    assert first.variable_scope_name == "scale/"
    second(1.0)
    assert names(second.variables) == ["scale_1/b:0", "scale_1/w:0"]
    assert first.variables == []


def test_variables_of_later_calls_are_refused() -> None:
    calls = []

    def grows(x: Any) -> Any:
        calls.append(x)
        return tf.get_variable(f"v{len(calls)}", [], initializer=ONES) * x

    template = tf.make_template("grows", grows)
    template(1.0)
    with pytest.raises(ValueError, match=r"Trainable variable created .*grows/v2:0"):
        template(1.0)

    def unnamed(x: Any) -> Any:
        return tf.Variable(1.0) * x

    template = tf.make_template("unnamed", unnamed)  # these are not shared
    assert template(1.0).numpy() == template(1.0).numpy() == 1.0
    with pytest.raises(ValueError, match="unique_name_ cannot be used"):
        tf.make_template("a", scaled, unique_name_="a")


def test_layers_in_a_template_are_shared() -> None:
    def dense(x: Any) -> Any:
        hidden = tf.layers.dense(x, 3)
        return tf.layers.dense(hidden, 1)

    template = tf.make_template("net", dense)
    x = tf.ones([1, 2])
    assert template(x).numpy() == template(x).numpy()
    assert names(template.variables) == [
        "net/dense/bias:0",
        "net/dense/kernel:0",
        "net/dense_1/bias:0",
        "net/dense_1/kernel:0",
    ]


def test_templates_in_templates() -> None:
    third = tf.make_template("third", scaled)

    def outer(x: Any) -> Any:
        inner = tf.make_template("inner", scaled)
        with tf.variable_scope("q"):
            tf.make_template("inner", scaled)(x)
        tf.get_variable("own", [], initializer=ZEROS)
        tf.Variable(1.0, name="elsewhere")
        return inner(x) + third(x)

    template = tf.make_template("outer", outer)
    assert template(1.0).numpy() == template(1.0).numpy() == 2.0
    assert names(template.variables) == [
        "outer/inner/b:0",
        "outer/inner/w:0",
        "outer/own:0",
        "outer/q/inner/b:0",
        "outer/q/inner/w:0",
    ]
    assert names(third.variables) == ["outer/third/b:0", "outer/third/w:0"]
    parts = dict(template._checkpoint_dependencies)
    assert list(parts) == ["q/inner", "own", "inner", "third"]
    assert parts["third"] is third
    assert [name for name, _ in third._checkpoint_dependencies] == ["w", "b"]
