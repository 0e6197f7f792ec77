"""`tf.config`: the configuration of sessions created without a ConfigProto.

`tf.config` provides the ConfigProto of such sessions; those with a separate ConfigProto
ignore it.  Settings apply to the process, and to sessions created afterwards.  Settings
of eager execution and clusters raise NotImplementedError.
Source: python/framework/config.py, python/eager/context.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.engine.devices.devices import cards, local_devices
from tfteach.framework.export import export

# The passes, flags and numbers of RewriterConfig that `tf.config.optimizer` accepts.
TOGGLES = (
    "layout_optimizer constant_folding shape_optimization remapping "
    "arithmetic_optimization dependency_optimization loop_optimization "
    "function_optimization debug_stripper scoped_allocator_optimization "
    "pin_to_host_optimization implementation_selector auto_mixed_precision"
).split()
FLAGS = ("disable_model_pruning", "disable_meta_optimizer")
NUMBERS = ("min_graph_nodes",)


class PhysicalDevice(NamedTuple):
    """A CPU or GPU of this machine, as TF numbers it before any session."""

    name: str
    device_type: str

    def __repr__(self) -> str:
        shown = f"name={self.name!r}, device_type={self.device_type!r}"
        is_simulated = self.device_type == "GPU" and cards().memory is not None
        return f"PhysicalDevice({shown}{', simulated' if is_simulated else ''})"


class LogicalDevice(NamedTuple):
    """A device that sessions see."""

    name: str
    device_type: str


@export("config.experimental.VirtualDeviceConfiguration")
class VirtualDeviceConfiguration(NamedTuple):
    """One of the parts that a physical device is divided into.

    Args:
      memory_limit: its memory in MB; None for a part of the CPU.

    Source: python/eager/context.py.
    """

    memory_limit: float | None = None


class Settings:
    """Settings of this process; unset ones have TF's defaults."""

    def __init__(self) -> None:
        self.is_soft = False
        self.inter_threads = 0
        self.intra_threads = 0
        self.jit = False
        self.optimizer: dict[str, Any] = {}
        self.visible: list[PhysicalDevice] | None = None  # None: all
        self.virtual: dict[PhysicalDevice, list[VirtualDeviceConfiguration]] = {}
        self.growth: dict[PhysicalDevice, bool] = {}
        self.is_fixed = False  # since the logical devices were listed

    @property
    def is_default(self) -> bool:
        own = {**vars(Settings()), "is_fixed": self.is_fixed}
        return vars(self) == own


settings = Settings()


class EagerSettings:
    """How ops run eagerly in this process.

    Attributes:
      device_policy: what happens to inputs on another device; `engine/eager/placement`.
      is_async: whether the program asked for ops that run in other threads.
    """

    def __init__(self) -> None:
        self.device_policy = 2  # copy silently
        self.is_async = False


eager_settings = EagerSettings()


def default_config() -> Any:
    """The ConfigProto of a session created without one; None if nothing is set.

    Raises:
      ValueError: memory growth differs between the GPUs.
    """
    now = settings
    if now.is_default:
        return None
    from tfteach.framework import protos

    config = protos.ConfigProto()
    config.allow_soft_placement = now.is_soft
    config.inter_op_parallelism_threads = now.inter_threads
    config.intra_op_parallelism_threads = now.intra_threads
    if now.jit:
        config.graph_options.optimizer_options.global_jit_level = 1
    rewriter = config.graph_options.rewrite_options
    for name, value in now.optimizer.items():
        if value is None:
            continue
        if name in TOGGLES:
            value = 1 if value else 2
        setattr(rewriter, name, value)
    _set_devices(config, now)
    return config


def _set_devices(config: Any, now: Settings) -> None:
    visible = get_visible_devices()
    gpus = list_physical_devices("GPU")
    shown = [index for index, device in enumerate(gpus) if device in visible]
    cpus = 0
    for device in visible:
        if device.device_type == "CPU":
            parts = now.virtual.get(device)
            cpus += 1 if parts is None else len(parts)
    config.device_count["CPU"] = cpus
    if not shown:
        config.device_count["GPU"] = 0
        return
    options = config.gpu_options
    options.visible_device_list = ",".join(map(str, shown))
    divided = [now.virtual.get(gpus[index]) for index in shown]
    if any(parts is not None for parts in divided):
        for parts in divided:
            limits = [part.memory_limit for part in parts or ()]
            options.experimental.virtual_devices.add(memory_limit_mb=limits)
        return
    growths = {now.growth.get(gpus[index]) for index in shown}
    if len(growths) > 1:
        raise ValueError("Memory growth cannot differ between GPU devices")
    options.allow_growth = bool(growths.pop())


# ---- devices


