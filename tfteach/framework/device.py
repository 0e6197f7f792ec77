"""`tf.DeviceSpec`, and merging of the names of `tf.device` scopes.

Building a graph only merges and prints names; whether a device exists is checked when a
session places the graph (engine/devices/device_name.py).
Source: python/framework/device.py, device_spec.py (API, merge rules and messages).
"""

from __future__ import annotations

import functools
from typing import Any, Self

from tfteach.framework.export import export_value

_HELP = "Write it like '/job:worker/task:0/device:GPU:1', '/gpu:0' or '/cpu:0'."


class DeviceSpecV2:
    """An immutable full or partial device name; `tf.DeviceSpec` is mutable.

    Args:
      job: the name of a job, or None to leave it open, like every other part.
      replica, task: integers.
      device_type: such as "CPU"; "cpu" and "gpu" are taken as "CPU" and "GPU".
      device_index: an integer.

    Raises:
      ValueError: a number is not an integer.

    Source: python/framework/device_spec.py.
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        self._job = _text(job)
        self._replica = _number(replica)
        self._task = _number(task)
        self._device_type = _type_name(device_type)
        self._device_index = _number(device_index)

    @classmethod
    def from_string(cls, spec: str | None) -> Self:
        """A new spec of the device name `spec`; "" and None leave every part open.

        Raises:
          ValueError: a part is malformed, or there are two device types.

        Example:
          >>> tf.DeviceSpec.from_string("/job:ps/task:0/gpu:1").to_string()
          '/job:ps/task:0/device:GPU:1'
        """
        return cls(*_parsed(spec or ""))

    def parse_from_string(self, spec: str | None) -> Self:
        """A new spec of the device name `spec`."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """TF's canonical form of the parts that are set.

        Without a device type the index is not shown.
        """
        text = "" if self._job is None else f"/job:{self._job}"
        if self._replica is not None:
            text += f"/replica:{self._replica}"
        if self._task is not None:
            text += f"/task:{self._task}"
        if self._device_type is not None:
            index = "*" if self._device_index is None else self._device_index
            text += f"/device:{self._device_type}:{index}"
        return text

    def make_merged_spec(self, dev: DeviceSpecV2) -> Self:
        """A new spec: the parts that `dev` sets, and the others from this one."""
        return self.__class__(*_merged(dev, self))

    def replace(self, **kwargs: Any) -> Self:
        """A new spec with the named parts changed (None leaves one open)."""
        return self.__class__(**{**self._properties(), **kwargs})

    def _properties(self) -> dict[str, Any]:
        return {
            "job": self._job,
            "replica": self._replica,
            "task": self._task,
            "device_type": self._device_type,
            "device_index": self._device_index,
        }

    @property
    def job(self) -> str | None:
        """The job's name, or None."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The replica's index, or None."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The task's index, or None."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """The type, such as "GPU", or None."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The device's index among those of its type, or None."""
        return self._device_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and (
            self.to_string() == other.to_string()
        )

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"<tf.DeviceSpec {self.to_string()!r}>"


class DeviceSpec(DeviceSpecV2):
    """A mutable full or partial device name.

    Args:
      job: the name of a job, or None to leave it open, like every other part.
      replica, task: integers.
      device_type: such as "CPU"; "cpu" and "gpu" are taken as "CPU" and "GPU".
      device_index: an integer.

    Raises:
      ValueError: a number is not an integer.

    Example:
      >>> spec = tf.DeviceSpec(job="ps", task=3)
      >>> spec.merge_from(tf.DeviceSpec(device_type="GPU", device_index=1))
      >>> spec.to_string()
      '/job:ps/task:3/device:GPU:1'

    Source: python/framework/device_spec.py.
    """

    __slots__ = ()

    def parse_from_string(self, spec: str | None) -> Self:
        """Set every part from the device name `spec`; returns this spec."""
        self._set(*_parsed(spec or ""))
        return self

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Copy the parts that `dev` sets."""
        self._set(*_merged(dev, self))

    def _set(self, *parts: Any) -> None:
        DeviceSpec.__init__(self, *parts)

    @property
    def job(self) -> str | None:
        """The job's name, or None."""
        return self._job

    @job.setter
    def job(self, job: Any) -> None:
        self._job = _text(job)

    @property
    def replica(self) -> int | None:
        """The replica's index, or None."""
        return self._replica

    @replica.setter
    def replica(self, replica: Any) -> None:
        self._replica = None  # state after an invalid number, as in TF
        self._replica = _number(replica)

    @property
    def task(self) -> int | None:
        """The task's index, or None."""
        return self._task

    @task.setter
    def task(self, task: Any) -> None:
        self._task = None  # state after an invalid number, as in TF
        self._task = _number(task)

    @property
    def device_index(self) -> int | None:
        """The device's index among those of its type, or None."""
        return self._device_index

    @device_index.setter
    def device_index(self, device_index: Any) -> None:
        self._device_index = None  # state after an invalid number, as in TF
        self._device_index = _number(device_index)

    @property
    def device_type(self) -> str | None:
        """The type, such as "GPU", or None."""
        return self._device_type

    @device_type.setter
    def device_type(self, device_type: Any) -> None:
        self._device_type = _type_name(device_type)


