"""Fused ops for an LSTM or GRU step and an LSTM sequence, with their gradients.

Source: core/ops/rnn_ops.cc, core/kernels/rnn/lstm_ops.h, gru_ops.h,
contrib/rnn/python/ops/lstm_ops.py, gru_ops.py, python/ops/rnn_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.slicing import slice
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.exponential import Sigmoid
from tfteach.ops.nn.bias_add import BiasAddGrad

_WEIGHTS = "w: T, wci: T, wcf: T, wco: T, b: T"
_GATES = "i: T, cs: T, f: T, o: T, ci: T, co: T"


def _require(name: str, got: int, wanted: int, what: str) -> None:
    if got != wanted:
        raise invalid_argument(f"{name} != {what}: {got} vs. {wanted}")


def _require_state(name: str, state: Any, batch: int, units: int) -> None:
    require(len(state) == 2, f"{name} must be 2D")
    _require(f"{name}.dims(0)", state[0], batch, "batch_size")
    _require(f"{name}.dims(1)", state[1], units, "cell_size")


def _sigmoid(xp: ArrayModule, x: Any) -> Any:
    return Sigmoid().compute(xp, x)


class _Lstm(MultiOutputOp, abstract=True):
    """Base of the forward and backward ops; gates are in the order i, ci, f, o."""

    T = dtypes_of("half float32")

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        own = shapes[not self.op_type.startswith("LSTM") :]
        rank = 2 if self.op_type.startswith("LSTM") else 3
        x, cs_prev, h_prev, w, wci, wcf, wco, b = own[:8]
        require(len(x) == rank, f"x must be {rank}D")
        require(len(cs_prev) == 2, "cs_prev must be 2D")
        batch, depth = x[-2:]
        units = cs_prev[1]
        _require_state("cs_prev", cs_prev, batch, units)
        _require_state("h_prev", h_prev, batch, units)
        require(len(w) == 2, "w must be 2D")
        _require("w.dim_size(0)", w[0], depth + units, "input_size + cell_size")
        _require("w.dim_size(1)", w[1], units * 4, "cell_size * 4")
        for name, peephole in (("wci", wci), ("wcf", wcf), ("wco", wco)):
            require(len(peephole) == 1, f"{name} must be 1D")
            _require(f"{name}.dim_size(0)", peephole[0], units, "cell_size")
        require(len(b) == 1, "b must be 1D")
        _require("b.dim_size(0)", b[0], units * 4, "cell_size * 4")
        names = "i cs f o ci co h".split()
        names = [*names[: 6 if rank == 2 else 7], "cs_grad", "h_grad"]
        for name, state in zip(names, own[8:], strict=False):
            whole = (batch, units) if rank == 2 else (x[0], batch, units)
            require(len(state) == rank, f"{name} must be {rank}D")
            for i, (size, wanted) in enumerate(zip(state, whole, strict=True)):
                what = (
                    ("batch_size", "cell_size")[i - rank] if i - rank + 2 >= 0 else ""
                )
                _require(f"{name}.dim_size({i})", size, wanted, what or "time_len")


class _Forward(_Lstm, abstract=True):
    forget_bias: float = 1.0
    cell_clip: float = 3.0
    use_peephole: bool = False

    def _step(
        self, xp: ArrayModule, gates: Any, cs_prev: Any, wci: Any, wcf: Any, wco: Any
    ) -> tuple[Any, ...]:
        """i, cs, f, o, ci, co, h of one step."""
        units = cs_prev.shape[1]
        i, ci, f, o = (gates[:, k * units : (k + 1) * units] for k in range(4))
        f = f + f.dtype.type(self.forget_bias)
        if self.use_peephole:
            i = i + cs_prev * wci
            f = f + cs_prev * wcf
        i, f, ci = _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(ci)
        cs = ci * i + f * cs_prev
        if self.cell_clip > 0:
            limit = cs.dtype.type(self.cell_clip)
            cs = xp.clip(cs, -limit, limit)
        if self.use_peephole:
            o = o + cs * wco
        o, co = _sigmoid(xp, o), xp.tanh(cs)
        return i, cs, f, o, ci, co, o * co


class _Backward(_Lstm, abstract=True):
    use_peephole: bool

    def _step(
        self,
        states: tuple[Any, ...],
        weights: tuple[Any, ...],
        cs_grad: Any,
        h_grad: Any,
        dgates: Any,
    ) -> Any:
        """Write the gates' gradients of one step; returns the gradient of `cs_prev`."""
        (cs_prev, i, _, f, o, ci, co), (wci, wcf, wco) = states, weights
        units, one = cs_prev.shape[1], cs_prev.dtype.type(1)
        di, dci, df, do = (dgates[:, k * units : (k + 1) * units] for k in range(4))
        do[...] = o * (one - o) * h_grad * co
        dcs = (one - co * co) * h_grad * o + cs_grad
        if self.use_peephole:
            dcs = dcs + do * wco
        dci[...] = (one - ci * ci) * dcs * i
        df[...] = f * (one - f) * dcs * cs_prev
        di[...] = i * (one - i) * dcs * ci
        found = dcs * f
        if self.use_peephole:
            found = found + di * wci + df * wcf
        return found

    def _of_peepholes(
        self, xp: ArrayModule, dgates: Any, cs_prev: Any, cs: Any
    ) -> list[Any]:
        """The gradients of wci, wcf and wco, summed over all steps."""
        units, dtype = cs.shape[-1], cs.dtype
        if not self.use_peephole:
            return [xp.zeros(units, dtype) for _ in range(3)]
        pairs = (0, cs_prev), (2, cs_prev), (3, cs)
        return [
            (dgates[:, k * units : (k + 1) * units] * memory).sum(axis=0, dtype=dtype)
            for k, memory in pairs
        ]


