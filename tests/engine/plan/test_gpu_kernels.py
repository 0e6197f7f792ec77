"""The tables of kernels against what TensorFlow 1.15 registers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tests.engine.plan.test_place import placed
from tests.golden import kernels
from tests.ops.case import import_families
from tfteach.framework.op import OPS

GOLDEN: dict[str, Any] = json.loads(
    Path(kernels.__file__).with_suffix(".json").read_text()
)
DEFINITIONS: dict[str, Any] = json.loads(
    (Path(kernels.__file__).parent / "op_defs_tf115.json").read_text()
)
import_families()
HERE = {n: c for n, c in OPS.items() if c.__module__.startswith("tfteach.")}


def allowed_by_definition(name: str, attribute: str) -> set[str] | None:
    for attr in DEFINITIONS[name].get("attr", []):
        if attr["name"] == attribute and "allowedValues" in attr:
            types = attr["allowedValues"]["list"]["type"]
            return {tf.as_dtype(t.removeprefix("DT_").lower()).name
                    if t not in ("DT_HALF", "DT_FLOAT", "DT_DOUBLE") else
                    {"DT_HALF": "float16", "DT_FLOAT": "float32",
                     "DT_DOUBLE": "float64"}[t] for t in types}  # fmt: skip
    return None


def test_no_type_is_refused_that_tensorflow_computes_with() -> None:
    checked = 0
    for name in HERE.keys() & GOLDEN["cpu"].keys() & DEFINITIONS.keys():
        for attribute, types in GOLDEN["cpu"][name].items():
            here = getattr(HERE[name], attribute, None)
            if not isinstance(here, tuple) or attribute in HERE[name].fields:
                continue
            theirs = set(types.split())
            defined = allowed_by_definition(name, attribute)
            theirs = theirs if defined is None else theirs & defined
            assert theirs <= {t.name for t in here}, (name, attribute)
            checked += 1
    assert checked > 300


def test_ops_without_a_cpu_kernel_in_tensorflow() -> None:
    """These run here, as on TensorFlow's GPUs, or after its graph optimizer."""
    lacking = {n for n in HERE.keys() & DEFINITIONS.keys() if n not in GOLDEN["cpu"]
               and HERE[n].outputs and n not in GOLDEN["gpu"]}  # fmt: skip
    assert lacking == {"AccumulateNV2", "MaxPoolGradGradWithArgmax"}


def test_what_runs_everywhere_runs_on_gpus() -> None:
    """A kernel "for every device" is one for GPUs, too."""
    for name in HERE.keys() & GOLDEN["gpu"].keys():
        for where, types, _ in GOLDEN["gpu"][name]:
            if where != "any" or types:
                continue
            cls = HERE[name]
            assert cls.host_on_gpu or cls.strings_on_gpu or cls.on_gpu, name


def test_kernels_that_compute_in_host_memory() -> None:
    """What has all its arguments in host memory is no work for the card."""
    for name in HERE.keys() & GOLDEN["gpu"].keys():
        cls = HERE[name]
        given = [arg.name for arg in (*cls.inputs, *cls.outputs)]
        has_values = any(arg.type_attr for arg in (*cls.inputs, *cls.outputs))
        for _, types, host in GOLDEN["gpu"][name]:
            if set(given) != set(host) or not has_values:
                continue
            if types in ({"T": ["int32"]}, {"dtype": ["int32"]}):
                fits = cls.int32_on_gpu == "host" or cls.host_on_gpu
                assert fits or cls.host_types_on_gpu, name
            elif not types:
                assert cls.host_on_gpu, name


@pytest.mark.usefixtures("no_cards")
def test_strings_go_through_branches_and_loops_on_gpus() -> None:
    tfteach.simulate_gpus(1)
    text = tf.placeholder(tf.string, [2], name="text")
    choice = tf.placeholder(tf.bool, [], name="choice")
    chosen = tf.cond(choice, lambda: tf.identity(text), lambda: text, name="cond")
    _, looped = tf.while_loop(
        lambda i, _: i < 3, lambda i, t: (i + 1, tf.identity(t)), [0, chosen]
    )
    both = tf.identity_n([looped, text], name="both")
    with tf.Session() as sess:
        value, _ = sess.run(both, {text: ["a", "b"], choice: True})
        assert value.tolist() == [b"a", b"b"]
        kinds = {p.op_type: p for p in sess.placements.values()}
        moved = [name for name, _ in sess.transfers.latest]
    for kind in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "Identity"):
        assert kinds[kind].assigned.endswith("GPU:0")
    assert kinds["IdentityN"].reason == "default: GPU first; computed in host memory"
    assert moved  # the choice, which is a bool
    assert not any("text" in name or "while" in name for name in moved)


@pytest.mark.usefixtures("no_cards")
def test_kernels_for_integers_only() -> None:
    tfteach.simulate_gpus(1)
    numbers = tf.placeholder(tf.int64, [None], name="numbers")
    floats = tf.placeholder(tf.float32, [None], name="floats")
    tf.unique(numbers, name="u64")
    tf.unique(floats, name="u32f")
    tf.invert_permutation(numbers, name="inverse")
    array = tf.TensorArray(tf.float32, 2, name="array").unstack(floats)
    size = array.size(name="size")
    checked = tf.Assert(size > 0, [floats], name="checked")
    with tf.Session() as sess:
        fetches = [f"{n}:0" for n in ("u64", "u32f", "inverse")]
        feeds = {numbers: [1, 0], floats: [2.0, 3.0]}
        u64, u32, inverse = sess.run(fetches, feeds)
        assert (u64.tolist(), u32.tolist(), inverse.tolist()) == (
            [1, 0], [2.0, 3.0], [1, 0],
        )  # fmt: skip
        assert sess.run([array.stack(), size, checked], feeds)[1] == 2
        np.testing.assert_array_equal(sess.run(array.read(1), feeds), np.float32(3.0))
        found = placed(sess)
        (where,) = {
            p.assigned for p in sess.placements.values() if p.op_type == "Assert"
        }
    assert found["u64"] == ("GPU:0", "default: GPU first; computed in host memory")
    assert found["inverse"] == found["u64"]
    assert found["u32f"] == ("CPU:0", "no GPU kernel for float32 Unique")
    assert found["array"][0] == found["size"][0] == "GPU:0"
    assert where.endswith("GPU:0")
