"""`tf.flags`: absl-py's command-line flags, as in TensorFlow 1.15.

    tf.app.flags.DEFINE_float("learning_rate", 0.1, "step size")
    FLAGS = tf.app.flags.FLAGS
    FLAGS.learning_rate   # 0.1, or the value of `--learning_rate=...`

TensorFlow adds three things to absl: flags are parsed when a value is first read, old
names of arguments are accepted, and `tf.app.run` starts a script.  In
a Jupyter kernel TensorFlow fails on the kernel's own arguments (`Unknown command line
flag 'f'`) and raises for a flag that is defined twice; here, in a kernel,
undefined flags are ignored and cells can be run again.

Source: python/platform/flags.py (API).
"""

from __future__ import annotations

import sys
from typing import Any

from tfteach.framework.export import export, export_value
from tfteach.framework.logger import get_logger

_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _absl() -> Any:
    """absl's flags, imported on first use, which takes 50 ms."""
    from absl import flags

    flags.disclaim_key_flags()  # a flag belongs to the module that calls this one
    return flags


def _define(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    old = _RENAMED.keys() & kwargs.keys()
    if old:
        get_logger().warning(
            "Use of the keyword argument names (flag_name, default_value, docstring) "
            "is deprecated, please use (name, default, help) instead."
        )
        kwargs = {_RENAMED.get(key, key): value for key, value in kwargs.items()}
    if in_kernel():
        kwargs.setdefault("allow_override", True)  # a cell may be run again
    return getattr(_absl(), function)(*args, **kwargs)


@export("flags.DEFINE_string", "app.flags.DEFINE_string")
def DEFINE_string(*args: Any, **kwargs: Any) -> Any:
    """Define a flag that holds text.

    Args:
      name: the flag is `--name` on the command line and `FLAGS.name` here.
      default: its value if the command line does not set it; may be None.
      help: its description in `--help`.
      **kwargs: absl's other arguments (required, short_name, ...).

    Example:
      >>> tf.flags.DEFINE_string("data_dir", "data", "where the images are")
      >>> tf.flags.FLAGS.data_dir
      'data'
    """
    return _define("DEFINE_string", args, kwargs)


@export("flags.DEFINE_integer", "app.flags.DEFINE_integer")
def DEFINE_integer(*args: Any, **kwargs: Any) -> Any:
    """Define a flag that holds an int; see `DEFINE_string`.

    Further arguments: lower_bound, upper_bound.
    """
    return _define("DEFINE_integer", args, kwargs)


@export("flags.DEFINE_float", "app.flags.DEFINE_float")
def DEFINE_float(*args: Any, **kwargs: Any) -> Any:
    """Define a flag that holds a float; see `DEFINE_string`.

    Further arguments: lower_bound, upper_bound.
    """
    return _define("DEFINE_float", args, kwargs)


@export(
    "flags.DEFINE_boolean",
    "flags.DEFINE_bool",
    "app.flags.DEFINE_boolean",
    "app.flags.DEFINE_bool",
)
def DEFINE_boolean(*args: Any, **kwargs: Any) -> Any:
    """Define a flag that is on or off: `--name`, `--noname`, `--name=false`."""
    return _define("DEFINE_boolean", args, kwargs)


class _Flags:
    """`tf.flags.FLAGS`: absl's, parsing `sys.argv` when a value is first read."""

    def _all(self) -> Any:
        return _absl().FLAGS

    def __getattr__(self, name: str) -> Any:
        # Python's own lookups (`__wrapped__`, ...) must not parse the command line.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        flags = self._all()
        if hasattr(type(flags), name):  # a method, such as flag_values_dict
            return getattr(flags, name)
        if not flags.is_parsed():
            flags(sys.argv, known_only=in_kernel())
        return getattr(flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._all(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._all(), name)

    def __dir__(self) -> list[str]:
        return dir(self._all())

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self._all()[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._all()

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Any:
        return iter(self._all())

    def __str__(self) -> str:
        return str(self._all())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._all()(*args, **kwargs)


FLAGS = _Flags()
export_value(__name__, FLAGS="flags.FLAGS app.flags.FLAGS")


def in_kernel() -> bool:
    """Whether the command line is the one that started a Jupyter kernel."""
    kernel = sys.modules.get("ipykernel.kernelapp")
    return kernel is not None and kernel.IPKernelApp.initialized()


def _other(name: str) -> Any:
    """All other names are absl's: DEFINE_enum, DEFINE_list, validators, errors."""
    if name.startswith("_"):
        raise AttributeError(f"module 'tensorflow.flags' has no attribute {name!r}")
    try:
        found = getattr(_absl(), name)
        if name.startswith("DEFINE_") and name not in ("DEFINE_alias", "DEFINE_flag"):
            return lambda *args, **kwargs: _define(name, args, kwargs)
        return found
    except AttributeError:
        raise AttributeError(
            f"module 'tensorflow.flags' has no attribute {name!r}"
        ) from None


export_value(__name__, _other="flags.__getattr__ app.flags.__getattr__")
