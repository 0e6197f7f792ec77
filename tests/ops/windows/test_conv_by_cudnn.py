"""Convolutions by cuDNN, on a stand-in for it; its plans as cuDNN itself made them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tfteach as tf
from tests import card_cudnn, strict_card
from tests.card_arrays import to_card, to_host
from tests.engine.execute.test_cuda_graph import UNTIL_CAPTURED, convolutions, graphed
from tests.golden import cudnn_plans
from tests.ops.case import Case, all_cases
from tests.strict_card import CARD
from tfteach.engine.plan.step import kernel_of
from tfteach.ops.windows import conv_by_cudnn, conv_kernels
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_base import Convolution

PLANS: dict[str, Any] = json.loads(
    Path(cudnn_plans.__file__).with_suffix(".json").read_text()
)
# Sizes, window, strides, dilations, padding.
SIZES: dict[str, tuple[Any, ...]] = {
    "plain": ((5, 6), (3, 2), (1, 1), (1, 1), "SAME"),
    "strides": ((5, 6), (3, 2), (2, 3), (1, 1), "SAME"),
    "dilations": ((7, 6), (3, 2), (2, 1), (2, 3), "VALID"),
    "single pixels": ((7, 6), (1, 1), (3, 3), (1, 1), "VALID"),
    "volumes": ((4, 5, 3), (2, 3, 1), (1, 2, 1), (1, 1, 1), "SAME"),
}
CHANNELS, OUTPUTS = 3, 4


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)


class Arrays:
    """Arrays of a convolution, and how to compute each from the two others."""

    def __init__(self, name: str = "plain", dtype: Any = np.float32) -> None:
        sizes, window, strides, dilations, padding = SIZES[name]
        self.windows = geometry.lay(sizes, window, strides, dilations, padding)
        self.sizes = sizes
        draw = np.random.default_rng(0).normal
        self.x = draw(size=(2, *sizes, CHANNELS)).astype(dtype)
        self.filters = draw(size=(*window, CHANNELS, OUTPUTS)).astype(dtype)
        self.y = draw(size=(2, *self.windows.out, OUTPUTS)).astype(dtype)

    def results(self, xp: Any, put: Any) -> list[Any]:
        """The output, the filter's gradient, and the input's.

        Args:
          xp: an array module.
          put: makes an array of the module.
        """
        x, filters, y = put(self.x), put(self.filters), put(self.y)
        return [
            conv_kernels.convolve(xp, x, filters, self.windows),
            conv_kernels.filter_gradient(xp, x, y, self.windows),
            conv_kernels.input_gradient(xp, self.sizes, filters, y, self.windows),
        ]


def assert_right(arrays: Arrays, put: Any = to_card, rtol: float = 1e-4) -> None:
    right = arrays.results(np, np.asarray)
    for got, expected in zip(arrays.results(CARD, put), right, strict=True):
        host = to_host(got)
        assert host.dtype == expected.dtype
        wide = host.astype(float), expected.astype(float)
        np.testing.assert_allclose(*wide, rtol=rtol, atol=rtol)


def reasons() -> set[str]:
    return set(conv_by_cudnn.plans(CARD).values())


def channels_first(array: Any) -> Any:
    """The same array, with the channels before the sizes in memory."""
    return CARD.moveaxis(to_card(np.moveaxis(array, -1, 1).copy()), 1, -1)


def each_second(array: Any) -> Any:
    """In memory that is not contiguous."""
    return to_card(np.repeat(array, 2, axis=-1))[..., ::2]


def misaligned(array: Any) -> Any:
    """At an address that cuDNN's plans do not expect."""
    whole = CARD.empty(array.size + 1, array.dtype)
    whole[1:] = to_card(array.ravel())
    return whole[1:].reshape(array.shape)


@pytest.mark.parametrize("put", [to_card, channels_first, each_second, misaligned])
@pytest.mark.parametrize("name", SIZES)
def test_a_convolution_and_its_gradients(name: str, put: Any) -> None:
    assert_right(Arrays(name), put)
    assert reasons() == {""}
    [is_last] = {c.channels_last for c in conv_by_cudnn.plans(CARD)}
    assert is_last == (put is not channels_first)


@pytest.mark.parametrize(
    ("dtype", "rtol"),
    [(np.float16, 0.01), (ml_dtypes.bfloat16, 0.05), (np.float64, 1e-9)],
)
def test_types(dtype: Any, rtol: float) -> None:
    """Short floats are summed in float32."""
    assert_right(Arrays(dtype=dtype), rtol=rtol)
    assert reasons() == {""}


ROWS = [case for case in all_cases() if isinstance(case.op, Convolution)]


@pytest.mark.parametrize("case", ROWS, ids=map(str, ROWS))
def test_rows_of_ops(case: Case) -> None:
    op = type(case.op)
    arrays = [a if n in op.host_inputs else to_card(a) for n, a in case.named]
    got = kernel_of(case.op, CARD)(*arrays)
    [right] = case.expected
    assert got.shape == np.shape(right)
    assert got.flags.c_contiguous
    wide, tolerance = to_host(got).astype(float), max(case.tolerance, 1e-5)
    np.testing.assert_allclose(wide, right, rtol=tolerance, atol=tolerance)
    is_empty = 0 in (got.size, *(array.size for array in case.flat))
    assert reasons() == {""} or is_empty


