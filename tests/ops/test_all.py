"""Every row of `tests/ops/cases/` through every check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ops.case import (
    Case,
    all_cases,
    cases_by_module,
    compute,
    evaluate,
    import_families,
    node_of,
)
from tfteach.engine.plan.step import kernel_of
from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, as_dtype, complex128, float64, string
from tfteach.framework.graph import Graph, Tensor
from tfteach.framework.op import OPS, Op, StatefulOp
from tfteach.ops.core.constant import constant_node
from tfteach.ops.core.placeholder import Placeholder

LISTS = ("tensor_list_ops", "tensor_list_gather_scatter", "optionals")

import_families()
CASES = all_cases()
IDS = [str(case) for case in CASES]
every_case = pytest.mark.parametrize("case", CASES, ids=IDS)


def cases_where(holds: Callable[[Case], bool]) -> pytest.MarkDecorator:
    """Parametrises by the cases that a check is about."""
    chosen = list(filter(holds, CASES))
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=map(str, chosen))


def is_pure(case: Case) -> bool:
    return not isinstance(case.op, StatefulOp)


def source_of(case: Case) -> str | None:
    """The case's op as a Python expression of x0, x1...; strings have none."""
    if any(a.dtype == object for a in case.flat):
        return None  # the compiler knows
    try:
        return case.op.expression(*(f"x{i}" for i in range(len(case.flat))))
    except TypeError:
        return None  # of one input only


def dtype_of(array: np.ndarray[Any, Any]) -> DType:
    return string if array.dtype == object else as_dtype(array.dtype)


def constants(case: Case) -> list[Tensor]:
    return [
        constant_node(array.copy(), dtype_of(array), f"c{i}")
        for i, array in enumerate(case.flat)
    ]


def close(case: Case, got: Any, expected: Any, tolerance: float) -> None:
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{case}: shape {got.shape}"
    if got.dtype.names is not None:  # quantized
        got, expected = (array.view(array.dtype[0]) for array in (got, expected))
    if got.dtype.kind in "fcV":
        np.testing.assert_allclose(
            got.astype(complex) if got.dtype.kind in "c" else got.astype(np.float64),
            expected, rtol=tolerance, atol=tolerance,
        )  # fmt: skip
    else:
        np.testing.assert_array_equal(got, expected)


def test_ids_differ() -> None:
    assert len(set(IDS)) == len(IDS), sorted(i for i in IDS if IDS.count(i) > 1)


def test_every_op_has_a_row() -> None:
    import_families()
    missing = set(OPS) - {case.op.op_type for case in CASES}
    own = {n for n in missing if OPS[n].__module__.startswith("tfteach.ops.")}
    untestable = {n for n in own if issubclass(OPS[n], StatefulOp)}
    # The executor acts these out: tests/control/test_control_flow_oracle.py.
    acted = {n for n in own if OPS[n].__module__ == "tfteach.ops.core.control_flow_ops"}
    # Steps have the bodies' ops instead: tests/engine/plan/test_inline_functions.py.
    calls = {n for n in own if OPS[n].calls_function}
    # Tensor lists and optionals: tests/ops/state/test_tensor_lists.py.
    lists = {n for n in own if OPS[n].__module__.split(".")[-1] in LISTS}
    # Datasets are read by iterators: tests/lib/data/test_golden.py.
    data = {n for n in own if OPS[n].__module__.startswith("tfteach.ops.data.")}
    tested = untestable | acted | calls | lists | data
    assert not own - tested - {"Const", "Placeholder"}


def test_rows_stand_in_the_file_named_as_the_ops_module() -> None:
    for module, rows in cases_by_module().items():
        homes = {type(case.op).__module__ for case in rows}
        assert homes == {f"tfteach.ops.{module}"}


@every_case
def test_value_dtype_and_static_shape(case: Case) -> None:
    arrays = case.flat
    with Graph().as_default():
        node = node_of(case, constants(case))
    before = [a.copy() for a in arrays]
    outputs = compute(case.op, arrays, node)
    expected = case.expected
    assert len(outputs) == len(node.outputs)
    assert len(outputs) == len(expected)
    for tensor, got, right in zip(node.outputs, outputs, expected, strict=True):
        array = np.asarray(got)
        assert array.dtype == tensor.dtype.base_dtype.numpy_dtype, f"{case}: dtype"
        close(case, array, right, case.tolerance)
        if case.exact_shape:
            assert tensor._shape == array.shape
        assert shapes.compatible(tensor._shape, array.shape)
    for old, new in zip(before, arrays, strict=True):
        np.testing.assert_array_equal(old, new)  # inputs unmutated


@cases_where(is_pure)
def test_strides_and_scalars_do_not_matter(case: Case) -> None:
    outputs = compute(case.op, case.flat)
    for change in (_strided, _fortran, _scalar):
        changed = [change(a) for a in case.flat]
        for got, right in zip(compute(case.op, changed), outputs, strict=True):
            assert np.asarray(got).dtype == np.asarray(right).dtype
            close(case, got, right, case.tolerance)


def _strided(array: np.ndarray[Any, Any]) -> Any:
    if not array.ndim:
        return array
    wide = np.repeat(array[..., ::-1], 2, axis=-1)
    return wide[..., ::2][..., ::-1]


def _fortran(array: np.ndarray[Any, Any]) -> Any:
    return np.asfortranarray(array) if array.ndim else array  # NumPy adds an axis


def _scalar(array: np.ndarray[Any, Any]) -> Any:
    return array[()] if array.dtype != object and not array.ndim else array


