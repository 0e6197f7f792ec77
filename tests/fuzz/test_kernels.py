"""Kernels on odd inputs: TensorFlow's refusals, and no exception of Python's own."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz.kernels import (
    describe,
    fault,
    odd_calls,
    replayed,
    run_here,
    words_of,
)

# Written by `python -m tests.fuzz.kernels --record`, with real TensorFlow 1.15.
REFUSALS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("refusals.json").read_text()
)
SPARE_BYTES = 4 << 30


@pytest.fixture
def limited_memory() -> Iterator[None]:
    """An array of 2**31 elements is an error here, not 16 GB of memory."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE_BYTES, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def op_of(record: dict[str, Any]) -> str:
    return str(record["node"].split('op: "')[1].split('"')[0])


OPS = sorted({op_of(record) for record in REFUSALS})


@pytest.mark.usefixtures("limited_memory")
@pytest.mark.parametrize("op", OPS)
def test_refused_as_by_tensorflow(op: str) -> None:
    for record in REFUSALS:
        if op_of(record) == op:
            ours = run_here(replayed(record))
            assert list(words_of(ours)) == record["error"]
            assert "[[node it" in ours.message


@pytest.mark.usefixtures("limited_memory")
def test_odd_calls_end_in_a_value_or_an_error_of_tensorflow() -> None:
    with np.errstate(all="ignore"):
        for call in odd_calls(150, 11):
            ours = run_here(call)
            assert fault(call, ours, None) is None, f"{call.text}: {describe(ours)}"
