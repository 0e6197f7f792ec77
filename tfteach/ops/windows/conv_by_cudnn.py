"""Convolutions on a card, by cuDNN.

NVIDIA's front end for Python (the package nvidia-cudnn-frontend, module `cudnn`) takes
a graph of operations, here of one, and plans how to compute it: it chooses an engine
and says how much workspace that needs.  Plans are kept, so that a convolution of known
sizes only launches kernels, which a stream can capture.

cuDNN numbers axes as batch, channels, sizes, wherever the channels are in memory, so
that one description covers both of TensorFlow's formats.  Filters are transposed to
cuDNN's order for each convolution, as in TensorFlow.

What cuDNN does not compute is left to conv_kernels.py; `plans` tells the reasons.
Source: cuDNN's documentation, Graph API; core/kernels/conv_ops.cc (the workspace's
limit), stream_executor/cuda/cuda_helpers.cc (the environment variables).
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

from tfteach.framework.card_products import allows_tf32
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.windows.conv_geometry import Windows

# NumPy's type -> cuDNN's, and that of the sums.
_TYPES = {
    "float16": ("HALF", "FLOAT"),
    "bfloat16": ("BFLOAT16", "FLOAT"),
    "float32": ("FLOAT", "FLOAT"),
    "float64": ("DOUBLE", "DOUBLE"),
}
ALIGNMENT_BYTES = 16  # what cuDNN's plans assume of each array
NOT_INSTALLED = "nvidia-cudnn-frontend is not installed"
# What is computed from the two other arrays.
OUTPUT, INPUT, FILTER = "output", "input", "filter"
_READ = {OUTPUT: (INPUT, FILTER), INPUT: (OUTPUT, FILTER), FILTER: (INPUT, OUTPUT)}
_FIRST, _SECOND, _RESULT = 1, 2, 3  # what arrays are called in a graph

Sizes = tuple[int, ...]


class Convolution(NamedTuple):
    """What cuDNN plans; equal ones share a plan.

    Attributes:
      result: which of the three arrays is computed.
      dtype: of all three.
      channels_last: whether channels are contiguous, in all three.
      input, filter, output: sizes: batch, channels, spatial sizes; for the filter
        outputs, channels of a group, window.
      windows: their geometry.
    """

    result: str
    dtype: str
    channels_last: bool
    input: Sizes
    filter: Sizes
    output: Sizes
    windows: Windows


class _Plan(NamedTuple):
    graph: Any
    workspace_bytes: int


class _Cudnn:
    """cuDNN on one card.

    Attributes:
      plans: for each convolution so far a plan, or the reason why there is none.
    """

    def __init__(self, xp: ArrayModule) -> None:
        self.plans: dict[Convolution, _Plan | str] = {}
        self._obstacle = ""
        self._lock = threading.Lock()
        self._has_tf32 = allows_tf32(xp.cuda.Device().compute_capability)
        try:
            import cudnn

            self._cudnn = cudnn
            self._handle = cudnn.create_handle()
        except ImportError:
            self._obstacle = NOT_INSTALLED
        except Exception as error:  # of whatever its libraries lack
            self._obstacle = f"cuDNN cannot be used: {_first_line(error)}"

    def plan(self, convolution: Convolution) -> _Plan | None:
        """How to compute it; None where cuDNN does not."""
        with self._lock:
            found = self.plans.get(convolution)
            if found is None:
                found = self._obstacle or _obstacle(convolution)
                if not found:
                    try:
                        found = self._planned(convolution)
                    except Exception as error:  # several classes, RuntimeError as well
                        found = f"cuDNN has no plan: {_first_line(error)}"
                self.plans[convolution] = found
            return None if isinstance(found, str) else found

    def _planned(self, convolution: Convolution) -> _Plan:
        cudnn, last = self._cudnn, convolution.channels_last
        kind, sums = (getattr(cudnn.data_type, n) for n in _TYPES[convolution.dtype])
        graph = cudnn.pygraph(
            io_data_type=kind,
            intermediate_data_type=sums,
            compute_data_type=sums,
            handle=self._handle,
        )

        def tensor(name: str, uid: int) -> Any:
            sizes = getattr(convolution, name)
            steps = strides(sizes, last)
            return graph.tensor(dim=list(sizes), stride=steps, data_type=kind, uid=uid)

        operation = {
            OUTPUT: graph.conv_fprop,
            INPUT: graph.conv_dgrad,
            FILTER: graph.conv_wgrad,
        }[convolution.result]
        first, second = _READ[convolution.result]
        windows = convolution.windows
        made = operation(
            tensor(first, _FIRST),
            tensor(second, _SECOND),
            pre_padding=[before for before, _ in windows.pads],
            post_padding=[after for _, after in windows.pads],
            stride=list(windows.strides),
            dilation=list(windows.dilations),
        )
        sizes = getattr(convolution, convolution.result)
        made.set_output(True).set_uid(_RESULT).set_data_type(kind)
        made.set_dim(list(sizes)).set_stride(strides(sizes, last))
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.deselect_numeric_notes(self._refused_notes(convolution.dtype))
        graph.deselect_workspace_greater_than(_workspace_limit_bytes())
        graph.check_support()
        graph.build_plans()
        return _Plan(graph, graph.get_workspace_size())

    def _refused_notes(self, dtype: str) -> list[Any]:
        """What engines must not do."""
        notes = self._cudnn.numerical_note
        refused = []
        if dtype == "float32" and not self._has_tf32:
            refused.append(notes.TENSOR_CORE)
        if any(map(_is_set, ("TF_CUDNN_DETERMINISTIC", "TF_DETERMINISTIC_OPS"))):
            refused.append(notes.NONDETERMINISTIC)
        return refused

    def run(self, xp: ArrayModule, plan: _Plan, arrays: Sequence[Any]) -> None:
        """Launch the kernels: two arrays are read, the last one is written."""
        workspace = xp.empty(max(plan.workspace_bytes, 1), "uint8")
        places = {uid: array.data.ptr for uid, array in enumerate(arrays, _FIRST)}
        with self._lock:  # a handle has one stream at a time
            stream = xp.cuda.get_current_stream().ptr
            self._cudnn.set_stream(handle=self._handle, stream=stream)
            plan.graph.execute(places, workspace.data.ptr, handle=self._handle)


def _obstacle(convolution: Convolution) -> str:
    """Why not even to ask; "" if there is no reason."""
    if convolution.dtype not in _TYPES:
        return f"cuDNN has no convolutions of {convolution.dtype}"
    if len(convolution.input) not in (4, 5):
        return "cuDNN has convolutions of two and three dimensions"
    if 0 in (*convolution.input, *convolution.filter, *convolution.output):
        return "an array is empty"
    if min(min(pair) for pair in convolution.windows.pads) < 0:
        return "cuDNN has no negative padding"
    return ""


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("1", "true")


def _workspace_limit_bytes() -> int:
    """The most that a convolution may use, in addition to its arrays."""
    return int(os.environ.get("TF_CUDNN_WORKSPACE_LIMIT_IN_MB") or 4096) << 20


@functools.cache
def _cudnn(xp: ArrayModule, number: int) -> _Cudnn:
    """cuDNN on card `number`."""
    return _Cudnn(xp)


def plans(xp: ArrayModule) -> Mapping[Convolution, str]:
    """The convolutions so far: "" where cuDNN computes one, or why it does not."""
    found = [*_cudnn(xp, xp.cuda.Device().id).plans.items()]
    return {key: plan if isinstance(plan, str) else "" for key, plan in found}


# ---- arrays in cuDNN's order


def strides(sizes: Sizes, channels_last: bool) -> list[int]:
    """The strides of a contiguous array, in elements, in cuDNN's order of axes."""
    batch, channels, *spatial = sizes
    order = [batch, *spatial, channels] if channels_last else [*sizes]
    *rest, first = accumulate([1, *reversed(order[1:])], mul)
    in_memory = [first, *reversed(rest)]
    if channels_last:
        in_memory.insert(1, in_memory.pop())
    return in_memory


