"""Op types, one class each: signature, shape, kernel and gradient together.

A kernel is a plain function of arrays: `Relu().compute(np, x)`.  Imports between the
packages are one-way, in the order given in pyproject.toml.  Where a gradient needs a
module that imports its own, the import is inside the method; gradients that need
control flow or `tf.gradients` are registered by those packages (`gradient_of` in
autodiff).
"""

from importlib import import_module

from tfteach.framework import op


def _import_op(op_type: str) -> None:
    """Import the module that defines an op type, if there is one."""
    from tfteach.ops import (
        array,
        core,
        debug,
        image,
        linalg,
        math,
        nn,
        quantization,
        random,
        signal,
        sparse,
        special,
        state,
        text,
        training,
        windows,
    )

    for package in (
        *(array, core, debug, image, linalg, math, nn, quantization, random, signal),
        *(sparse, special, state, text, training, windows),
    ):
        if op_type in package.MODULE_OF:
            import_module(f"{package.__name__}.{package.MODULE_OF[op_type]}")


op.import_op = _import_op
