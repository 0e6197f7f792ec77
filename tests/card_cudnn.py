"""`cudnn`, NVIDIA's front end for cuDNN, for tests/strict_card.py; NumPy computes.

It has the names and parameters of the package (tests/golden/cudnn_signatures.json), and
refuses stages in another order, sizes that do not belong together, strides other than
those of contiguous arrays, and addresses that are not of the card's memory, or not
aligned.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import product
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from tests import card_capture
from tests.card_capture import STATE
from tests.golden import cudnn_signatures
from tests.golden.cudnn_signatures import STAGES

KNOWN: dict[str, Any] = json.loads(
    Path(cudnn_signatures.__file__).with_suffix(".json").read_text()
)
_NUMPY = {
    "HALF": np.float16,
    "BFLOAT16": ml_dtypes.bfloat16,
    "FLOAT": np.float32,
    "DOUBLE": np.float64,
}
WORKSPACE_BYTES = 64
ALIGNMENT_BYTES = 16
# Sizes and strides, first and last; where the channels are in memory.
_Layout = tuple[tuple[int, ...], tuple[int, ...]]


class cudnnGraphNotSupportedError(Exception):
    """No engine computes the graph."""


class Handle:
    """What `create_handle` returns."""

    stream: int | None = None


def _call(owner: str, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The arguments by name.  Raises: TypeError."""
    known = KNOWN[owner][name]
    if len(args) > len(known) or not named.keys() <= set(known[len(args) :]):
        raise TypeError(f"{name}(): incompatible arguments {args} {named}")
    return dict(zip(known, args, strict=False)) | named


class Tensor:
    """An array of a graph."""

    def __init__(self, dim: Any, stride: Any, data_type: Any, uid: int | None) -> None:
        self.dim, self.stride, self.uid = dim, stride, uid
        self.data_type, self.is_output = data_type, False

    def set_output(self, value: bool) -> Tensor:
        self.is_output = value
        return self

    def set_uid(self, uid: int) -> Tensor:
        self.uid = uid
        return self

    def set_data_type(self, dtype: Any) -> Tensor:
        self.data_type = dtype
        return self

    def set_dim(self, dim: list[int]) -> Tensor:
        self.dim = dim
        return self

    def set_stride(self, stride: list[int]) -> Tensor:
        self.stride = stride
        return self

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(_NUMPY[self.data_type.name])

    def check(self) -> None:
        """Raises RuntimeError: it is not packed, with channels first or last."""
        for values in (self.dim, self.stride):
            if not isinstance(values, list) or {*map(type, values)} != {int}:
                raise TypeError(f"a list of integers, not {values!r}")
        if len(self.dim) != len(self.stride) or len(self.dim) not in (4, 5):
            raise RuntimeError(f"CUDNN_STATUS_BAD_PARAM {self.dim} {self.stride}")
        if min(self.dim) < 1:
            raise RuntimeError(f"CUDNN_STATUS_BAD_PARAM {self.dim}")
        packed = np.empty(self.dim, self.dtype)
        last = np.moveaxis(np.empty(self._last, self.dtype), -1, 1)
        itemsize = self.dtype.itemsize
        in_bytes = tuple(n * itemsize for n in self.stride)
        if in_bytes not in (packed.strides, last.strides):
            raise RuntimeError(f"CUDNN_STATUS_NOT_SUPPORTED strides {self.stride}")

    @property
    def _last(self) -> list[int]:
        return [self.dim[0], *self.dim[2:], self.dim[1]]

    @property
    def nbytes(self) -> int:
        return prod(self.dim) * self.dtype.itemsize

    def at(self, address: int) -> Callable[[], np.ndarray[Any, Any]]:
        """The array at an address of the card's memory, when it is called."""
        if type(address) is not int:
            raise TypeError(f"an address, not {type(address)}")
        if address % ALIGNMENT_BYTES:
            raise RuntimeError(f"misaligned address {address:x}")
        memory = card_capture.memory_at(address, self.nbytes)
        strides = tuple(n * self.dtype.itemsize for n in self.stride)

        def value() -> np.ndarray[Any, Any]:
            return np.ndarray(tuple(self.dim), self.dtype, memory(), 0, strides)

        return value


