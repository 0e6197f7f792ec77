"""Hyperparameters by name, with overrides from strings and JSON.

Source: contrib/training/python/training/hparam.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from numbers import Integral, Number
from typing import Any, NoReturn

from tfteach.framework.deprecation import deprecated
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import Proto, TensorLike

# name=value, name[2]=value or name=[value, value], up to the next comma or the end.
_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)"
    r"(?:\[\s*(?P<index>\d+)\s*\])?"
    r"\s*=\s*"
    r"(?:(?P<value>[^,\[]*)|\[(?P<items>[^\]]*)\])"
    r"(?:$|,\s*)"
)


def _unparsed(name: str, kind: Any, value: Any, text: str) -> NoReturn:
    raise ValueError(
        f"Could not parse hparam '{name}' of type '{kind.__name__}' with value "
        f"'{value}' in {text}"
    )


def _reused(name: str, text: str) -> NoReturn:
    raise ValueError(f"Multiple assignments to variable '{name}' in {text}")


def _truth(value: str) -> bool:
    if value in ("true", "True"):
        return True
    return False if value in ("false", "False") else bool(int(value))


@export("contrib.training.parse_values")
def parse_values(
    values: str, type_map: dict[str, Any], ignore_unknown: bool = False
) -> dict[str, Any]:
    """The assignments in a string such as "rate=0.1,sizes=[1,2],names[1]=a".

    Args:
      values: comma-separated `name=value`, `name=[value, ...]` or `name[index]=value`.
      type_map: the type of each name's value (of the elements of a list): int, float,
        bool or str.
      ignore_unknown: whether to skip names without a type.

    Returns:
      A dict from each name to a value, a list, or a dict from indices to values.

    Raises:
      ValueError: the string is malformed, a value is not of its type, a name is
        unknown or assigned twice.

    Example:
      >>> tf.contrib.training.parse_values("a=1,b=[x,y]", {"a": int, "b": str})
      {'a': 1, 'b': ['x', 'y']}

    Source: contrib/training/python/training/hparam.py.
    """
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name in type_map:
            _assign(found, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return found


def _assign(found: dict[str, Any], match: re.Match[str], kind: Any, text: str) -> None:
    name, index = match["name"], match["index"]
    parse: Callable[[str], Any] = _truth if kind is bool else kind
    if match["value"] is None:
        if index is not None:
            raise ValueError("Assignment of a list to a list index.")
        items = [item for item in re.split("[ ,]", match["items"]) if item]
        if name in found:
            _reused(name, text)
        try:
            found[name] = [parse(item) for item in items]
        except ValueError:
            _unparsed(name, kind, match["items"], text)
        return
    try:
        value = parse(match["value"])
    except ValueError:
        _unparsed(name, kind, match["value"], text)
    if index is None:
        if name in found:
            _reused(name, text)
        found[name] = value
        return
    places = found.setdefault(name, {})
    if not isinstance(places, dict):
        _reused(name, text)
    if int(index) in places:
        _reused(f"{name}[{int(index)}]", text)
    places[int(index)] = value


def _as_type(name: str, kind: Any, value: Any) -> Any:
    """`value` converted to a parameter's type, if that loses nothing.

    Raises:
      ValueError: it would be truncated, or is of an incompatible type.
    """
    if type(value) is kind or kind is type(None):
        return value
    is_text = issubclass(kind, str | bytes)
    if (
        (is_text and not isinstance(value, str | bytes))
        or issubclass(kind, bool) != isinstance(value, bool)
        or (issubclass(kind, Integral) and not isinstance(value, Integral))
        or (issubclass(kind, Number) and not isinstance(value, Number))
    ):
        raise ValueError(
            f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}"
        )
    return kind(value)


def _field(kind: Any) -> str:
    """The type of an HParamDef's field."""
    for field, python in (
        ("bool", bool),
        ("int64", int),
        ("bytes", (str, bytes)),
        ("float", float),
    ):
        if issubclass(kind, python):
            return field
    raise ValueError(f"Unsupported parameter type: {kind}")


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _values_of(hparam_def: Any) -> dict[str, Any]:
    """The values of an HParamDef by name; its bytes are text."""
    found = {}
    for name, value in sorted(hparam_def.hparam.items()):
        field = value.WhichOneof("kind")
        held = getattr(value, field)
        if field.endswith("_list"):
            held = list(held.value)
        if field.startswith("bytes"):
            is_list = isinstance(held, list)
            held = [one.decode() for one in held] if is_list else held.decode()
        found[name] = held
    return found


