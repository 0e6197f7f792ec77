"""What shape rules make of inputs of which little is known, as TensorFlow's do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden import op_rows
from tests.golden.op_rows import (
    CRASH,
    FIRST_UNKNOWN,
    NOTHING,
    RANK,
    REFUSED,
    VALUE,
    text,
    variants,
)
from tests.ops.case import Case, all_cases, import_families, node_of
from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import as_dtype, string
from tfteach.framework.graph import Graph
from tfteach.framework.shape import Shape
from tfteach.ops.core.constant import constant_node
from tfteach.ops.core.placeholder import Placeholder

import_families()
CASES = [case for case in all_cases() if case.flat]
GOLDEN: dict[str, list[str]] = {
    name: shapes
    for name, shapes, _ in json.loads(
        Path(op_rows.__file__).with_suffix(".json").read_text()
    )
}


def static_shape(array: np.ndarray[Any, Any], known: str) -> Shape:
    """The static shape of an input of which this is known."""
    if known == RANK:
        return (None,) * array.ndim
    if known == FIRST_UNKNOWN and array.ndim:
        return (None, *array.shape[1:])
    return None if known == NOTHING else array.shape


def graph_of(case: Case, known: Sequence[str]) -> Graph:
    """A graph with the case's op as the node `it`, and this known of each input."""
    with Graph().as_default() as graph:
        tensors = []
        for i, ((_, array), what) in enumerate(zip(case.named, known, strict=True)):
            dtype = string if array.dtype == object else as_dtype(array.dtype)
            if what == VALUE:
                tensors.append(constant_node(array.copy(), dtype, f"in{i}"))
                continue
            tensors.append(Placeholder(dtype, static_shape(array, what))(name=f"in{i}"))
        node_of(case, tensors)
    return graph


def inferred(case: Case, known: Sequence[str]) -> str:
    """The static shapes of the outputs, as the golden file has them."""
    try:
        node = graph_of(case, known).get_operation_by_name("it")
    except ValueError:
        return REFUSED
    return ";".join(text(output._shape) for output in node.outputs)


def parsed(shape: str) -> Shape:
    """The inverse of `text`."""
    if shape == "*":
        return None
    return tuple(None if n == "?" else int(n) for n in shape.split(",") if n)


def fits(found: str, values: Sequence[Any]) -> bool:
    """Whether values may have these static shapes."""
    return all(
        shapes.compatible(parsed(shape), np.shape(value))
        for shape, value in zip(found.split(";"), values, strict=True)
    )


# TensorFlow's rules for these refuse what it can compute, or mistake a value that is
# not known for one that is not given (a band's limit, a number of rows, an axis), or
# order the sizes otherwise than the kernel.
UNSOUND = frozenset(
    "BoostedTreesAggregateStats CombinedNonMaxSuppression MatrixDiagPartV2 "
    "MatrixDiagV2 MatrixSetDiagV2 SplitV UniqueV2 UniqueWithCountsV2".split()
)


@pytest.mark.parametrize("case", CASES, ids=map(str, CASES))
def test_shapes_are_those_of_tensorflow(case: Case) -> None:
    values = case.expected
    ways = list(variants(case))
    answers = GOLDEN.get(str(case), [None] * len(ways))
    for known, right in zip(ways, answers, strict=True):
        found = inferred(case, known)
        if found == right or (right is None and found == REFUSED):
            continue
        assert found != REFUSED, (known, right)
        assert fits(found, values), (known, found)
        if right is None:  # a row that TensorFlow has not been asked about
            continue
        is_wrong = right == CRASH or (right != REFUSED and not fits(right, values))
        assert is_wrong or case.op.op_type in UNSOUND, (known, found, right)


@pytest.mark.oracle
def test_tensorflow_was_asked_about_every_row() -> None:
    assert GOLDEN.keys() == set(map(str, CASES)), "python -m tests.golden.op_rows"


def test_most_rows_are_held_against_tensorflow() -> None:
    answers = [answer for rows in GOLDEN.values() for answer in rows]
    assert len(answers) > 9000
    assert answers.count(CRASH) < 10
    assert sum("*" in answer for answer in answers) < 0.3 * len(answers)
