"""The devices that a session can use: CPUs, CuPy GPUs, simulated GPUs.

CuPy is imported only when a session is made on a machine that has it.  A simulated GPU
computes with NumPy; it exists only if requested by `simulate_gpus`, and
then replaces the real GPUs.
Source: core/common_runtime/gpu/gpu_device.cc (what the options mean).
"""

from __future__ import annotations

import functools
import importlib.util
import os
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.devices.memory_ledger import (
    Ledger,
    MemoryLedger,
    parse_bytes,
    show_bytes,
)
from tfteach.framework.errors import NotFoundError, invalid_argument
from tfteach.framework.type_aliases import ArrayModule
from tfteach.framework.variable_cell import Cell

if TYPE_CHECKING:
    from tfteach.engine.devices.card_models import DeviceModel

LOCAL = "/job:localhost/replica:0/task:0"
CPU_LIMIT_BYTES = 268435456  # what TF reports for any CPU
_incarnations: dict[str, int] = {}


class Device:
    """One device.

    Attributes:
      name: TF's full name, such as /job:localhost/replica:0/task:0/device:CPU:0.
      device_type: "CPU" or "GPU".
      index: its number among the session's devices of that type.
      xp: the array module (NumPy or CuPy) of its kernels.
      ledger: accounts for a GPU's memory; None for a CPU's.
      is_simulated: whether a GPU is simulated.
      is_asynchronous: whether kernels return before they have computed.
      memory_limit_bytes: the memory that TF would report.
      allocator: TF's name of its memory allocator.
      physical_device_desc: describes the hardware; "" for a CPU.
      host: the CPU of its task; None for the session's first device.
      model: what the times in its traces are computed from; None if they are measured.
    """

    is_simulated = False
    is_asynchronous = False
    model: DeviceModel | None = None
    host: Device | None = None

    def __init__(self, device_type: str, index: int, xp: ArrayModule = np) -> None:
        self.device_type = device_type
        self.index = index
        self.name = f"{LOCAL}/device:{device_type}:{index}"
        self.xp = xp
        self.ledger: Ledger | None = None
        self.allocator = "cpu" if device_type == "CPU" else f"GPU_{index}_bfc"
        self.memory_limit_bytes = CPU_LIMIT_BYTES
        self.physical_device_desc = ""
        self.incarnation = _incarnations.setdefault(
            self.name, random.SystemRandom().getrandbits(62)
        )

    def put(self, value: Any, source: Device | None = None) -> Any:
        """The value in this device's memory; `source` is its device (None: host)."""
        if source is not None and source.is_simulated and isinstance(value, np.ndarray):
            return value.copy()  # a separate array, not one in the GPU's ledger
        return to_host(value)

    def download(self, value: Any) -> Any:
        """The value in the host's memory, or a `Download` that is not waited for."""
        return to_host(value)

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel, bound to this device."""
        return function

    def synchronize(self) -> None:
        """Wait until the device has computed everything."""

    def shortage(self, needed_bytes: int) -> str:
        """What to add to the error of a request for memory that did not fit."""
        return ""

    def __repr__(self) -> str:
        return f"<Device {self.name}>"


class SimulatedGPU(Device):
    """A simulated GPU: NumPy computes, a ledger accounts for the memory."""

    is_simulated = True
    ledger: MemoryLedger

    def __init__(
        self, index: int, physical: int, total_bytes: int, options: Any = None
    ) -> None:
        super().__init__("GPU", index)
        self.memory_limit_bytes = int(total_bytes * (_fraction(options) or 1))
        self.ledger = MemoryLedger(
            self.name,
            self.memory_limit_bytes,
            options is not None and options.allow_growth,
        )
        self.model = _model
        what = "GPU" if _model is None else f"{_model.label}, its times modelled,"
        self.physical_device_desc = (
            f"device: {physical}, name: simulated {what} with "
            f"{show_bytes(total_bytes)}, computed by NumPy on the CPU"
        )

    def put(self, value: Any, source: Device | None = None) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        copied = value.copy()
        self.ledger.track(copied)
        return copied

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        track = self.ledger.track

        def counted(*inputs: Any) -> Any:
            result = function(*inputs)
            for value in result if isinstance(result, tuple | list) else (result,):
                track(value)
            for value in inputs:
                if isinstance(value, Cell):  # it may have a new buffer
                    track(value)
            return result

        return counted

    def __repr__(self) -> str:
        return f"<Device {self.name}, simulated>"


class CudaGPU(Device):
    """A GPU, through CuPy.

    CuPy allocates memory on demand, whether `allow_growth` is set or not; the fraction
    that `per_process_gpu_memory_fraction` names limits CuPy's pool on that GPU.
    """

    is_asynchronous = True

    def __init__(self, index: int, physical: int, options: Any = None) -> None:
        import cupy

        from tfteach.engine.devices.card_copies import CardCopies
        from tfteach.engine.devices.card_memory import CardLedger

        super().__init__("GPU", index, cupy)
        self.card = cupy.cuda.Device(physical)
        facts = cupy.cuda.runtime.getDeviceProperties(physical)
        capability = self.card.compute_capability
        self.physical_device_desc = (
            f"device: {physical}, name: {facts['name'].decode()}, pci bus id: "
            f"{self.card.pci_bus_id}, compute capability: "
            f"{capability[:-1]}.{capability[-1]}"
        )
        self.memory_limit_bytes = _share_of(facts["totalGlobalMem"], options)
        pool = cupy.get_default_memory_pool()
        if options is not None and options.per_process_gpu_memory_fraction:
            with self.card:
                pool.set_limit(size=self.memory_limit_bytes)
        self.card_ledger = CardLedger(
            self.name, self.card, pool, self.memory_limit_bytes
        )
        self.ledger = self.card_ledger
        self._copies = CardCopies(cupy, self.card)

    def put(self, value: Any, source: Device | None = None) -> Any:
        is_of_host = isinstance(value, np.ndarray | np.generic)
        if is_of_host and value.dtype.hasobject:
            return value  # strings stay on the host
        if isinstance(source, CudaGPU) and source is not self and not is_of_host:
            return self._from_card(value, source)
        with self.card:
            if isinstance(value, np.ndarray):
                return self._copies.upload(value)
            return self.xp.array(value)

    def download(self, value: Any) -> Any:
        if not isinstance(value, self.xp.ndarray):
            return to_host(value)
        with self.card:
            return self._copies.download(value)

    def _from_card(self, value: Any, source: CudaGPU) -> Any:
        """A copy of another card's array, in the order of both cards' kernels.

        The copy waits for those that compute the array; kernels that use its memory
        again, once the array is freed, wait for the copy.  The host waits for nothing.
        """
        cuda = self.xp.cuda
        with source.card:
            there = cuda.get_current_stream()
            if not (value.flags.c_contiguous or value.flags.f_contiguous):
                value = value.copy()  # CuPy refuses to copy others between cards
            computed = there.record(cuda.Event(disable_timing=True))
        with self.card:
            here = cuda.get_current_stream()
            here.wait_event(computed)
            copied = self.xp.array(value)
            read = here.record(cuda.Event(disable_timing=True))
        with source.card:
            there.wait_event(read)
        return copied

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        card = self.card

        @functools.wraps(function)
        def on_card(*inputs: Any) -> Any:
            with card:
                return function(*inputs)

        return on_card if card.id else function  # GPU 0 is CuPy's default

    def synchronize(self) -> None:
        with self.card:
            self._copies.finish()
        self.card_ledger.read()

    def shortage(self, needed_bytes: int) -> str:
        return self.card_ledger.shortage(needed_bytes)


# ---- memory of a GPU for a session


def _fraction(options: Any) -> float:
    """The fraction of the GPU's memory that GPUOptions names; 0 if none."""
    fraction = options.per_process_gpu_memory_fraction if options is not None else 0.0
    if fraction > 1 or fraction < 0:
        raise NotImplementedError(
            f"GPUOptions.per_process_gpu_memory_fraction = {fraction}: more than the "
            "card's memory (unified memory) is not built; use a share from 0 to 1"
        )
    return float(fraction)