@cases_where(lambda case: is_pure(case) and not type(case.op).aliases)
def test_aliases_says_whether_memory_is_shared(case: Case) -> None:
    arrays = case.flat
    for output in compute(case.op, arrays):
        for array in arrays:
            assert not np.shares_memory(np.asarray(output), array), f"{case} aliases"


@cases_where(lambda case: source_of(case) is not None)
def test_expression_is_the_kernel(case: Case) -> None:
    source = source_of(case)
    assert source is not None
    names = [f"x{i}" for i in range(len(case.flat))]
    for scalar in (False, True):
        arrays = [_scalar(a) if scalar else a for a in case.flat]
        with np.errstate(all="ignore"):
            got = eval(source, {}, dict(zip(names, arrays, strict=True)))
        right = compute(case.op, arrays)[0]
        assert np.asarray(got).dtype == np.asarray(right).dtype
        np.testing.assert_array_equal(got, right)


@every_case
def test_node_def_gives_the_op_again(case: Case) -> None:
    with Graph().as_default():
        node = node_of(case, constants(case))
    proto = node.node_def
    assert proto.op == case.op.op_type
    for name in type(case.op).fields:
        assert name in proto.attr
    again = Op.__new__(
        type(case.op),
        **{name: getattr(node.spec, name) for name in type(case.op).fields},
    )
    assert again == case.op
    assert hash(again) == hash(case.op)


# ---- gradients


def _differentiable(case: Case) -> bool:
    has_rule = type(case.op).gradient is not Op.gradient
    floats = [a for a in case.flat if a.dtype.kind in "fc" or a.dtype.kind == "V"]
    return case.gradient and has_rule and bool(floats)


def _widened(case: Case) -> list[np.ndarray[Any, Any]]:
    """The inputs in float64 (complex128), as differences need it."""
    wide = {"f": np.float64, "V": np.float64, "c": np.complex128}
    return [a.astype(wide.get(a.dtype.kind, a.dtype)) for a in case.flat]


def _in_float64(op: Op) -> Op:
    dtypes = {
        n: getattr(op, n) for n, kind in type(op).fields.items() if kind == "DType"
    }
    changes = {n: float64 for n, d in dtypes.items() if d.is_floating}
    changes |= {n: complex128 for n, d in dtypes.items() if d.is_complex}
    return op.replace(**changes) if changes else op


@cases_where(_differentiable)
def test_gradient_against_differences(case: Case) -> None:
    rng = np.random.default_rng(7)
    op, arrays = _in_float64(case.op), _widened(case)
    wide = Case(op, case.inputs, case.expect)
    with Graph().as_default():
        feeds = [Placeholder(dtype_of(a), a.shape)(name="in") for a in arrays]
        node = node_of(wide, feeds)
        values = dict(zip(feeds, arrays, strict=True))
        outputs = evaluate(node.outputs, values)
        # Integer outputs have no gradient to pass on.
        seeds = [_direction(rng, v) for v in outputs]
        grads = [
            constant_node(np.asarray(s), dtype_of(np.asarray(s)), "grad") for s in seeds
        ]
        found = node.spec.gradient(node, *grads)
    found = list(found) if isinstance(found, list | tuple) else [found]
    assert len(found) == len(feeds), "one gradient per input"
    for i, (grad, feed, array) in enumerate(zip(found, feeds, arrays, strict=True)):
        if grad is None:
            continue
        assert shapes.compatible(grad._shape, array.shape)
        assert grad.dtype.base_dtype is feed.dtype.base_dtype
        (value,) = evaluate([grad], values)
        assert value.shape == array.shape
        direction = _direction(rng, array)
        step = 1e-6
        shifted = []
        for sign in (step, -step):
            moved = list(arrays)
            moved[i] = array + sign * direction
            shifted.append(compute(op, moved, node))
        numeric = sum(
            float(np.sum(np.real(np.conj(s) * (np.asarray(p) - np.asarray(m)))))
            for s, p, m in zip(seeds, *shifted, strict=True)
            if np.asarray(p).dtype.kind in "fc"
        ) / (2 * step)
        analytic = float(np.sum(np.real(np.conj(value) * direction)))
        np.testing.assert_allclose(analytic, numeric, rtol=2e-5, atol=1e-6)


def _direction(rng: np.random.Generator, like: Any) -> Any:
    like = np.asarray(like)
    if like.dtype.kind == "c":
        parts = rng.normal(size=(2, *like.shape))
        return np.asarray(parts[0] + 1j * parts[1], like.dtype)
    if like.dtype.kind == "f":
        return np.asarray(rng.normal(size=like.shape), like.dtype)
    return np.zeros_like(like)


# ---- on a card


def runs_on_cards(case: Case) -> bool:
    strings = any(a.dtype == object for a in case.flat)
    return is_pure(case) and type(case.op).on_gpu and not strings


@pytest.mark.gpu
@cases_where(runs_on_cards)
def test_cupy_gives_what_numpy_gives(case: Case) -> None:
    import cupy

    op = type(case.op)
    arrays = [
        a if name in op.host_inputs else cupy.asarray(a) for name, a in case.named
    ]
    right = compute(case.op, case.flat)
    result = kernel_of(case.op, cupy)(*arrays)
    results = result if isinstance(result, tuple | list) else (result,)
    for got, expected in zip(results, right, strict=True):
        host = cupy.asnumpy(got)
        assert host.dtype == np.asarray(expected).dtype
        close(case, host, expected, max(case.tolerance, 1e-5))