@export("contrib.training.HParams")
class HParams:
    """Hyperparameters: attributes with fixed names and types.

    Args:
      hparam_def: an HParamDef, as `to_proto` returns it, in place of `kwargs`.
      model_structure: any object, for `get_model_structure`.
      **kwargs: the names and their values: numbers, bools, strings, or lists of these.

    Raises:
      ValueError: a name is reserved by the class, or a list is empty; both a proto and
        names are given.

    Example:
      >>> hparams = tf.contrib.training.HParams(rate=0.1, sizes=[64, 10])
      >>> hparams.parse("rate=0.01").rate
      0.01

    Source: contrib/training/python/training/hparam.py.
    """

    def __init__(
        self,
        hparam_def: Proto | None = None,
        model_structure: Any = None,
        **kwargs: Any,
    ) -> None:
        # The type of each (of a list's elements), and whether it is a list.
        self._hparam_types: dict[str, tuple[Any, bool]] = {}
        self._model_structure = model_structure
        if hparam_def:
            if kwargs:
                raise ValueError(
                    "hparam_def and initialization values are mutually exclusive"
                )
            assert isinstance(hparam_def, pool.message("HParamDef")), hparam_def
            kwargs = _values_of(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Tensor) -> None:
        """Add a hyperparameter.

        Raises:
          ValueError: the name is taken, or `value` is an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, list | tuple)
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: TensorLike) -> None:
        """Change the value of a hyperparameter.

        Raises:
          KeyError: there is none of that name.
          ValueError: the value's type does not match.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(
                    f"Must not pass a list for single-valued parameter: {name}"
                )
            value = [_as_type(name, kind, item) for item in value]
        elif is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        else:
            value = _as_type(name, kind, value)
        setattr(self, name, value)

    def del_hparam(self, name: str) -> None:
        """Remove a hyperparameter if it exists."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Override values by a string; see `tf.contrib.training.parse_values`.

        Returns:
          This object.

        Raises:
          ValueError: the string is malformed, or does not match names and types.
        """
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        """Override values by those of a dict.

        Returns:
          This object.

        Raises:
          KeyError: a name is unknown.
          ValueError: a value's type does not match.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    @deprecated(None, "Use `override_from_dict`.")
    def set_from_map(self, values_map: dict[str, Any]) -> HParams:
        """Older name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        return self._model_structure

    def to_json(
        self, indent: int | None = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        """The values as a JSON object; arguments are those of `json.dumps`."""
        return json.dumps(
            self.values(), indent=indent, separators=separators, sort_keys=sort_keys
        )

    def parse_json(self, values_json: str) -> HParams:
        """Override values by those of a JSON object; returns this object."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """The values by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of that name, or `default` if there is none.

        Raises:
          ValueError: it exists, and the type of `default` does not match.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        kind, is_list = self._hparam_types[key]
        shown = f"list<{kind}>" if is_list else str(kind)
        message = (
            f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
        )
        if is_list != isinstance(default, list):
            raise ValueError(message)
        for value in default if is_list else [default]:
            try:
                _as_type(key, kind, value)
            except ValueError as error:
                raise ValueError(f"{message}. {error}") from None

    def to_proto(self, export_scope: str | None = None) -> Proto:
        """An HParamDef of the values; numbers become int64 and float32.

        Args:
          export_scope: no effect: there are no names of ops in it.

        Raises:
          ValueError: a value has no type in the proto, such as None.
        """
        found: Proto = pool.message("HParamDef")()
        for name, (kind, is_list) in self._hparam_types.items():
            field = _field(kind) + ("_list" if is_list else "_value")
            value = getattr(self, name)
            if field.startswith("bytes"):
                value = [_bytes(v) for v in value] if is_list else _bytes(value)
            if is_list:
                getattr(found.hparam[name], field).value.extend(value)
            else:
                setattr(found.hparam[name], field, value)
        return found

    @staticmethod
    def from_proto(hparam_def: Proto, import_scope: str | None = None) -> HParams:
        """HParams of an HParamDef.

        Args:
          hparam_def: as `to_proto` returns it.
          import_scope: no effect.
        """
        return HParams(hparam_def=hparam_def)

    def __contains__(self, key: object) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"