def test_the_stand_in_plans_what_cudnn_does() -> None:
    planner = conv_by_cudnn._Cudnn(CARD)
    for name, convolution in cudnn_plans.convolutions().items():
        plan = planner.plan(convolution)
        reason = planner.plans[convolution] if plan is None else ""
        expected = PLANS[name]
        assert reason == (expected if isinstance(expected, str) else ""), name


# ---- where cuDNN does not compute


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cudnn", None)
    assert_right(Arrays())
    assert reasons() == {conv_by_cudnn.NOT_INSTALLED}


def test_without_its_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("libcudnn.so.9 is missing\nmore")

    monkeypatch.setattr(card_cudnn.MODULE, "create_handle", refuse)
    assert_right(Arrays("strides"))
    assert reasons() == {"cuDNN cannot be used: libcudnn.so.9 is missing"}


def test_a_limit_of_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_cudnn, "WORKSPACE_BYTES", 3 << 20)
    monkeypatch.setenv("TF_CUDNN_WORKSPACE_LIMIT_IN_MB", "2")
    assert_right(Arrays())
    assert reasons() == {"cuDNN has no plan: No valid engine configs"}
    monkeypatch.setenv("TF_CUDNN_WORKSPACE_LIMIT_IN_MB", "3")
    conv_by_cudnn._cudnn.cache_clear()
    assert_right(Arrays())
    assert reasons() == {""}


# ---- what plans allow


@pytest.mark.parametrize(
    ("variable", "value", "refused"),
    [
        ("NVIDIA_TF32_OVERRIDE", "1", []),
        ("NVIDIA_TF32_OVERRIDE", "0", ["TENSOR_CORE"]),
        ("TF_CUDNN_DETERMINISTIC", "1", ["NONDETERMINISTIC"]),
        ("TF_DETERMINISTIC_OPS", "true", ["NONDETERMINISTIC"]),
        ("TF_DETERMINISTIC_OPS", "0", []),
    ],
)
def test_engines_that_are_refused(
    variable: str, value: str, refused: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    for dtype in (np.float32, np.float64):
        Arrays(dtype=dtype).results(CARD, to_card)
    notes = card_cudnn.MODULE.notes
    for operation in ("conv_fprop", "conv_dgrad", "conv_wgrad"):
        assert [note.name for note in notes[operation, "FLOAT"]] == refused
        wide = [n for n in refused if n != "TENSOR_CORE"]
        assert [note.name for note in notes[operation, "DOUBLE"]] == wide


def test_plans_are_kept() -> None:
    built = card_cudnn.pygraph.plan_builds
    for _ in range(2):
        Arrays().results(CARD, to_card)
        assert card_cudnn.pygraph.plan_builds == built + 3
    Arrays().results(CARD, channels_first)
    assert card_cudnn.pygraph.plan_builds == built + 6


def test_a_cuda_graph_has_cudnns_kernels() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        fetches, shapes = convolutions()
        sess.run(tf.global_variables_initializer())
        feeds = {x: np.ones(shape) for x, shape in shapes.items()}
        for _ in range(UNTIL_CAPTURED + 2):
            sess.run(fetches, feeds)
        graph = graphed(sess).graph
        assert graph is not None
        names = graph.work.names
    assert [names.count(f"conv_{n}") for n in ("fprop", "dgrad", "wgrad")] == [2, 1, 2]


# ---- the stand-in itself


def test_what_the_stand_in_refuses() -> None:
    arrays = Arrays()
    x, filters = arrays.x, arrays.filters
    cudnn = conv_by_cudnn._cudnn(CARD, 0)
    arrays.results(CARD, to_card)
    [convolution] = [c for c in cudnn.plans if c.result == "output"]
    plan = cudnn.plan(convolution)
    assert plan is not None
    made = CARD.empty(arrays.y.shape, "float32")
    read = [to_card(x), to_card(np.moveaxis(filters, -1, 0).copy())]
    cudnn.run(CARD, plan, [*read, made])
    on_host = SimpleArray(x)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        cudnn.run(CARD, plan, [on_host, read[1], made])
    with pytest.raises(RuntimeError, match="misaligned"):
        cudnn.run(CARD, plan, [read[0].ravel()[1:], read[1], made])
    with pytest.raises(RuntimeError, match="illegal memory access"):
        cudnn.run(CARD, plan, [*read, CARD.empty(3, "float32")])
    with pytest.raises(AssertionError, match="another stream"):
        plan.graph.execute({}, 0, handle=card_cudnn.Handle())
    graph = card_cudnn.pygraph(
        handle=cudnn._handle, io_data_type=0, compute_data_type=0
    )
    with pytest.raises(RuntimeError, match="validate is next"):
        graph.build_plans()
    with pytest.raises(TypeError, match="incompatible arguments"):
        graph.conv_fprop(image=1, weight=2, pads=[1, 1])
    wrong = convolution._replace(output=(2, OUTPUTS, 5, 7))
    assert cudnn.plan(wrong) is None
    assert "CUDNN_STATUS_BAD_PARAM" in conv_by_cudnn.plans(CARD)[wrong]


class SimpleArray:
    """An array of the host, with the address that one of the card has."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.data = self

    @property
    def ptr(self) -> int:
        return int(self.array.ctypes.data)
