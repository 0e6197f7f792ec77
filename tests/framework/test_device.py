"""`tf.DeviceSpec` and the names of `tf.device` scopes, as TensorFlow 1.15 has them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import pytest

import tfteach as tf
from tfteach.framework import device
from tfteach.framework.device import DeviceSpecV2

KINDS = [tf.DeviceSpec, DeviceSpecV2]


def asked(*scopes: Any) -> str:
    """The device of an op built inside nested scopes."""
    with tf.Graph().as_default(), contextlib.ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(tf.device(scope))
        return tf.constant(1).op.device


def says(result: Any) -> Callable[[Any], Any]:
    """A device function that returns always the same."""
    return lambda op: result


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("/gpu:2", "/device:GPU:2"), ("/GPU:2", "/device:GPU:2"),
        ("/gPu:2", "/device:GPU:2"), ("gpu:0", "/device:GPU:0"),
        ("/device:gpu:2", "/device:GPU:2"), ("/device:Gpu:2", "/device:Gpu:2"),
        ("/cpu", "/device:CPU:*"), ("/gpu:*", "/device:GPU:*"),
        ("/gpu:-1", "/device:GPU:-1"), ("/task:-1", "/task:-1"),
        ("/gpu: 00", "/device:GPU:0"), ("//gpu:+1/", "/device:GPU:1"),
        ("/job:1a", "/job:1a"), ("/job:", "/job:"), ("/job:*", "/job:*"),
        ("/job:a/job:b", "/job:b"), ("/replica:0/replica:1", "/replica:1"),
        ("/device:foo:0", "/device:foo:0"), ("/device::0", "/device::0"),
        ("/cpu:1/task:0/job:ps", "/job:ps/task:0/device:CPU:1"), ("", ""),
    ],
)  # fmt: skip
def test_names(name: str, canonical: str) -> None:
    assert asked(name) == canonical
    assert tf.DeviceSpec.from_string(name).to_string() == canonical


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/device:GPU", "Unknown attribute: 'device' in '/device:GPU'"),
        ("/job", "Unknown attribute: 'job' in '/job'"),
        ("/cpu:0:1", "Unknown attribute: 'cpu' in '/cpu:0:1'"),
        ("/tpu:0", "Unknown attribute: 'tpu' in '/tpu:0'"),
        (" /gpu:0", "Unknown attribute: ' ' in ' /gpu:0'"),
        ("foo", "Unknown attribute: 'foo' in 'foo'"),
        ("/task:a", "invalid literal for int() with base 10: 'a'"),
        ("/task:*", "invalid literal for int() with base 10: '*'"),
        ("/gpu:1.0", "invalid literal for int() with base 10: '1.0'"),
        ("/cpu:0/gpu:0", "Cannot specify multiple device types: /cpu:0/gpu:0"),
    ],
)
def test_what_is_no_name(name: str, words: str) -> None:
    for attempt in (asked, tf.DeviceSpec.from_string, device.check_valid):
        with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
            attempt(name)


def test_what_is_no_device() -> None:
    with pytest.raises(AttributeError, match=r"^'int' object has no attribute 'split'"):
        asked(1)
    with pytest.raises(TypeError, match=r"^unhashable type: 'list'"):
        asked(["/gpu:0"])
    with pytest.raises(TypeError, match=r"^a bytes-like object is required, not 'str'"):
        asked(b"/gpu:0")
    for wrong in (None, 1):
        with pytest.raises(TypeError, match=f"^Expected binary or unicode .*{wrong}"):
            asked(says(wrong))


@pytest.mark.parametrize(
    ("scopes", "merged"),
    [
        (("/gpu:0", "/cpu"), "/device:CPU:0"),  # the index goes for itself
        (("/gpu:1", "/gpu"), "/device:GPU:1"),
        (("/gpu:1", tf.DeviceSpec(device_index=3)), "/device:GPU:1"),
        ((tf.DeviceSpec(device_index=3),), ""),
        (("/job:a/task:1", "/job:b"), "/job:b/task:1"),
        (("/gpu:1", "/job:a", "/task:3"), "/job:a/task:3/device:GPU:1"),
        (("/job:a", None, "/gpu:1"), "/device:GPU:1"),
        (("/gpu:0", ""), "/device:GPU:0"),
        # What a function returns is kept as it is, unless a name around it is merged.
        ((says("/gpu:0"),), "/gpu:0"),
        ((says("gpu:0"),), "gpu:0"),
        ((says("foo"), "/cpu:0"), "foo"),
        (("/job:b", says("/gpu:0")), "/job:b/device:GPU:0"),
        ((says("/job:a/gpu:0"), "/cpu:1"), "/job:a/gpu:0"),
        ((says("/gpu:0"), says("/job:c")), "/gpu:0"),
        ((says("/gpu:0"), None), ""),
        (("/job:a", None, says("/gpu:1")), "/gpu:1"),
        (("/job:a", says("")), "/job:a"),
        ((says(""), "/job:a"), ""),
        ((says(tf.DeviceSpec(job="q", device_type="GPU")),), "/job:q/device:GPU:*"),
        ((device.merge_device("/gpu:1"), "/job:a"), "/job:a/device:GPU:1"),
    ],
)
def test_nested_scopes(scopes: tuple[Any, ...], merged: str) -> None:
    assert asked(*scopes) == merged


def test_a_function_sees_what_is_asked_for_inside() -> None:
    seen = []

    def look(op: tf.Operation) -> str:
        seen.append((op.device, op.type))
        return "/job:w"

    asked("/task:1", look, "/gpu:1")
    asked(look, look)
    assert seen == [("/device:GPU:1", "Const"), ("", "Const"), ("/job:w", "Const")]
    with pytest.raises(ValueError, match="Unknown attribute: 'foo' in 'foo'"):
        asked("/cpu:0", says("foo"))


def test_devices_of_imported_nodes() -> None:
    graph_def = tf.GraphDef()
    node = graph_def.node.add(name="x", op="NoOp")

    def imported(written: str, *scopes: Any) -> str:
        node.device = written
        with tf.Graph().as_default() as graph, contextlib.ExitStack() as stack:
            for scope in scopes:
                stack.enter_context(tf.device(scope))
            tf.import_graph_def(graph_def, name="")
        return graph.get_operation_by_name("x").device

    assert imported("/gpu:0") == "/device:GPU:0"
    assert imported("/gpu:0", "/cpu:1") == "/device:GPU:0"
    assert imported("/job:1a", "/cpu:1") == "/job:1a/device:CPU:1"
    assert imported("/gpu:0", says("/gpu:7")) == "/gpu:7"
    with pytest.raises(ValueError, match="Unknown attribute: 'foo' in 'foo'"):
        imported("foo")


def test_an_op_keeps_the_name_it_is_given() -> None:
    with tf.Graph().as_default():
        op = tf.constant(1).op
    for name in ("/gpu:0", "gpu:1", "foo", ""):
        op._set_device(name)
        assert op.device == op.outputs[0].device == name
    op._set_device(tf.DeviceSpec(job="a"))
    assert op.device == "/job:a"
    with pytest.raises(TypeError, match=r"^Expected binary or .* got None"):
        op._set_device(None)  # type: ignore[arg-type]


# ---- DeviceSpec


@pytest.mark.parametrize("kind", KINDS)
def test_parts(kind: Any) -> None:
    spec = kind("j", "1", 2, "cpu", 3.7)
    assert spec.to_string() == "/job:j/replica:1/task:2/device:CPU:3"
    parts = spec.job, spec.replica, spec.task, spec.device_type, spec.device_index
    assert parts == ("j", 1, 2, "CPU", 3)
    assert kind(job=1).job == "1"
    assert kind(device_type="").to_string() == "/device::*"
    assert kind(device_index=1).to_string() == ""
    assert kind.from_string(None).to_string() == kind().to_string() == ""
    assert type(kind.from_string("/gpu:0")) is kind
    with pytest.raises(ValueError, match="invalid literal"):
        kind(task="a")
    with pytest.raises(AttributeError):
        spec.color = "red"


@pytest.mark.parametrize("kind", KINDS)
def test_merged_and_replaced(kind: Any) -> None:
    a = kind(job="a", task=1, device_type="GPU", device_index=0)
    b = kind(job="b", replica=2, device_type="CPU")
    assert a.make_merged_spec(b).to_string() == ("/job:b/replica:2/task:1/device:CPU:0")
    assert b.make_merged_spec(a).to_string() == ("/job:a/replica:2/task:1/device:GPU:0")
    assert a.replace(job="n", device_type="cpu").to_string() == (
        "/job:n/task:1/device:CPU:0"
    )
    assert a.replace(job=None).to_string() == "/task:1/device:GPU:0"
    assert type(a.replace(task=3)) is type(a.make_merged_spec(b)) is kind
    assert a.to_string() == "/job:a/task:1/device:GPU:0"
    with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
        a.replace(color="red")


def test_a_spec_changes_in_place() -> None:
    spec = tf.DeviceSpec(job="z", task=1)
    assert spec.parse_from_string("/gpu:1") is spec
    assert spec.to_string() == "/device:GPU:1"
    assert spec.merge_from(tf.DeviceSpec(job="ps", device_type="CPU")) is None
    assert spec.to_string() == "/job:ps/device:CPU:1"
    spec.job, spec.replica, spec.device_type, spec.device_index = 3, "2", "gpu", "4"
    assert spec.to_string() == "/job:3/replica:2/device:GPU:4"
    spec.task = 5
    with pytest.raises(ValueError, match="invalid literal"):
        spec.task = "x"
    assert spec.task is None
    with pytest.raises(AttributeError, match="job"):
        spec.merge_from("/gpu:0")


def test_the_other_kind_does_not_change() -> None:
    spec = DeviceSpecV2(job="z")
    assert spec.parse_from_string("/gpu:1").to_string() == "/device:GPU:1"
    assert spec.to_string() == "/job:z"
    assert not hasattr(spec, "merge_from")
    for part in ("job", "replica", "task", "device_type", "device_index"):
        with pytest.raises(AttributeError):
            setattr(spec, part, 1)


def test_equality_and_hash() -> None:
    one, other = tf.DeviceSpec(job="a"), tf.DeviceSpec(job="a", device_index=7)
    assert one == other  # the index is not printed
    assert hash(one) == hash(other)
    assert one != tf.DeviceSpec(job="b")
    assert one != "/job:a"
    assert one != DeviceSpecV2(job="a")
    assert DeviceSpecV2(job="a") != one
    assert len({one, other, DeviceSpecV2(job="a")}) == 2


def test_inner_names() -> None:
    assert device.canonical_name(tf.DeviceSpec(job="a")) == "/job:a"
    assert device.canonical_name(None) == ""
    assert device.is_device_spec(tf.DeviceSpec())
    assert device.is_device_spec(DeviceSpecV2())
    assert not device.is_device_spec("/cpu:0")
    assert repr(device.merge_device(None)) == "<MergeDevice (spec: )>"