# ---- one step


class LSTMBlockCell(_Forward):
    """A step of an LSTM.

    [i, ci, f, o] = [x, h_prev] w + b;  cs = tanh(ci) σ(i) + σ(f + forget_bias) cs_prev;
    h = tanh(cs) σ(o), with cs clipped if `cell_clip` > 0

    Source: core/ops/rnn_ops.cc, LSTMBlockCell.
    """

    signature = f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS} -> {_GATES}, h: T"

    def infer_shape(self, x: Shape, cs_prev: Shape, *_: Shape) -> list[Shape]:
        batch, units = shapes.with_rank(x, 2)[0], shapes.with_rank(cs_prev, 2)[1]
        return [(batch, units)] * 7

    def compute(
        self, xp: ArrayModule, x: Array, cs_prev: Array, h_prev: Array, w: Array,
        wci: Array,
        wcf: Array,
        wco: Array, b: Array,
    ) -> tuple[Any, ...]:  # fmt: skip
        gates = xp.concatenate([x, h_prev], axis=1) @ w + b
        return self._step(xp, gates, cs_prev, wci, wcf, wco)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        x, cs_prev, h_prev, w = op.inputs[:4]
        batch, depth = shapes.with_rank(x._shape, 2)
        units = shapes.with_rank(cs_prev._shape, 2)[1]
        if depth is None:
            raise ValueError("input_size from `x` should not be None.")
        if units is None:
            raise ValueError("cell_size from `cs_prev` should not be None.")
        batch = -1 if batch is None else batch
        of_memory, dgates, *of_peepholes = LSTMBlockCellGrad(self.use_peephole)(
            *op.inputs, *op.outputs[:6], grads[1], grads[6]
        )
        joined = matmul(dgates, w, transpose_b=True)
        of_x = slice(joined, (0, 0), (batch, depth))
        of_h = slice(joined, (0, depth), (batch, units))
        of_w = matmul(concat([x, h_prev], 1), dgates, transpose_a=True)
        of_b = BiasAddGrad()(dgates)
        return [of_x, of_memory, of_h, of_w, *of_peepholes, of_b]


