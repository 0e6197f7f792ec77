"""`tensorflow.python.ops.gen_*`: the functions that TensorFlow generates for ops."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import golden
from tfteach.compat import generated_ops
from tfteach.compat.internals import inner
from tfteach.framework.op import find_op

RECORDED: dict[str, dict[str, Any]] = json.loads(
    Path(golden.__file__).with_name("generated_ops.json").read_text("utf-8")
)


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("path", RECORDED)
def test_functions_have_tensorflows_names_and_parameters(path: str) -> None:
    module = inner(path)
    assert module.__name__.endswith(path)
    for name, (op_type, parameters) in RECORDED[path].items():
        assert name in dir(module)
        if find_op(op_type) is None:
            with pytest.raises(AttributeError, match=f"{name}'.*not have this op"):
                getattr(module, name)
            continue
        function = getattr(module, name)
        assert function.__name__ == name
        assert [*inspect.signature(function).parameters] == parameters


def test_functions_are_called_by_position() -> None:
    gen_math = inner("ops.gen_math_ops")
    total = gen_math._sum([[1.0, 2.0], [3.0, 4.0]], 1, True, "total")
    top = inner("ops.gen_nn_ops").top_kv2([1, 3, 2], k=2)
    both = inner("ops.gen_array_ops").concat_v2([[1], [2]], 0)
    assert total.op.name == "total"
    assert total.op.get_attr("keep_dims")
    with tf.Session() as session:
        assert session.run(total).tolist() == [[3.0], [7.0]]
        assert session.run(top.indices).tolist() == [1, 2]
        assert session.run(both).tolist() == [1, 2]
    assert gen_math.Sum(input=[1, 2], axis=0).op.type == "Sum"


def test_other_inner_modules_re_export_them() -> None:
    strings = inner("ops.string_ops")
    assert strings.string_lower is inner("ops.gen_string_ops").string_lower
    # What has a public function keeps it, and hidden functions are not re-exported.
    assert strings.reduce_join is tf.reduce_join
    assert not hasattr(inner("ops.math_ops"), "_sum")
    assert inner("ops.list_ops").empty_tensor_list is not None
    assert strings.gen_string_ops is inner("ops.gen_string_ops")
    with tf.Session() as session:
        assert session.run(strings.string_lower(np.array(b"AbC"))) == b"abc"


def test_refused_calls() -> None:
    lower = inner("ops.gen_string_ops").string_lower
    with pytest.raises(TypeError, match=r"string_lower\(\): missing .*'input'"):
        lower()
    with pytest.raises(TypeError, match=r"string_lower\(\): too many positional"):
        lower("A", "", None, 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'dim'"):
        tf.raw_ops.ExpandDims(input=[1], dim=0)
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = inner("ops.gen_math_ops").nonsense
    assert generated_ops.module("ops.gen_nonsense_ops") is None


@pytest.mark.parametrize("name", ["nn_grad", "tensor_array_grad"])
def test_modules_of_gradients_can_be_imported(name: str) -> None:
    assert inner(f"ops.{name}") is inner(f"ops.{name}")
    assert inner("ops.nonsense_grad") is None