@export("config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The CPU and the GPUs of this machine; simulated GPUs say so when printed.

    Args:
      device_type: "CPU" or "GPU" to list only those.

    Example:
      >>> tf.config.experimental.list_physical_devices("CPU")
      [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]

    Source: python/framework/config.py.
    """
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    found += [
        PhysicalDevice(f"/physical_device:GPU:{index}", "GPU")
        for index in range(len(cards().visible))
    ]
    return [d for d in found if device_type is None or d.device_type == device_type]


@export("config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices of a session that is created without a ConfigProto.

    After this call, visible and virtual devices and thread counts can no longer be set.

    Args:
      device_type: "CPU" or "GPU" to list only those.

    Raises:
      NotFoundError: no CPU is visible.

    Source: python/framework/config.py.
    """
    devices = local_devices(default_config())
    settings.is_fixed = True
    return [
        LogicalDevice(device.name, device.device_type)
        for device in devices
        if device_type is None or device.device_type == device_type
    ]


@export("config.experimental_list_devices")
def experimental_list_devices() -> list[str]:
    """The names of the devices of a session that is created without a ConfigProto."""
    return [device.name for device in list_logical_devices()]


@export("config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The physical devices that sessions see.

    Args:
      device_type: "CPU" or "GPU" to list only those.

    Source: python/framework/config.py.
    """
    found = list_physical_devices() if settings.visible is None else settings.visible
    return [d for d in found if device_type is None or d.device_type == device_type]


@export("config.experimental.set_visible_devices")
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Let sessions see these physical devices only.

    Args:
      devices: a `PhysicalDevice` or a list of them.
      device_type: "CPU" or "GPU", to leave devices of other types unchanged.

    Raises:
      ValueError: one of them does not exist, or is of another type.
      RuntimeError: the logical devices have been listed.

    Example:
      >>> gpus = tf.config.experimental.list_physical_devices("GPU")
      >>> tf.config.experimental.set_visible_devices(gpus[:1], "GPU")

    Source: python/framework/config.py.
    """
    asked = devices if isinstance(devices, list) else [devices]
    for device in asked:
        _check_known(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    before = get_visible_devices()
    if device_type is None:
        after = list(asked)
    else:
        after = [d for d in before if d.device_type != device_type] + asked
    if after == before:
        return
    check_not_fixed("Visible devices cannot be modified after being initialized")
    settings.visible = after


@export("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """Whether sessions allocate a GPU's memory on demand; None if unset.

    Raises:
      ValueError: the device does not exist.
      KeyError: the device is not a GPU.

    Source: python/framework/config.py.
    """
    _check_known(device)
    if device.device_type != "GPU":
        raise KeyError(device)
    return settings.growth.get(device)


@export("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Make sessions allocate a GPU's memory on demand, instead of all at once.

    Args:
      device: a GPU, from `list_physical_devices`.
      enable: whether memory is allocated on demand.

    Raises:
      ValueError: the device does not exist, is not a GPU, or is divided.
      RuntimeError: the logical devices have been listed.

    Source: python/framework/config.py.
    """
    _check_known(device)
    if device in settings.virtual:
        raise ValueError(
            "Cannot set memory growth on device when virtual devices configured"
        )
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    if settings.growth.get(device) == enable:
        return
    check_not_fixed("Physical devices cannot be modified after being initialized")
    settings.growth[device] = enable


@export("config.experimental.get_virtual_device_configuration")
def get_virtual_device_configuration(
    device: PhysicalDevice,
) -> list[VirtualDeviceConfiguration] | None:
    """The parts that a physical device is divided into, or None.

    Raises:
      ValueError: the device does not exist.

    Source: python/framework/config.py.
    """
    _check_known(device)
    return settings.virtual.get(device)


@export("config.experimental.set_virtual_device_configuration")
def set_virtual_device_configuration(
    device: PhysicalDevice, virtual_devices: Iterable[VirtualDeviceConfiguration]
) -> None:
    """Divide a physical device: each part is a separate device for sessions.

    Args:
      device: from `list_physical_devices`.
      virtual_devices: one `VirtualDeviceConfiguration` per part; the parts of a GPU
        have a memory limit, those of a CPU have none.

    Raises:
      ValueError: the device does not exist, or a part's limit does not fit its type.
      RuntimeError: the logical devices have been listed.

    Example:
      >>> config = tf.config.experimental
      >>> (cpu,) = config.list_physical_devices("CPU")
      >>> config.set_virtual_device_configuration(
      ...     cpu, [config.VirtualDeviceConfiguration()] * 2)
      >>> len(tf.Session().list_devices())
      2

    Source: python/framework/config.py.
    """
    _check_known(device)
    parts = list(virtual_devices)
    for part in parts:
        if device.device_type == "CPU" and part.memory_limit is not None:
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
        if device.device_type == "GPU" and part.memory_limit is None:
            raise ValueError(
                "Setting memory limit is required for GPU virtual devices is"
            )
    if settings.virtual.get(device) == parts:
        return
    check_not_fixed("Virtual devices cannot be modified after being initialized")
    settings.virtual[device] = parts


def _check_known(device: Any) -> None:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def check_not_fixed(message: str) -> None:
    """Refuse a change after the logical devices have been listed."""
    if settings.is_fixed:
        raise RuntimeError(
            f"{message} Set it before tf.config.experimental.list_logical_devices()."
        )
