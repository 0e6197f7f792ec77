"""LSTM and GRU steps against plain formulas in float64, gradients against differences.

What the gradient ops give is the gradient of `sum(cs * cs_grad + h * h_grad)`; of the
gates, where they are the gradient of the bias: of each example as a batch of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.lstm_blocks import (
    BlockLSTM,
    BlockLSTMGrad,
    GRUBlockCell,
    GRUBlockCellGrad,
    LSTMBlockCell,
    LSTMBlockCellGrad,
)

RNG = np.random.default_rng(4)
BATCH, DEPTH, UNITS, TIME = 2, 3, 4, 5


def numbers(*sizes: int) -> Any:
    return RNG.normal(0, 0.7, sizes).astype(np.float32)


X, MEMORY, STATE = numbers(BATCH, DEPTH), numbers(BATCH, UNITS), numbers(BATCH, UNITS)
SEQUENCE = numbers(TIME, BATCH, DEPTH)
PEEPHOLES = [numbers(UNITS) for _ in range(3)]
WEIGHTS = [numbers(DEPTH + UNITS, 4 * UNITS), *PEEPHOLES, numbers(4 * UNITS)]
GATES = numbers(DEPTH + UNITS, 2 * UNITS), numbers(2 * UNITS)
CANDIDATE = numbers(DEPTH + UNITS, UNITS), numbers(UNITS)
OF_MEMORY, OF_STATE = numbers(BATCH, UNITS), numbers(BATCH, UNITS)
OF_MEMORIES, OF_STATES = numbers(TIME, BATCH, UNITS), numbers(TIME, BATCH, UNITS)


def sigma(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm(bias: float, clip: float, peeps: bool) -> Callable[..., Any]:
    def step(
        x: Any, memory: Any, state: Any, w: Any, wi: Any, wf: Any, wo: Any, b: Any
    ) -> Any:
        gates = np.concatenate([x, state], -1).astype(float) @ w + b
        i, j, f, o = np.split(gates, 4, axis=-1)
        i = sigma(i + wi * memory * peeps)
        f = sigma(f + bias + wf * memory * peeps)
        new = np.tanh(j) * i + f * memory
        if clip > 0:
            new = np.minimum(np.maximum(new, -clip), clip)
        o = sigma(o + wo * new * peeps)
        return i, new, f, o, np.tanh(j), np.tanh(new), o * np.tanh(new)

    return step


def over_time(step: Callable[..., Any]) -> Callable[..., Any]:
    def run(length: Any, sequence: Any, memory: Any, state: Any, *weights: Any) -> Any:
        shape = (*sequence.shape[:2], memory.shape[1])
        found = tuple(np.zeros(shape) for _ in range(7))
        for t in range(int(length)):
            made = step(sequence[t], memory, state, *weights)
            for array, value in zip(found, made, strict=True):
                array[t] = value
            memory, state = made[1], made[6]
        return found

    return run


def slopes(function: Callable[..., Any], values: list[Any], which: int) -> Any:
    """How the sum that `function` gives changes with each number of one value."""
    values = [np.asarray(value, float) for value in values]
    found = np.zeros(values[which].shape)
    for place in np.ndindex(found.shape):
        ends = []
        for by in (1e-5, -1e-5):
            moved = [value.copy() for value in values]
            moved[which][place] += by
            ends.append(function(*moved))
        found[place] = (ends[0] - ends[1]) / 2e-5
    return found


def by_example(function: Callable[..., Any], values: list[Any], which: int) -> Any:
    """The slopes of each example alone; the first three values are by example."""
    rows = []
    for k in range(BATCH):
        own = [v[k : k + 1] for v in values[:3]]
        rows.append(slopes(lambda *v, k=k: function(*v, k), own + values[3:], which))
    return np.array(rows)


def cell_gradient(step: Callable[..., Any]) -> Callable[..., Any]:
    def total(*values: Any) -> float:
        *inputs, k = values
        made = step(*inputs)
        return float(np.sum(made[1] * OF_MEMORY[k] + made[6] * OF_STATE[k]))

    def expect(*values: Any) -> Any:
        given = list(values[:8])
        whole = [
            by_example(total, given, which).reshape(BATCH, -1).sum(0)
            for which in (4, 5, 6)
        ]
        memory = by_example(total, given, 1)[:, 0]
        return memory, by_example(total, given, 7), *whole

    return expect


def sequence_gradient(step: Callable[..., Any]) -> Callable[..., Any]:
    run = over_time(step)

    def total(*values: Any) -> float:
        made = run(*values)
        return float(np.sum(made[1] * OF_MEMORIES + made[6] * OF_STATES))

    def expect(*values: Any) -> Any:
        return tuple(slopes(total, list(values[:9]), which) for which in range(1, 9))

    return expect


def gru(x: Any, state: Any, w: Any, wc: Any, b: Any, bc: Any) -> Any:
    gates = sigma(np.concatenate([x, state], -1).astype(float) @ w + b)
    r, u = np.split(gates, 2, axis=-1)
    c = np.tanh(np.concatenate([x, r * state], -1).astype(float) @ wc + bc)
    return r, u, c, u * state + (1 - u) * c


def gru_gradient(*values: Any) -> Any:
    given = [*values[:2], np.zeros((BATCH, 0)), *values[2:6]]

    def total(x: Any, h: Any, _: Any, *rest: Any) -> float:
        *weights, k = rest
        return float(np.sum(gru(x, h, *weights)[3] * OF_STATE[k]))

    x, h = (by_example(total, given, which)[:, 0] for which in (0, 1))
    return x, h, by_example(total, given, 6), by_example(total, given, 5)


def cases(peeps: bool, clip: float) -> list[Case]:
    step = lstm(0.5, clip, peeps)
    name = f"{'peepholes' if peeps else 'plain'}-{clip}"
    inputs = X, MEMORY, STATE, *WEIGHTS
    length = np.int64(3)
    many = length, SEQUENCE, MEMORY, STATE, *WEIGHTS
    gates = tuple(np.float32(v) for v in step(*inputs)[:6])
    all_gates = tuple(np.float32(v) for v in over_time(step)(*many))
    options = {"id": name, "gradient": False, "tolerance": 2e-6}
    found = [
        Case(LSTMBlockCell(0.5, clip, peeps), inputs, step, **options),
        Case(BlockLSTM(0.5, clip, peeps), many, over_time(step), **options),
    ]
    if clip > 0:  # differences know of the clipping, TensorFlow's gradient does not
        return found
    options["tolerance"] = 2e-5
    return [
        *found,
        Case(
            LSTMBlockCellGrad(peeps),
            (*inputs, *gates, OF_MEMORY, OF_STATE),
            cell_gradient(step),
            **options,
        ),
        Case(
            BlockLSTMGrad(peeps),
            (*many, *all_gates, OF_MEMORIES * (np.arange(TIME) < 3)[:, None, None],
             OF_STATES * (np.arange(TIME) < 3)[:, None, None]),
            sequence_gradient(step),
            **options,
        ),
    ]  # fmt: skip


GRU = X, STATE, GATES[0], CANDIDATE[0], GATES[1], CANDIDATE[1]
GRU_GATES = tuple(np.float32(v) for v in gru(*GRU)[:3])
CASES = [
    *cases(False, -1.0),
    *cases(False, 0.3),
    *cases(True, 0.0),
    Case(GRUBlockCell(), GRU, gru, gradient=False, tolerance=2e-6),
    Case(
        GRUBlockCellGrad(), (*GRU, *GRU_GATES, OF_STATE), gru_gradient,
        gradient=False, tolerance=2e-5,
    ),
]  # fmt: skip