def _share_of(total_bytes: int, options: Any) -> int:
    """The memory limit of a GPU, by TF's rules.

    Without a fraction, 5% (at least 300 MiB; on small GPUs 225 MiB) are reserved for
    the system.
    """
    fraction = _fraction(options)
    if fraction:
        return int(total_bytes * fraction)
    mib = 1 << 20
    if total_bytes < 2048 * mib:
        return max(total_bytes - 225 * mib, 0)
    return total_bytes - max(300 * mib, int(0.05 * total_bytes))


# ---- the available devices


_simulated: list[int] | None = None  # bytes of each; None: TFTEACH_SIMULATED_GPUS says
_model: DeviceModel | None = None  # of their times


def simulate_gpus(
    count: int,
    memory: int | str | None = None,
    like: str | None = None,
    link: str = "pcie3",
) -> None:
    """Give the sessions created from now on simulated GPUs in place of real ones.

    They compute with NumPy on the CPU, but placement, memory limits and input copies
    are those of GPUs; lists and logs call them simulated.  The environment variable
    TFTEACH_SIMULATED_GPUS ("4" or "4:8GiB") does the same for a whole process.

    Traces show how long NumPy took on this machine's CPU, unless `like` names a card:
    then the times of the GPUs' ops and of copies are modelled, from the arithmetic and
    the bytes of each op, and the rates in the card's and the link's datasheets. A model
    at peak rates: a real card takes longer. What runs on the CPU is measured.

    Args:
      count: the number of them; 0 for none (real ones are visible again).
      memory: the memory of each, in bytes or as text such as "8GiB", which is the
        default without `like`; with it, that of the card.
      like: None, or the card that traces model: "K80", "P100", "V100", "T4", "A100",
        "H100" or "H200".
      link: what copies go over, with `like`: "pcie3", "pcie4", "pcie5", or for cards
        that have it "nvlink2", "nvlink3", "nvlink4".

    Raises:
      ValueError: `count` is negative, `memory` cannot be parsed as a size, or there is
        no such card or link.

    Example:
      >>> tfteach.simulate_gpus(2, memory="1GiB")
      >>> with tf.Session() as sess:
      ...     len(sess.list_devices())
      3
    """
    global _simulated, _model
    if count < 0:
        raise ValueError(f"count must not be negative, got {count}")
    model = None
    if like is not None:
        from tfteach.engine.devices.card_models import model_of

        model = model_of(like, link)
    if memory is None:
        memory = "8GiB" if model is None else model.card.memory_bytes
    _simulated, _model = [parse_bytes(memory)] * count, model