class LSTMBlockCellGrad(_Backward):
    """The gradients of LSTMBlockCell's cell state, gates and peepholes.

    As in TensorFlow, gradients pass through clipping.
    Source: core/ops/rnn_ops.cc, LSTMBlockCellGrad.
    """

    signature = (
        f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, {_GATES}, cs_grad: T, h_grad: T -> "
        "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T"
    )

    def infer_shape(self, x: Shape, cs_prev: Shape, *_: Shape) -> list[Shape]:
        batch, units = shapes.with_rank(x, 2)[0], shapes.with_rank(cs_prev, 2)[1]
        gates = None if units is None else 4 * units
        return [(batch, units), (batch, gates), (units,), (units,), (units,)]

    def compute(
        self, xp: ArrayModule, x: Array, cs_prev: Array, h_prev: Array, w: Array,
        wci: Array,
        wcf: Array,
        wco: Array, b: Array, *states: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        *gates, cs_grad, h_grad = states
        dgates = xp.empty((x.shape[0], w.shape[1]), x.dtype)
        weights = wci, wcf, wco
        of_memory = self._step((cs_prev, *gates), weights, cs_grad, h_grad, dgates)
        rest = self._of_peepholes(xp, dgates, cs_prev, gates[1])
        return of_memory, dgates, *rest


# ---- a sequence


class BlockLSTM(_Forward):
    """An LSTM over a sequence [time, batch, depth]: LSTMBlockCell, `seq_len_max` times.

    The steps after `seq_len_max` are 0.  Source: core/ops/rnn_ops.cc, BlockLSTM.
    """

    signature = (
        f"seq_len_max: int64, x: T, cs_prev: T, h_prev: T, {_WEIGHTS} -> {_GATES}, h: T"
    )
    host_inputs: ClassVar[tuple[str, ...]] = ("seq_len_max",)

    def infer_shape(self, seq_len_max: Shape, x: Shape, *rest: Shape) -> list[Shape]:
        time, batch, _ = shapes.with_rank(x, 3)
        (gates,) = shapes.with_rank(rest[-1], 1)
        if gates is not None and gates % 4:
            raise ValueError(
                f"Dimension size must be evenly divisible by 4 but is {gates}"
            )
        return [(time, batch, None if gates is None else gates // 4)] * 7

    def compute(
        self, xp: ArrayModule, seq_len_max: Array, x: Array, cs_prev: Array,
        h_prev: Array,
        w: Array,
        wci: Array, wcf: Array, wco: Array, b: Array,
    ) -> tuple[Any, ...]:  # fmt: skip
        steps, depth = _steps(seq_len_max, x), x.shape[2]
        shape = (*x.shape[:2], cs_prev.shape[1])
        found = tuple(xp.zeros(shape, x.dtype) for _ in range(7))
        # The inputs' contribution to all gates, in one product.
        from_input = x[:steps].reshape(-1, depth) @ w[:depth] + b
        from_input = from_input.reshape(steps, x.shape[1], -1)
        for step in range(steps):
            gates = from_input[step] + h_prev @ w[depth:]
            made = self._step(xp, gates, cs_prev, wci, wcf, wco)
            for array, value in zip(found, made, strict=True):
                array[step] = value
            cs_prev, h_prev = made[1], made[6]
        return found

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        found = BlockLSTMGrad(self.use_peephole)(
            *op.inputs, *op.outputs, grads[1], grads[6]
        )
        return [None, *found]


def _steps(seq_len_max: Any, x: Any) -> int:
    steps = int(seq_len_max)
    if not 0 <= steps <= x.shape[0]:
        raise invalid_argument(
            f"seq_len_max must be between 0 and the {x.shape[0]} steps of x, got "
            f"{steps}"
        )
    return steps


class BlockLSTMGrad(_Backward):
    """The gradients of all of BlockLSTM's inputs.

    Source: core/ops/rnn_ops.cc, BlockLSTMGrad.
    """

    signature = (
        f"seq_len_max: int64, x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, {_GATES}, h: T, "
        "cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, "
        "w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T"
    )
    host_inputs: ClassVar[tuple[str, ...]] = ("seq_len_max",)

    def infer_shape(self, seq_len_max: Shape, *given: Shape) -> list[Shape]:
        ranks = 3, 2, 2, 2, 1, 1, 1, 1
        return [
            shapes.with_rank(shape, rank)
            for shape, rank in zip(given[:8], ranks, strict=True)
        ]

    def compute(
        self, xp: ArrayModule, seq_len_max: Array, x: Array, cs_prev: Array,
        h_prev: Array,
        w: Array,
        wci: Array, wcf: Array, wco: Array, b: Array, *states: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        steps, (_, batch, depth) = _steps(seq_len_max, x), x.shape
        *gates, h, cs_grad, h_grad = states
        memories = xp.concatenate([cs_prev[None], gates[1][: max(steps - 1, 0)]])
        outputs = xp.concatenate([h_prev[None], h[: max(steps - 1, 0)]])
        dgates = xp.empty((steps, batch, w.shape[1]), x.dtype)
        of_memory, of_h = xp.zeros_like(cs_prev), xp.zeros_like(h_prev)
        for step in reversed(range(steps)):
            of_memory = self._step(
                (memories[step], *(gate[step] for gate in gates)),
                (wci, wcf, wco),
                of_memory + cs_grad[step],
                of_h + h_grad[step],
                dgates[step],
            )
            of_h = dgates[step] @ w[depth:].T
        # The remaining gradients of all steps, in one product each.
        rows, units = dgates.reshape(-1, w.shape[1]), cs_prev.shape[1]
        of_x = xp.zeros(x.shape, x.dtype)
        of_x[:steps] = (rows @ w[:depth].T).reshape(steps, batch, depth)
        seen = x[:steps].reshape(-1, depth), outputs[:steps].reshape(-1, units)
        of_w = xp.concatenate([part.T @ rows for part in seen])
        before = memories[:steps].reshape(-1, units)
        after = gates[1][:steps].reshape(-1, units)
        of_peepholes = self._of_peepholes(xp, rows, before, after)
        of_b = rows.sum(axis=0, dtype=x.dtype)
        return of_x, of_memory, of_h, of_w, *of_peepholes, of_b


# ---- GRU


class _Gru(MultiOutputOp, abstract=True):
    T = dtypes_of("float32")

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        x, h_prev, w_ru, w_c, b_ru, b_c = shapes[:6]
        require(len(x) == 2, "x must be 2D")
        require(len(h_prev) == 2, "h_prev must be 2D")
        (batch, depth), units = x, h_prev[1]
        both = "input_size + cell_size"
        _require_state("h_prev", h_prev, batch, units)
        require(len(w_ru) == 2, "w_ru must be 2D")
        _require("w_ru.dim_size(0)", w_ru[0], depth + units, both)
        _require("w_ru.dim_size(1)", w_ru[1], units * 2, "cell_size * 2")
        require(len(w_c) == 2, "w_c must be 2D")
        _require("w_c.dim_size(0)", w_c[0], depth + units, both)
        _require("w_c.dim_size(1)", w_c[1], units, "cell_size")
        require(len(b_ru) == 1, "b_ru must be 1D")
        _require("b_ru.dim_size(0)", b_ru[0], units * 2, "cell_size * 2")
        require(len(b_c) == 1, "b_c must be 1D")
        _require("b_c.dim_size(0)", b_c[0], units, "cell_size")
        for name, state in zip(("r", "u", "c", "d_h"), shapes[6:], strict=False):
            _require_state(name, state, batch, units)


class GRUBlockCell(_Gru):
    """A step of a GRU.

    [r, u] = σ([x, h_prev] w_ru + b_ru);  c = tanh([x, r h_prev] w_c + b_c);
    h = u h_prev + (1 - u) c

    Source: core/ops/rnn_ops.cc, GRUBlockCell.
    """

    signature = (
        "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T"
    )

    def infer_shape(self, x: Shape, h_prev: Shape, *_: Shape) -> list[Shape]:
        batch, units = shapes.with_rank(x, 2)[0], shapes.with_rank(h_prev, 2)[1]
        return [(batch, units)] * 4

    def compute(
        self,
        xp: ArrayModule,
        x: Array,
        h_prev: Array,
        w_ru: Array,
        w_c: Array,
        b_ru: Array,
        b_c: Array,
    ) -> tuple[Any, ...]:
        units = h_prev.shape[1]
        gates = _sigmoid(xp, xp.concatenate([x, h_prev], axis=1) @ w_ru + b_ru)
        r, u = gates[:, :units].copy(), gates[:, units:].copy()
        c = xp.tanh(xp.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
        return r, u, c, u * h_prev + (1 - u) * c

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        (x, h_prev, *_), (r, u, c, _) = op.inputs, op.outputs
        of_x, of_h, dc, dgates = GRUBlockCellGrad()(*op.inputs, r, u, c, grads[3])
        of_gates = matmul(concat([x, h_prev], 1), dgates, transpose_a=True)
        of_gate_bias = BiasAddGrad()(dgates)
        of_c = matmul(concat([x, h_prev * r], 1), dc, transpose_a=True)
        return [of_x, of_h, of_gates, of_c, of_gate_bias, BiasAddGrad()(dc)]


class GRUBlockCellGrad(_Gru):
    """The gradients of GRUBlockCell's input, state, candidate and gates.

    Source: core/ops/rnn_ops.cc, GRUBlockCellGrad.
    """

    signature = (
        "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T "
        "-> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T"
    )

    def infer_shape(
        self, x: Shape, h_prev: Shape, w_ru: Shape, *_: Shape
    ) -> list[Shape]:
        batch, depth = shapes.with_rank(x, 2)
        units = shapes.with_rank(h_prev, 2)[1]
        gates = shapes.with_rank(w_ru, 2)[1]
        return [(batch, depth), (batch, units), (batch, units), (batch, gates)]

    def compute(
        self, xp: ArrayModule, x: Array, h_prev: Array, w_ru: Array, w_c: Array,
        b_ru: Array,
        b_c: Array,
        r: Array, u: Array, c: Array, d_h: Array,
    ) -> tuple[Any, ...]:  # fmt: skip
        depth = x.shape[1]
        dc = d_h * (1 - u) * (1 - c * c)
        du = d_h * (h_prev - c) * u * (1 - u)
        from_c = dc @ w_c.T
        of_kept = from_c[:, depth:]
        dr = of_kept * h_prev * r * (1 - r)
        dgates = xp.concatenate([dr, du], axis=1)
        from_gates = dgates @ w_ru.T
        of_x = from_c[:, :depth] + from_gates[:, :depth]
        of_h = from_gates[:, depth:] + of_kept * r + d_h * u
        return of_x, of_h, dc, dgates
