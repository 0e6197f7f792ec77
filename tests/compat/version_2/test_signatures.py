"""Functions of `tf.compat.v1` with the parameters of `tf.compat.v2`."""

import inspect

import pytest

import tfteach as tf
from tfteach.compat.version_2 import signatures
from tfteach.compat.version_2.math import argmax_v2
from tfteach.framework import export


def scaled(x, rate=2, scale=10, name=None, old_scale=None):
    """A call's arguments.

    More of it.
    """
    return x, rate, scale, name, old_scale


@pytest.fixture
def with_parameters(monkeypatch):
    """The function, with exports that end with the test."""
    exports = {"math.scaled": (__name__, "scaled"), "scaled": (__name__, "scaled")}
    monkeypatch.setattr(export, "EXPORTS", exports)
    return signatures.with_parameters


def test_arguments_are_passed_by_name(with_parameters):
    made = with_parameters(scaled, "factor:scale x | name rate", name="s", v2="scaled")
    assert made(1, 2) == (2, 2, 1, "s", None)
    assert made(1, 2, "n", 3) == (2, 3, 1, "n", None)
    assert made(x=1, rate=5, factor=4) == (1, 5, 4, "s", None)


def test_a_value_of_no_parameter_is_passed_in_every_call(with_parameters):
    made = with_parameters(scaled, "x|name", rate=7, v2="scaled")
    assert made(1) == (1, 7, 10, None, None)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'rate'"):
        made(1, rate=3)


def test_its_name_module_documentation_and_export(with_parameters):
    made = with_parameters(scaled, "x scale", v2="other.scaled scaled")
    assert (made.__name__, made.__qualname__) == ("scaled_v2", "scaled_v2")
    assert made.__module__ == __name__
    assert made.__doc__ == (
        "A call's arguments.\n\n"
        "`tf.scaled` with TensorFlow 2's parameters, without `rate`, `name`, "
        "`old_scale`."
    )
    exported = {name for name in export.EXPORTS if name.startswith("compat.v2.")}
    assert exported == {"compat.v2.other.scaled", "compat.v2.scaled"}
    assert export.EXPORTS["compat.v2.scaled"] == (__name__, "scaled_v2")


def test_the_documentation_of_one_with_all_parameters(with_parameters):
    made = with_parameters(scaled, "x | name old_scale scale rate", v2="new")
    last = made.__doc__.splitlines()[-1]
    assert last == "`tf.math.scaled` with TensorFlow 2's parameters."


@pytest.mark.parametrize(
    ("parameters", "values"),
    [("rate | x", {}), ("x", {"speed": 1})],
    ids=["no default", "no parameter"],
)
def test_a_mistake_in_a_row_is_found_at_once(with_parameters, parameters, values):
    with pytest.raises(AssertionError):
        with_parameters(scaled, parameters, v2="scaled", **values)


def test_a_function_of_tensorflow_1_that_is_a_second_version(with_parameters):
    def loss_v2(labels):
        return labels

    export.export("loss")(loss_v2)
    assert with_parameters(loss_v2, "labels", v2="loss").__name__ == "loss_v2"


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "missing 1 required positional argument: 'input'"),
        (
            (1, 2, 3, 4, 5),
            {},
            "takes from 1 to 4 positional arguments but 5 were given",
        ),
        ((1,), {"dimension": 0}, "got an unexpected keyword argument 'dimension'"),
        ((1,), {"input": 0}, "got multiple values for argument 'input'"),
    ],
)
def test_wrong_arguments_raise_as_those_of_any_function(args, kwargs, message):
    with pytest.raises(TypeError) as caught:
        tf.compat.v2.argmax(*args, **kwargs)
    assert str(caught.value) == f"argmax_v2() {message}"


def test_annotations_are_those_of_the_parameters_of_tensorflow_1():
    shown = inspect.signature(argmax_v2)
    assert shown.parameters["output_type"].annotation == "DTypeLike"
    assert shown.return_annotation == "Tensor"


def test_the_name_in_its_module_is_its_name():
    names = (name for name in export.EXPORTS if name.startswith("compat.v2."))
    for name in names:
        module, attribute = export.EXPORTS[name]
        if module.startswith("tfteach.compat.version_2."):
            assert hasattr(__import__(module, fromlist=["x"]), attribute), name


def test_warnings_of_the_function_are_not_for_this_package(caplog):
    tf.compat.v2.gather([1, 2], [0], validate_indices=True)
    assert caplog.records == []
