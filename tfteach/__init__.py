"""TensorFlow 1's graphs and sessions on NumPy and CuPy, made to be seen.

    import tfteach as tf

The names below are TensorFlow 1.15's; `api/` lists them.  This module adds what is
tfteach's own: `install_as_tensorflow`, `simulate_gpus`, `simulate_cluster`,
`distributed` and the notebook extension.
"""

import sys as _sys

# `python -m tfteach` looks for modules in the current folder first: its random.py must
# not stand in for Python's, which the imports below need.  `run` adds the program's.
_started = _sys.argv[:1] == ["-m"] and " -m tfteach " in " ".join(_sys.orig_argv) + " "
if _started and not _sys.flags.safe_path:
    del _sys.path[0]

from types import ModuleType as _ModuleType
from typing import Any as _Any

from tfteach import api as _api
from tfteach.api import *  # noqa: F403
from tfteach.autodiff import fused_batch_norm_grad as _fused_batch_norm_grad
from tfteach.compat.import_paths import install as _install
from tfteach.compat.top_level import register as _register
from tfteach.compat.versions import VERSION as VERSION
from tfteach.control import cond_v2_grad as _cond_v2_grad
from tfteach.control import for_loop as _for_loop
from tfteach.control import functional_bodies as _functional_bodies
from tfteach.control import matrix_set_diag_grad as _matrix_set_diag_grad
from tfteach.control import symbolic_gradient as _symbolic_gradient
from tfteach.control import tensor_array_grad as _tensor_array_grad
from tfteach.control import while_v2_grad as _while_v2_grad
from tfteach.engine.devices.devices import simulate_gpus as simulate_gpus
from tfteach.framework.functions import library as _function_library
from tfteach.framework.graphdef import methods as _graphdef_methods
from tfteach.lib import session_targets as _targets
from tfteach.ops import operator_overloads as _operator_overloads
from tfteach.ops.array import indexed_slices_to_tensor as _indexed_slices_to_tensor
from tfteach.ops.sparse import sparse_dense_math as _sparse_dense_math

# Imported for what they register: operators, gradient rules, targets and a conversion.
_REGISTERING = (
    _function_library,
    _cond_v2_grad,
    _while_v2_grad,
    _for_loop,
    _functional_bodies,
    _fused_batch_norm_grad,
    _graphdef_methods,
    _indexed_slices_to_tensor,
    _matrix_set_diag_grad,
    _operator_overloads,
    _sparse_dense_math,
    _symbolic_gradient,
    _targets,
    _tensor_array_grad,
)

__version__ = "0.1.0"


def install_as_tensorflow() -> None:
    """Make `import tensorflow` give this package, in this process.

    It does so even where a TensorFlow is installed; `%load_ext tfteach` only where none
    is.

    Raises:
      RuntimeError: another TensorFlow is already imported.

    Example:
      >>> tfteach.install_as_tensorflow()
      >>> import tensorflow as tf
    """
    from tfteach.compat.finder import install

    install()


def load_ipython_extension(shell: _Any) -> None:
    """Register the notebook magics: `%load_ext tfteach`."""
    from tfteach.jupyter import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: _Any) -> None:
    """Remove the notebook magics: `%unload_ext tfteach`."""
    from tfteach.jupyter import unload_ipython_extension as unload

    unload(shell)


class _Package(_ModuleType):
    """This package, whose `compat` is the public `tf.compat`.

    Python sets an attribute for each module that is imported below a package, and
    would hide `api/compat.py` by the package `compat/`.
    """

    def __setattr__(self, name: str, value: _Any) -> None:
        inner = isinstance(value, _ModuleType) and value.__name__ == f"tfteach.{name}"
        if not (inner and hasattr(_api, name)):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
_register(_sys.modules[__name__])
_install()


def __dir__() -> list[str]:
    return sorted({*globals(), *_api.__dir__()})


def __getattr__(name: str) -> _Any:
    if name == "examples":  # a package of modules, as tensorflow.examples is
        from tfteach.compat import examples

        return examples
    if name == "distributed":
        from tfteach.lib import distributed_runtime

        return distributed_runtime
    if name == "simulate_cluster":
        from tfteach.lib.distributed_runtime.simulated.simulated_cluster import (
            simulate_cluster,
        )

        return simulate_cluster
    if name == "python":
        from tfteach.compat.internals import inner

        found = inner("")
    else:
        try:
            found = getattr(_api, name)
        except AttributeError:
            from tfteach.compat.renamed import missing

            raise missing("", name, "tfteach") from None
    globals()[name] = found
    return found