class pygraph:
    """A graph of one convolution."""

    plan_builds = 0

    def __init__(self, *args: Any, **named: Any) -> None:
        given = _call("pygraph", "__init__", args, named)
        if not isinstance(given["handle"], Handle):
            raise TypeError("the graph has no handle")
        self._kind, self._sums = given["io_data_type"], given["compute_data_type"]
        self._stage = 0
        self._tensors: list[Tensor] = []
        self._notes: list[Any] = []
        self._limit: int | None = None

    def tensor(self, *args: Any, **named: Any) -> Tensor:
        given = _call("pygraph", "tensor", args, named)
        if not given.keys() <= {"dim", "stride", "data_type", "uid", "name"}:
            raise NotImplementedError(str(given))
        made = Tensor(
            *(given.get(name) for name in ("dim", "stride", "data_type", "uid"))
        )
        made.check()
        self._tensors.append(made)
        return made

    def _operation(self, name: str, args: tuple[Any, ...], named: Any) -> Tensor:
        given = _call("pygraph", name, args, named)
        first, second = KNOWN["pygraph"][name][:2]
        self._tensors = [given[first], given[second], Tensor(None, None, None, None)]
        self._name, self._given = name, given
        return self._tensors[-1]

    def conv_fprop(self, *args: Any, **named: Any) -> Tensor:
        return self._operation("conv_fprop", args, named)

    def conv_dgrad(self, *args: Any, **named: Any) -> Tensor:
        return self._operation("conv_dgrad", args, named)

    def conv_wgrad(self, *args: Any, **named: Any) -> Tensor:
        return self._operation("conv_wgrad", args, named)

    def _reach(self, stage: str, *args: Any, **named: Any) -> Any:
        given = _call("pygraph", stage, args, named)
        if STAGES[self._stage] != stage:
            raise RuntimeError(f"{stage}, but {STAGES[self._stage]} is next")
        self._stage += 1
        return given

    def validate(self) -> None:
        self._reach("validate")
        for tensor in self._tensors:
            tensor.check()
        if not self._tensors[-1].is_output:
            raise RuntimeError("the graph has no output")
        if len({t.uid for t in self._tensors}) < 3:
            raise ValueError("uids are not unique")

    def build_operation_graph(self) -> None:
        self._reach("build_operation_graph")
        _, x, filters, y = self._arranged()
        self._geometry = [
            [*map(list, zip(self._given["pre_padding"], self._given["post_padding"],
                            strict=True))],
            self._given["stride"],
            self._given["dilation"],
        ]  # fmt: skip
        if min(n for pair in self._geometry[0] for n in pair) < 0:
            raise RuntimeError("CUDNN_STATUS_BAD_PARAM: negative padding")
        rank = len(x.dim)
        if any(len(part) != rank - 2 for part in self._geometry):
            raise RuntimeError("CUDNN_STATUS_BAD_PARAM: lengths")
        out = [
            (size + sum(pads) - (width - 1) * apart - 1) // step + 1
            for size, width, pads, step, apart in zip(
                x.dim[2:], filters.dim[2:], *self._geometry, strict=True
            )
        ]
        groups, rest = divmod(x.dim[1], filters.dim[1])
        right = [x.dim[0], filters.dim[0], *out]
        if y.dim != right or rest or filters.dim[0] % groups:
            raise RuntimeError(f"CUDNN_STATUS_BAD_PARAM: {y.dim} is not {right}")

    def _arranged(self) -> tuple[int, Tensor, Tensor, Tensor]:
        """The number of the result; input, filter and output."""
        first, second, made = self._tensors
        if self._name == "conv_fprop":
            return 2, first, second, made
        if self._name == "conv_dgrad":
            return 0, made, second, first
        return 1, first, made, second

    def create_execution_plans(self, *args: Any, **named: Any) -> None:
        given = self._reach("create_execution_plans", *args, **named)
        for mode in given["heuristics"]:
            MODULE.heur_mode(mode)

    def deselect_numeric_notes(self, notes: list[Any]) -> None:
        assert STAGES[self._stage] == "check_support"
        self._notes += [MODULE.numerical_note(note) for note in notes]

    def deselect_workspace_greater_than(self, workspace_limit: int) -> None:
        assert STAGES[self._stage] == "check_support"
        self._limit = workspace_limit

    def check_support(self) -> None:
        self._reach("check_support")
        if self._limit is not None and self._limit < WORKSPACE_BYTES:
            raise cudnnGraphNotSupportedError("No valid engine configs")
        wide = "DOUBLE" if self._kind.name == "DOUBLE" else "FLOAT"
        if self._sums.name != wide or {t.data_type for t in self._tensors} != {
            self._kind
        }:
            raise cudnnGraphNotSupportedError("No valid engine configs: types")

    def build_plans(self) -> None:
        STATE.refuse_while_capturing("cuModuleLoad")
        self._reach("build_plans")
        pygraph.plan_builds += 1
        MODULE.notes[self._name, self._kind.name] = self._notes

    def get_workspace_size(self) -> int:
        assert self._stage == len(STAGES)
        return WORKSPACE_BYTES

    def execute(
        self, tensor_dict: dict[int, int], workspace: int, handle: Handle
    ) -> None:
        assert self._stage == len(STAGES)
        if handle.stream != STATE.stream.ptr:
            raise AssertionError("the handle has another stream than the current one")
        if tensor_dict.keys() != {t.uid for t in self._tensors}:
            raise RuntimeError(f"uids {tensor_dict.keys()}")
        scratch = card_capture.memory_at(workspace, WORKSPACE_BYTES)
        arrays = [t.at(tensor_dict[t.uid]) for t in self._tensors if t.uid is not None]
        order = self._arranged()

        def run() -> None:
            values = [array() for array in arrays]
            x, filters, y = (values[self._tensors.index(t)] for t in order[1:])
            np.frombuffer(scratch(), np.uint8)[...] = 255
            values[-1][...] = np.nan
            self._compute(x, filters, y)

        card_capture.launch(self._name, run)

    def _compute(self, x: Any, filters: Any, y: Any) -> None:
        """Write the result, tap by tap, in the type of the sums."""
        sums = _NUMPY[self._sums.name]
        groups = x.shape[1] // filters.shape[1]
        padded, inner = _padded(x.astype(sums), self._geometry[0])
        padded = _grouped(padded, groups, 1)
        filters_, y_ = filters.astype(sums), y.astype(sums)
        filters_, y_ = _grouped(filters_, groups, 0), _grouped(y_, groups, 1)
        target = {"conv_fprop": y_, "conv_dgrad": padded, "conv_wgrad": filters_}
        target[self._name][...] = 0
        for tap, where in self._taps(filters.shape[2:], y.shape[2:]):
            part = padded[(..., *where)]
            taken = filters_[(..., *tap)]
            if self._name == "conv_fprop":
                y_ += np.einsum("ngc...,gkc->ngk...", part, taken)
            elif self._name == "conv_dgrad":
                part += np.einsum("ngk...,gkc->ngc...", y_, taken)
            else:
                a, b = part.reshape(*part.shape[:3], -1), y_.reshape(*y_.shape[:3], -1)
                taken += np.einsum("ngcp,ngkp->gkc", a, b)
        if self._name == "conv_fprop":
            y[...] = y_.reshape(y.shape)
        elif self._name == "conv_dgrad":
            whole = padded.reshape(len(x), x.shape[1], *padded.shape[3:])
            x[...] = whole[(..., *inner)]
        else:
            filters[...] = filters_.reshape(filters.shape)

    def _taps(self, window: Any, out: Any) -> Iterator[tuple[Any, Any]]:
        _, steps, apart = self._geometry
        for tap in product(*map(range, window)):
            begin = [t * a for t, a in zip(tap, apart, strict=True)]
            yield (
                tap,
                tuple(
                    slice(b, b + (n - 1) * s + 1, s)
                    for b, n, s in zip(begin, out, steps, strict=True)
                ),
            )