def simulated_memory() -> list[int]:
    """The memory of each simulated GPU, in bytes."""
    if _simulated is not None:
        return _simulated
    text = os.environ.get("TFTEACH_SIMULATED_GPUS", "").strip()
    if not text:
        return []
    count, _, memory = text.partition(":")
    if not count.isdigit():
        raise ValueError(
            f'TFTEACH_SIMULATED_GPUS must be like "4" or "4:8GiB", not {text!r}'
        )
    return [parse_bytes(memory or "8GiB")] * int(count)


def _visible(count: int) -> list[int]:
    """The simulated GPUs in CUDA_VISIBLE_DEVICES, up to the first invalid one."""
    text = os.environ.get("CUDA_VISIBLE_DEVICES")
    if text is None:
        return list(range(count))
    found: list[int] = []
    for part in text.split(","):
        number = int(part) if part.strip().isdigit() else -1
        if not 0 <= number < count or number in found:
            break
        found.append(number)
    return found


@functools.cache
def cuda_cards() -> int:
    """The number of GPUs that CuPy can use."""
    if importlib.util.find_spec("cupy") is None:
        return 0
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no driver, no GPU, or an incompatible CuPy
        return 0


def _chosen(visible: list[int], wanted: str) -> list[int]:
    """The GPUs that GPUOptions.visible_device_list selects among the visible ones."""
    if not wanted.strip():
        return visible
    found: list[int] = []
    for part in wanted.split(","):
        try:
            number = int(part)
        except ValueError:
            raise invalid_argument(
                f"Could not parse entry in 'visible_device_list': '{part}'. "
                f"visible_device_list = {wanted}"
            ) from None
        if not 0 <= number < len(visible):
            raise invalid_argument(
                f"'visible_device_list' listed an invalid GPU id '{number}' but "
                f"visible device count is {len(visible)}"
            )
        if visible[number] in found:
            raise invalid_argument(
                f"visible_device_list contained a duplicate entry: {number}"
            )
        found.append(visible[number])
    return found


