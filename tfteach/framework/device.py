"""Device names: parse every form TF accepts, merge, print.

Source: python/framework/device.py, core/util/device_name_utils.cc.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from tfteach.framework.export import export_value

_PARTS = {
    "job": re.compile(r"job:([^/:]+)\Z"),
    "replica": re.compile(r"replica:(\d+|\*)\Z"),
    "task": re.compile(r"task:(\d+|\*)\Z"),
    "device": re.compile(r"device:([^/:]+):(\d+|\*)\Z"),
    "type": re.compile(r"device:([^/:]+)\Z"),
    # The old short forms: /cpu:0, /gpu:*, /CPU.
    "short": re.compile(r"((?i:cpu|gpu))(?::(\d+|\*))?\Z"),
}


class DeviceSpec(NamedTuple):
    """A full or partial device name; a part left open is None.

    Example:
      >>> tf.DeviceSpec.from_string("/job:ps/task:0/gpu:1").to_string()
      '/job:ps/task:0/device:GPU:1'
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Parse a device name.

        Raises:
          ValueError: a part has no form TF knows, or is given twice.
        """
        return _parse(spec)

    def to_string(self) -> str:
        """TF's canonical form, with the parts that are set."""
        text = "" if self.job is None else f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            text += f"/device:{self.device_type}:{index}"
        return text

    def merged_over(self, outer: DeviceSpec) -> DeviceSpec:
        """This spec, its open parts filled from `outer`.

        A device type given here hides the outer index as well.
        """
        if self.device_type is None:
            device_type = outer.device_type
            index = (
                outer.device_index if self.device_index is None else (self.device_index)
            )
        else:
            device_type, index = self.device_type, self.device_index
            if index is None and outer.device_type == device_type:
                index = outer.device_index
        return DeviceSpec(
            outer.job if self.job is None else self.job,
            outer.replica if self.replica is None else self.replica,
            outer.task if self.task is None else self.task,
            device_type,
            index,
        )

    def admits(self, full: DeviceSpec) -> bool:
        """Whether the full name `full` fits every part that is set here."""
        return all(
            mine is None or mine == theirs
            for mine, theirs in zip(self, full, strict=True)
        )


def _match_part(part: str, spec: str) -> tuple[str, re.Match[str]]:
    for kind, pattern in _PARTS.items():
        match = pattern.match(part)
        if match is not None:
            return kind, match
    raise ValueError(
        f"Unknown attribute: '{part.split(':')[0]}' in '{spec}'. "
        "Write it like '/job:worker/task:0/device:GPU:1', '/gpu:0' or '/cpu:0'."
    )


@functools.cache
def _parse(spec: str) -> DeviceSpec:
    parts: dict[str, Any] = {}

    def put(key: str, value: Any) -> None:
        if key in parts:
            kind = key.replace("_", " ")
            raise ValueError(f"Cannot specify multiple {kind}s: {spec}")
        parts[key] = value

    for part in filter(None, spec.split("/")):
        kind, match = _match_part(part, spec)
        if kind in ("device", "short", "type"):
            put("device_type", match[1].upper())
            index = match[2] if kind != "type" else None
            if index not in (None, "*"):
                put("device_index", int(index))
        elif kind == "job":
            put("job", match[1])
        elif match[1] != "*":
            put(kind, int(match[1]))
    return DeviceSpec(**parts)


def canonical(spec: str | DeviceSpec | None) -> str:
    """The canonical text of a device name ("" for None)."""
    if spec is None or spec == "":
        return ""
    return (_parse(spec) if isinstance(spec, str) else spec).to_string()


@functools.lru_cache(maxsize=4096)
def merge_names(inner: str, outer: str) -> str:
    """The canonical name of `inner` with its open parts filled from `outer`."""
    return _parse(inner).merged_over(_parse(outer)).to_string()


export_value(__name__, DeviceSpec="DeviceSpec")
