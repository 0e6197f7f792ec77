"""Ops that have a GPU kernel, and those among them that compute in host memory.

TensorFlow keeps shapes, sizes and other small int32 values of a GPU in the host's
memory: it registers int32 kernels of many ops "for the GPU" that run on the CPU.  Other
int32 arithmetic has no GPU kernel at all.  Each op declares its own: `on_gpu`,
`host_on_gpu`, `host_types_on_gpu`, `int32_on_gpu` and `strings_on_gpu` of `Op`.
Source: REGISTER_KERNEL_BUILDER(...) in core/kernels.
"""

from __future__ import annotations

from tfteach.framework import dtypes
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Operation

# Types that no GPU kernel computes with.
NEVER_ON_GPU = frozenset(
    "string variant bfloat16 qint8 quint8 qint16 quint16 qint32".split()
)
_MAIN = ("T", "dtype", "DstT")


def main_type(op: Operation) -> DType | None:
    """The type that the op computes with, if any."""
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
    if spec.host_on_gpu or spec.calls_function:  # its ops are placed one by one
        return ""
    if not spec.on_gpu:
        return f"no GPU kernel for {op.type}"
    kind = main_type(op)
    if spec.strings_on_gpu and kind is dtypes.string:
        return ""
    only = spec.host_types_on_gpu
    if only and kind is not None and kind.name not in only:
        return f"no GPU kernel for {kind.name} {op.type}"
    never = (
        NEVER_ON_GPU - {"variant", "string"} if spec.variants_on_gpu else NEVER_ON_GPU
    )
    for tensor in (*op.inputs, *op.outputs):
        name = tensor.dtype.base_dtype.name
        if name in never:
            return f"no GPU kernel for {name}"
    has_int32 = only or spec.int32_on_gpu or spec.variants_on_gpu
    if kind is dtypes.int32 and not has_int32:
        return f"no GPU kernel for int32 {op.type}"
    return (
        f"no GPU kernel for {kind.name}"
        if (kind is not None and kind.name in never)
        else ""
    )


def computes_on_host(op: Operation) -> bool:
    """Whether the op's GPU kernel reads and returns host memory."""
    spec = op.spec
    if spec.host_on_gpu or spec.host_types_on_gpu:
        return True
    kind = main_type(op)
    if spec.strings_on_gpu and kind is dtypes.string:
        return True
    return spec.int32_on_gpu == "host" and kind is dtypes.int32