class Cards(NamedTuple):
    """The GPUs that this process sees: the memory of simulated ones, or None."""

    visible: list[int]  # physical numbers
    memory: list[int] | None


def cards() -> Cards:
    """The GPUs that this process sees; simulated ones hide the real ones."""
    memory = simulated_memory()
    if memory:
        return Cards(_visible(len(memory)), memory)
    # For real GPUs, CUDA itself obeys CUDA_VISIBLE_DEVICES.
    return Cards(list(range(cuda_cards())), None)


def local_devices(config: Any = None) -> list[Device]:
    """The devices that a session with this ConfigProto sees; CPU:0 is the first.

    Raises:
      NotFoundError: the config excludes every CPU.
      InvalidArgumentError: `gpu_options.visible_device_list` is invalid, or
        `virtual_devices` request more than is available.
    """
    counts = {} if config is None else dict(config.device_count)
    cpus = counts.get("CPU", 1)
    if cpus < 1:
        raise NotFoundError(None, None, "No CPU devices are available in this process")
    devices = [Device("CPU", i) for i in range(cpus)]
    limit = counts.get("GPU")
    if limit is not None and limit <= 0:
        return devices
    found = cards()
    if not found.visible:  # TF ignores the GPU options then
        return devices
    options = None
    if config is not None and config.HasField("gpu_options"):
        options = config.gpu_options
    wanted = "" if options is None else options.visible_device_list
    chosen = _chosen(found.visible, wanted)[:limit]
    if options is not None and len(options.experimental.virtual_devices):
        return devices + _virtual_gpus(chosen, found.memory, options)
    for index, physical in enumerate(chosen):
        if found.memory is not None:
            total = found.memory[physical]
            devices.append(SimulatedGPU(index, physical, total, options))
        else:
            devices.append(CudaGPU(index, physical, options))
    return devices


def _virtual_gpus(
    chosen: list[int], memory: list[int] | None, options: Any
) -> list[Device]:
    """The devices that `GPUOptions.experimental.virtual_devices` divides GPUs into."""
    parts = [list(v.memory_limit_mb) for v in options.experimental.virtual_devices]
    if len(parts) > len(chosen):
        raise invalid_argument(
            f"The number of virtual_devices, {len(parts)}, is larger than the number "
            f"of visible cards, {len(chosen)}"
        )
    if options.per_process_gpu_memory_fraction:
        raise invalid_argument(
            "It's invalid to set per_process_gpu_memory_fraction when "
            "virtual_devices is set"
        )
    if memory is None:
        raise NotImplementedError(
            "GPUOptions.experimental.virtual_devices: parts of a real card; "
            "tfteach.simulate_gpus(n) gives cards that can be divided"
        )
    devices: list[Device] = []
    for card, limits in zip(chosen, parts, strict=False):
        total = memory[card]
        if sum(limits) > total >> 20:
            raise invalid_argument(
                f"virtual_devices ask for {sum(limits):g} MB of the "
                f"{show_bytes(total)} of card {card}"
            )
        for limit in limits or [total / (1 << 20)]:
            part = int(limit * (1 << 20))
            devices.append(SimulatedGPU(len(devices), card, part, options))
    return devices