def numbered(shape: Sizes, is_filter: bool) -> Sizes:
    """TensorFlow's sizes in cuDNN's order."""
    *front, channels, outputs = shape
    if is_filter:
        return (outputs, channels, *front)
    batch, *spatial, channels = shape
    return (batch, channels, *spatial)


def _axes(rank: int, is_filter: bool, channels_last: bool) -> tuple[int, ...]:
    """TensorFlow's axes (channels last) in the order of memory for cuDNN."""
    inner = range(rank - 2) if is_filter else range(1, rank - 1)
    batch, channels = (rank - 1, rank - 2) if is_filter else (0, rank - 1)
    if channels_last:
        return (batch, *inner, channels)
    return (batch, channels, *inner)


def _laid_out(xp: ArrayModule, array: Any, axes: tuple[int, ...]) -> Any:
    """The array, contiguous in this order of axes and aligned; a copy if need be."""
    found = xp.ascontiguousarray(array.transpose(axes))
    return found.copy() if found.data.ptr % ALIGNMENT_BYTES else found


def compute(
    xp: ArrayModule, result: str, input: Any, filter: Any, output: Any, windows: Windows
) -> Any | None:
    """One of the three arrays of a convolution, from the two others.

    Args:
      xp: CuPy.
      result: OUTPUT, INPUT or FILTER.
      input: an array [batch, *sizes, channels]; if it is computed, its shape.
      filter: [*window, channels of a group, outputs], or its shape.
      output: [batch, *windows.out, outputs], or its shape.
      windows: the windows' geometry.

    Returns:
      The array, or None where cuDNN does not compute it.
    """
    given = {INPUT: input, FILTER: filter, OUTPUT: output}
    shapes = {n: getattr(a, "shape", a) for n, a in given.items()}
    leader = given[_READ[result][0]]  # its layout is that of all
    rank, dtype = leader.ndim, leader.dtype
    first = leader.transpose(_axes(rank, False, False))
    last = leader.flags.c_contiguous or not first.flags.c_contiguous
    sizes = {n: numbered(shape, n == FILTER) for n, shape in shapes.items()}
    convolution = Convolution(result, dtype.name, last, **sizes, windows=windows)
    cudnn = _cudnn(xp, xp.cuda.Device().id)
    plan = cudnn.plan(convolution)
    if plan is None:
        return None
    axes = {n: _axes(rank, n == FILTER, last) for n in given}
    read = [_laid_out(xp, given[n], axes[n]) for n in _READ[result]]
    made = xp.empty([shapes[result][axis] for axis in axes[result]], dtype)
    cudnn.run(xp, plan, [*read, made])
    back = made.transpose(sorted(range(rank), key=axes[result].__getitem__))
    return xp.ascontiguousarray(back) if result == FILTER else back
