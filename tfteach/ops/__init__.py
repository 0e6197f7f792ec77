"""Op types, one class each: signature, shape, kernel and gradient together.

A kernel is a plain function of arrays: `Relu().compute(np, x)`.  Imports between the
packages are one-way, in the order given in pyproject.toml.  Where a gradient needs a
module that imports its own, the import is inside the method; gradients that need
control flow or `tf.gradients` are registered by those packages (`gradient_of` in
autodiff).
"""

import functools
from importlib import import_module

from tfteach.framework import op


@functools.cache
def _modules() -> dict[str, str]:
    """Op type -> full name of its module, from the indexes of the packages."""
    from pkgutil import iter_modules  # few programs need it

    names = [f"{__name__}.{found.name}" for found in iter_modules(__path__)]
    indexes = {name: vars(import_module(name)).get("MODULE_OF", {}) for name in names}
    return {
        op_type: f"{name}.{module}"
        for name, index in indexes.items()
        for op_type, module in index.items()
    }


def _import_op(op_type: str) -> None:
    """Import the module that defines an op type, if there is one."""
    module = _modules().get(op_type)
    if module is not None:
        import_module(module)


op.import_op = _import_op
