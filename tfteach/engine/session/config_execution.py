"""`tf.config`: soft placement, threads, the optimizer, and eager mode's settings.

Source: python/framework/config.py, python/eager/context.py (API and messages).
"""

from __future__ import annotations

from typing import Any, NoReturn

from tfteach.engine.session.config import (
    FLAGS,
    NUMBERS,
    TOGGLES,
    check_not_fixed,
    eager_settings,
    settings,
)
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger

# ---- placement, threads, optimizer


@export("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether ops may run on another device than they request."""
    return settings.is_soft


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Let ops run on another device than they request, in sessions without a config.

    Args:
      enabled: whether soft placement is on.

    Source: python/framework/config.py.
    """
    settings.is_soft = bool(enabled)


@export("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """The number of ops that may run concurrently; 0 leaves it to the system."""
    return settings.inter_threads


@export("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads that run ops, in sessions without a config.

    The devices of a step compute beside each other on them. As in TensorFlow, the
    process's first session decides.

    Args:
      num_threads: 0 for one per core; 1 to run one op after the other.

    Raises:
      RuntimeError: the logical devices have been listed.

    Source: python/framework/config.py.
    """
    num_threads = int(num_threads or 0)
    if num_threads != settings.inter_threads:
        check_not_fixed("Inter op parallelism cannot be modified after initialization.")
        settings.inter_threads = num_threads


@export("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """The number of threads within an op; 0 leaves it to the system."""
    return settings.intra_threads


@export("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Request a number of threads inside an op: a hint, with no effect here.

    NumPy's BLAS reads its number of threads from OMP_NUM_THREADS when it is loaded.

    Args:
      num_threads: 0 leaves it to the system.

    Raises:
      RuntimeError: the logical devices have been listed.

    Source: python/framework/config.py.
    """
    num_threads = int(num_threads or 0)
    if num_threads != settings.intra_threads:
        check_not_fixed("Intra op parallelism cannot be modified after initialization.")
        settings.intra_threads = num_threads


@export("config.optimizer.get_jit")
def get_jit() -> bool:
    """Whether XLA was requested."""
    return settings.jit


@export("config.optimizer.set_jit")
def set_jit(enabled: bool) -> None:
    """Request XLA: as on TF's CPUs, a hint without effect.

    Args:
      enabled: whether XLA is requested.

    Source: python/framework/config.py.
    """
    settings.jit = bool(enabled)


@export("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, Any]:
    """The options that were set, and the two flags that always have a value."""
    asked = settings.optimizer
    found: dict[str, Any] = {}
    for name in TOGGLES:
        if asked.get(name) is not None:
            found[name] = bool(asked[name])
    for name in FLAGS:
        found[name] = bool(asked.get(name))
    for name in NUMBERS:
        if asked.get(name):
            found[name] = asked[name]
    return found


@export("config.optimizer.set_experimental_options")
def set_experimental_options(options: dict[str, Any]) -> None:
    """Switch passes of the graph optimizer on or off, in sessions without a config.

    `constant_folding`, `arithmetic_optimization` (merging of equal ops) and
    `disable_meta_optimizer` have an effect; TF's other passes do not exist here, and
    results do not depend on them.

    Args:
      options: name -> whether the pass is on; None restores TF's default.

    Raises:
      NotImplementedError: `debug_stripper` is on.

    Example:
      >>> tf.config.optimizer.set_experimental_options({"constant_folding": False})

    Source: python/framework/config.py.
    """
    known = (*TOGGLES, *FLAGS, *NUMBERS)
    asked = dict(options)
    for name in asked:
        if name not in known:
            get_logger().warning(
                "tf.config.optimizer: TensorFlow 1.15 has no option %r, it has no "
                "effect. There are %s.",
                name,
                ", ".join(known),
            )
    if asked.get("debug_stripper"):
        raise NotImplementedError(
            "tf.config.optimizer: debug_stripper, runs without tf.Assert and tf.Print"
        )
    settings.optimizer.update({k: v for k, v in asked.items() if k in known})


# ---- eager execution and clusters


def _refuse(name: str, what: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.config.{name}: {what}; tfteach has TensorFlow 1's graphs and sessions of "
        "one process"
    )


# By number, as `tf.contrib.eager.DEVICE_PLACEMENT_*` has them.
_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")


@export("config.experimental.get_device_policy")
def get_device_policy() -> str:
    """What an eager program does with an op's input that is on another device.

    Example:
      >>> tf.config.experimental.get_device_policy()
      'silent'

    Source: python/framework/config.py.
    """
    return _POLICIES[eager_settings.device_policy]


@export("config.experimental.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """Choose what an eager program does with an op's input that is on another device.

    Args:
      device_policy: "silent" (or None) to copy it, "warn" to also log a warning,
        "explicit" to raise an error, "silent_for_int32" to raise one except for int32.

    Raises:
      ValueError: the policy does not exist.

    Source: python/framework/config.py.
    """
    wanted = "silent" if device_policy is None else device_policy
    if wanted not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    eager_settings.device_policy = _POLICIES.index(wanted)


@export("config.experimental.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """Whether the program waits for each eager op, as it always does here.

    Example:
      >>> tf.config.experimental.get_synchronous_execution()
      True

    Source: python/framework/config.py.
    """
    return not eager_settings.is_async


@export("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable: bool | None) -> None:
    """State whether the program waits for each eager op.

    It does in any case: an op that fails raises its error at once, as a program that
    does not wait must expect, too.

    Args:
      enable: False not to wait; None for the default, True.

    Source: python/framework/config.py.
    """
    eager_settings.is_async = enable is not None and not enable


@export("config.experimental_connect_to_host")
def experimental_connect_to_host(
    remote_host: Any = None, job_name: str = "worker"
) -> None:
    """Raises NotImplementedError.

    Raises:
      ValueError: no host is named.
    """
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    _refuse("experimental_connect_to_host", "sessions on other machines")


@export("config.experimental_connect_to_cluster")
def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
) -> None:
    """Raises NotImplementedError."""
    _refuse("experimental_connect_to_cluster", "sessions on other machines")