DeviceSpecV1 = DeviceSpec  # its name in tensorflow.python.framework.device_spec


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _type_name(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).upper() if value in ("cpu", "gpu") else str(value)


def _merged(over: DeviceSpecV2, under: DeviceSpecV2) -> tuple[Any, ...]:
    """The five parts of `over`, the open ones from `under`."""
    pairs = (
        (over.job, under.job),
        (over.replica, under.replica),
        (over.task, under.task),
        (over.device_type, under.device_type),
        (over.device_index, under.device_index),
    )
    return tuple(theirs if mine is None else mine for mine, theirs in pairs)


@functools.lru_cache(maxsize=4096)
def _parsed(spec: str) -> tuple[Any, ...]:
    """The five parts of a device name."""
    parts: dict[str, Any] = {}

    def put_type(kind: str, index: str) -> None:
        if "device_type" in parts:
            raise ValueError(f"Cannot specify multiple device types: {spec}")
        parts["device_type"] = kind
        if index != "*":
            parts["device_index"] = _parsed_number(index, spec)

    for text in spec.split("/"):
        match text.split(":"):
            case [""]:
                pass
            case ["job", name]:
                parts["job"] = name
            case ["replica" | "task" as key, number]:
                parts[key] = _parsed_number(number, spec)
            case [short, *rest] if len(rest) < 2 and short.upper() in ("CPU", "GPU"):
                put_type(short.upper(), rest[0] if rest else "*")
            case ["device", kind, index]:
                put_type(kind, index)
            case [first, *_] if first:
                raise ValueError(f"Unknown attribute: '{first}' in '{spec}'. {_HELP}")
    named = DeviceSpecV2(**parts)
    return tuple(named._properties().values())


def _parsed_number(text: str, spec: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{error}: no number in '{spec}'. {_HELP}") from None


def canonical_name(device: str | DeviceSpecV2 | None) -> str:
    """The canonical text of a device name ("" for None)."""
    if device is None or device == "":
        return ""
    if isinstance(device, DeviceSpecV2):
        return device.to_string()
    return DeviceSpecV2.from_string(device).to_string()


def scope_name(device: Any) -> str:
    """The canonical form of the argument of `tf.device`.

    Raises:
      ValueError: it is not a device name.
      AttributeError, TypeError: it is neither text nor a `DeviceSpec`.
    """
    if isinstance(device, str | DeviceSpecV2):
        return canonical_name(device)
    kind = type(device).__name__
    message = f"tf.device takes a name, a DeviceSpec or a function, got {device!r}"
    if isinstance(device, bytes):
        raise TypeError(f"a bytes-like object is required, not 'str'; {message}")
    if getattr(device, "__hash__", None) is None:
        raise TypeError(f"unhashable type: '{kind}'; {message}")
    raise AttributeError(f"'{kind}' object has no attribute 'split'; {message}")


def written_name(device: Any) -> str:
    """The text of a device function's result, or of `_set_device`'s argument.

    TF stores it as written, and parses it when the graph is placed.

    Raises:
      TypeError: it is neither text nor a `DeviceSpec`.
    """
    if isinstance(device, DeviceSpecV2):
        return device.to_string()
    if isinstance(device, bytes):
        return device.decode()
    if isinstance(device, str):
        return device
    raise TypeError(
        f"Expected binary or unicode string, got {device!r}: a device function "
        'returns a device name ("" for none) or a DeviceSpec'
    )


@functools.lru_cache(maxsize=4096)
def merge_names(inner: str, outer: str) -> str:
    """The canonical name of `inner` with its open parts filled from `outer`."""
    over, under = DeviceSpecV2.from_string(inner), DeviceSpecV2.from_string(outer)
    return under.make_merged_spec(over).to_string()


def check_valid(spec: str) -> None:
    """Raise ValueError unless `spec` is a device name."""
    _parsed(spec)


def is_device_spec(obj: Any) -> bool:
    """Whether `obj` is a `DeviceSpec`."""
    return isinstance(obj, DeviceSpecV2)


class MergeDevice:
    """A device function that completes the op's device with one name."""

    def __init__(self, spec: str | DeviceSpecV2 | None) -> None:
        self.name = canonical_name(spec)

    def __call__(self, node: Any) -> DeviceSpec:
        return DeviceSpec.from_string(merge_names(node.device or "", self.name))

    def __repr__(self) -> str:
        return f"<MergeDevice (spec: {self.name})>"


def merge_device(spec: str | DeviceSpecV2 | None) -> MergeDevice:
    """The device function of the name `spec`."""
    return MergeDevice(spec)


export_value(__name__, DeviceSpec="DeviceSpec compat.v2.DeviceSpec")
