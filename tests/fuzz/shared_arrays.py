"""No array that the caller holds is held by a variable, a constant or another fetch.

    python -m tests.fuzz.shared_arrays

Each case of tests/ops/cases runs in a session, as often as it takes to be compiled; its
outputs are fetched, and assigned to variables, in the same run.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import tfteach as tf
from tests.engine.test_every_op import CASES
from tests.ops.case import Case, node_of
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.framework.dtypes import as_dtype, string
from tfteach.framework.variable_cell import Cell
from tfteach.ops.core.constant import constant_node
from tfteach.ops.core.placeholder import Placeholder


def shared_in(case: Case, as_constants: bool = False) -> Iterator[str]:
    """What shares memory when the case runs; nothing if all is well.

    Args:
      case: the op and its inputs.
      as_constants: the inputs are constants of the graph, otherwise they are fed.
    """
    with tf.Graph().as_default():
        arrays = [np.array(a) for a in case.flat]
        types = [string if a.dtype == object else as_dtype(a.dtype) for a in arrays]
        inputs: list[Any] = [
            constant_node(array.copy(), dtype, f"c{i}")
            if as_constants
            else Placeholder(dtype, array.shape)()
            for i, (array, dtype) in enumerate(zip(arrays, types, strict=True))
        ]
        outputs = list(node_of(case, inputs).outputs)
        again = list(node_of(case, inputs).outputs)  # merged with the first
        fetched = [*outputs, *again, *(inputs if not as_constants else ())]
        assigned = [
            tf.Variable(t, validate_shape=False, use_resource=use_resource).initializer
            for t in outputs
            if t.dtype.name not in ("resource", "variant")
            for use_resource in (False, True)
        ]
        feed_dict = {} if as_constants else dict(zip(inputs, arrays, strict=True))
        earlier: list[tuple[str, Any]] = []
        with tf.Session() as session:
            for number in range(HOT_AFTER_RUNS + 2):
                values = session.run([fetched, assigned], feed_dict)[0]
                held = [(f"fetch {i}", v) for i, v in enumerate(values)]
                held += [
                    (f"variable {key[-1]}", cell.value)
                    for key, cell in session.resources.items()
                    if isinstance(cell, Cell) and cell.is_initialized
                ]
                held += [(f"feed {i}", array) for i, array in enumerate(arrays)]
                if number in (0, HOT_AFTER_RUNS + 1):
                    yield from _shared([*held, *earlier])
                    earlier = [
                        (f"{n} of the first run", v) for n, v in held[: len(values)]
                    ]


def _shared(held: list[tuple[str, Any]]) -> Iterator[str]:
    arrays = [(n, v) for n, v in held if isinstance(v, np.ndarray) and v.size]
    for (one, a), (other, b) in itertools.combinations(arrays, 2):
        both_variables = one.startswith("variable") and other.startswith("variable")
        if not both_variables and np.shares_memory(a, b):
            yield f"{one} and {other}"


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    bad = 0
    for case, as_constants in itertools.product(CASES, (False, True)):
        try:
            found = list(shared_in(case, as_constants))
        except tf.errors.OpError as error:
            found = [f"{type(error).__name__}: {error.message.splitlines()[0]}"]
        for text in found:
            print(f"{case}, {'constants' if as_constants else 'fed'}: {text}")
        bad += bool(found)
    print(f"{2 * len(CASES)} cases, {bad} with arrays that are held twice")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
