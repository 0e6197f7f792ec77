"""Ops that have a GPU kernel, and those among them that compute in host memory.

TensorFlow keeps shapes, sizes and other small int32 values of a GPU in the host's
memory: it registers int32 kernels of many ops "for the GPU" that run on the CPU.  Other
int32 arithmetic has no GPU kernel at all.
Source: REGISTER_KERNEL_BUILDER(...) in core/kernels.
"""

from __future__ import annotations

from tfteach.framework import dtypes
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Operation

# What looks at an input's shape only; the result is in host memory, and the input is
# never copied for it.
METADATA = frozenset(("Shape", "ShapeN", "Size", "Rank"))

# Those that TF places beside their input.
BESIDE_INPUT = METADATA - {"ShapeN"}

# Ops whose GPU kernel takes and gives host memory, whatever the type.
ON_HOST = METADATA | frozenset(
    "Assert BroadcastArgs BroadcastGradientArgs ConcatOffset ControlTrigger LinSpace "
    "LoopCond NoOp Range TensorArraySizeV3".split()
)

# Ops with a kernel for every type on every device; strings stay in host memory.
ANY_TYPE = frozenset(
    "Enter Exit Identity IdentityN Merge NextIteration Placeholder RefEnter RefExit "
    "RefMerge RefNextIteration RefSwitch Switch".split()
)

# Ops whose only GPU kernels are for these types, and compute in host memory.
ONLY_ON_HOST = {
    "InvertPermutation": frozenset(("int32", "int64")),
    "Unique": frozenset(("int32", "int64")),
}

# Ops whose int32 kernel "on the GPU" computes in host memory.
INT32_ON_HOST = frozenset(
    "Abs Add AddN AddV2 BroadcastTo Concat ConcatV2 Const Div Enter Equal Exit "
    "ExpandDims Fill FloorDiv FloorMod Greater GreaterEqual Identity IdentityN "
    "Less LessEqual Max Maximum Merge Min Minimum Mod Mul Neg "
    "NextIteration NotEqual OnesLike Pack Pad PadV2 ParallelConcat Placeholder "
    "PlaceholderWithDefault PreventGradient Prod RealDiv RefEnter RefExit RefMerge "
    "RefNextIteration RefSwitch Reshape Reverse ReverseV2 Sign Slice Snapshot Split "
    "SplitV Square SquaredDifference Squeeze StackPopV2 StackPushV2 StopGradient "
    "StridedSlice Sub Sum Switch Transpose TruncateDiv TruncateMod Unpack "
    "ZerosLike".split()
)

# Ops that compute on int32 in the GPU's own memory.
INT32_ON_GPU = frozenset(
    "ArgMax ArgMin Bitcast Cast Gather GatherNd GatherV2 OneHot RandomUniformInt "
    "Select Tile Where".split()
)

# Types that no GPU kernel computes with.
NEVER_ON_GPU = frozenset(
    "string variant bfloat16 qint8 quint8 qint16 quint16 qint32".split()
)
_MAIN = ("T", "dtype", "DstT")


def main_type(op: Operation) -> DType | None:
    """The type that the op computes with, as far as it has one."""
    spec = op.spec
    kind = getattr(spec, "dtype", None)
    if isinstance(kind, DType):
        return kind.base_dtype
    for arg, group in zip(type(spec).inputs, op.grouped_inputs(), strict=True):
        if arg.name in spec.host_inputs or arg.type_attr not in _MAIN or arg.is_list:
            continue
        for tensor in group if isinstance(group, list) else [group]:
            return tensor.dtype.base_dtype  # type: ignore[no-any-return]
    return op.outputs[0].dtype.base_dtype if op.outputs else None


def missing_kernel(op: Operation) -> str:
    """Why a GPU cannot run `op`: "" if it can, else "no GPU kernel for ..."."""
    spec = op.spec
    if op.type in ON_HOST:
        return ""
    if not spec.on_gpu:
        return f"no GPU kernel for {op.type}"
    kind = main_type(op)
    if op.type in ANY_TYPE and kind is not None and kind.name == "string":
        return ""
    only = ONLY_ON_HOST.get(op.type)
    if only is not None and kind is not None and kind.name not in only:
        return f"no GPU kernel for {kind.name} {op.type}"
    for tensor in (*op.inputs, *op.outputs):
        name = tensor.dtype.base_dtype.name
        if name in NEVER_ON_GPU:
            return f"no GPU kernel for {name}"
    if (
        only is None
        and kind is dtypes.int32
        and op.type not in INT32_ON_HOST | INT32_ON_GPU
    ):
        return f"no GPU kernel for int32 {op.type}"
    return (
        f"no GPU kernel for {kind.name}"
        if (kind is not None and kind.name in NEVER_ON_GPU)
        else ""
    )


def computes_on_host(op: Operation) -> bool:
    """Whether the op's GPU kernel takes and gives host memory."""
    if op.type in ON_HOST or op.type in ONLY_ON_HOST:
        return True
    kind = main_type(op)
    if op.type in ANY_TYPE and kind is dtypes.string:
        return True
    return op.type in INT32_ON_HOST and kind is dtypes.int32
