"""Device names as the placer reads them; stricter than what `tf.device` accepts.

Source: core/util/device_name_utils.cc.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple, Self

_IDENTIFIER = r"\*|[A-Za-z][A-Za-z0-9_]*"
_PART = re.compile(
    rf"/job:(?P<job>{_IDENTIFIER})"
    r"|/replica:(?P<replica>\*|\d+)"
    r"|/task:(?P<task>\*|\d+)"
    rf"|/device:(?P<device_type>{_IDENTIFIER})(?::(?P<device_index>\*|\d+))?"
    r"|/(?P<short>cpu|CPU|gpu|GPU):(?P<short_index>\*|\d+)"
)


class DeviceName(NamedTuple):
    """A full or partial device name; unset parts are None.

    Example:
      >>> DeviceName.parse("/job:ps/gpu:1").to_string()
      '/job:ps/device:GPU:1'
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The parts of a name, or None if it is malformed."""
        found = _parsed(text)
        return None if found is None else cls._make(found)

    def to_string(self) -> str:
        """TF's canonical form, with the parts that are set."""
        text = "" if self.job is None else f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self.device_type is not None or self.device_index is not None:
            kind = "*" if self.device_type is None else self.device_type
            index = "*" if self.device_index is None else self.device_index
            text += f"/device:{kind}:{index}"
        return text

    def admits(self, full: DeviceName) -> bool:
        """Whether the full name `full` matches every part that is set here."""
        return all(
            mine is None or mine == theirs
            for mine, theirs in zip(self, full, strict=True)
        )

    def conflict(self, other: DeviceName) -> str | None:
        """The first part in which both are set and differ, in TF's order."""
        for part in self._fields:
            mine, theirs = getattr(self, part), getattr(other, part)
            if mine is not None and theirs is not None and mine != theirs:
                return part
        return None

    def over(self, under: DeviceName) -> DeviceName:
        """This name, with unset parts taken from `under`."""
        pairs = zip(self, under, strict=True)
        return DeviceName._make(b if a is None else a for a, b in pairs)


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[str | int | None, ...] | None:
    parts: dict[str, str] = {}
    position = 0
    while position < len(text) and text != "/":
        match = _PART.match(text, position)
        if match is None:
            return None
        position = match.end()
        found = {k: v for k, v in match.groupdict().items() if v is not None}
        if "short" in found:
            found = {
                "device_type": found["short"].upper(),
                "device_index": found["short_index"],
            }
        elif "device_type" in found:
            found.setdefault("device_index", "*")
        parts.update(found)
    named = {k: v for k, v in parts.items() if v != "*"}
    numbers = ("replica", "task", "device_index")
    return tuple(
        int(named[f]) if f in numbers and f in named else named.get(f)
        for f in DeviceName._fields
    )
