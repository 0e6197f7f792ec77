"""The types for which TensorFlow has a quantized kernel: few of those declared.

Source: REGISTER_KERNEL_BUILDER(...) in core/kernels/quantized_*.cc.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.dtypes import as_dtype
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import Op


def check_kernel(op: Op, inputs: dict[str, Any], *kernels: str) -> None:
    """Raise TensorFlow's error unless a kernel for these types is registered.

    Args:
      op: the op; its attributes are types, too.
      inputs: type attribute -> an array of the type.
      *kernels: the types that a kernel has: those of the inputs, then those of the op,
        blank-separated.
    """
    types = {name: array.dtype for name, array in inputs.items()}
    types.update(
        (name, getattr(op, name).numpy_dtype)
        for name, kind in op.fields.items()
        if kind == "DType" and name != "Tactivation"  # which selects no kernel
    )
    names = [as_dtype(kind).name for kind in types.values()]
    if " ".join(names) in kernels:
        return
    given = ", ".join(
        f"{name}=DT_{kind.upper()}" for name, kind in zip(types, names, strict=True)
    )
    listed = ", ".join(f"({kernel.replace(' ', ', ')})" for kernel in kernels)
    raise invalid_argument(
        f"No OpKernel was registered to support Op '{op.op_type}' used by node "
        f"{{name}} with these attrs: [{given}]. Registered kernels are for the types "
        f"({', '.join(types)}) in {listed}."
    )
