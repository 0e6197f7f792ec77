"""Operation types, one block each: signature, shape, kernel and gradient together.

A kernel is a plain function of arrays: `Relu().compute(np, x)`.  The packages import
one way, in the order in pyproject.toml.  Where a gradient needs a module that in turn
imports its own, the import stands in the method; where it needs control flow or
`tf.gradients` itself, those rooms register it (`gradient_of` in autodiff).
"""

from importlib import import_module

from tfteach.framework import op


def _import_op(op_type: str) -> None:
    """Import the module of an op type, if there is such a type."""
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