def _padded(x: Any, pads: list[list[int]]) -> tuple[Any, tuple[slice, ...]]:
    inner = tuple(slice(b, b + n) for (b, _), n in zip(pads, x.shape[2:], strict=True))
    return np.pad(x, [(0, 0), (0, 0), *pads]), inner


def _grouped(array: Any, groups: int, axis: int) -> Any:
    """The axis as two: groups, and what is in one."""
    shape = array.shape
    return array.reshape(*shape[:axis], groups, -1, *shape[axis + 1 :])


def create_handle() -> Handle:
    STATE.refuse_while_capturing("cudnnCreate")
    return Handle()


def set_stream(*args: Any, **named: Any) -> None:
    given = _call("functions", "set_stream", args, named)
    if not isinstance(given["handle"], Handle) or type(given["stream"]) is not int:
        raise TypeError(f"set_stream: {given}")
    given["handle"].stream = given["stream"]


class Cudnn(ModuleType):
    """The module.

    Attributes:
      notes: for an operation and a type what the engines of its last plan may not do.
    """

    def __init__(self) -> None:
        super().__init__("cudnn")
        self.notes: dict[tuple[str, str], list[Any]] = {}
        self.pygraph = pygraph
        self.create_handle, self.set_stream = create_handle, set_stream
        self.cudnnGraphNotSupportedError = cudnnGraphNotSupportedError
        for name, members in KNOWN["members"].items():
            setattr(self, name, Enum(name, members))

    heur_mode: Any
    numerical_note: Any


MODULE = Cudnn()
