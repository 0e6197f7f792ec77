"""Columns as dictionaries of plain values, and back.

Source: python/feature_column/serialization.py, feature_column_v2.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfteach.framework.dtypes import as_dtype
from tfteach.lib.feature_column.base_column import FeatureColumn
from tfteach.variables import initializers

_NAME, _CONFIG = "class_name", "config"


def serialize_feature_column(column: FeatureColumn | str) -> Any:
    """A column as {"class_name": ..., "config": {...}}; a key as it is.

    Raises:
      ValueError: `column` is neither.

    Example:
      >>> serialize_feature_column(tf.feature_column.numeric_column("age"))

    Source: python/feature_column/serialization.py.
    """
    if isinstance(column, str):
        return column
    if not isinstance(column, FeatureColumn):
        raise ValueError(f"Instance: {column} is not a FeatureColumn")
    return {_NAME: type(column).__name__, _CONFIG: config_of(column)}


def deserialize_feature_column(
    config: Any,
    custom_objects: Mapping[str, Any] | None = None,
    columns_by_name: dict[str, Any] | None = None,
) -> Any:
    """A column of what `serialize_feature_column` returned.

    Args:
      config: the dictionary, or a key.
      custom_objects: functions and classes by name, such as normalizers.
      columns_by_name: columns that are used in place of equal ones, by class and name;
        new columns are added.

    Raises:
      ValueError: `config` has another form, or names an unknown class or function.

    Source: python/feature_column/serialization.py.
    """
    if isinstance(config, str):
        return config
    if not (isinstance(config, Mapping) and _NAME in config and _CONFIG in config):
        raise ValueError(f"Improper config format: {config}")
    kind = _column_class(config[_NAME], custom_objects)
    column = column_of(kind, config[_CONFIG], custom_objects, columns_by_name)
    if columns_by_name is None:
        return column
    return columns_by_name.setdefault(name_with_class(column), column)


def serialize_feature_columns(columns: Iterable[Any]) -> list[Any]:
    """A list of serialized columns."""
    return [serialize_feature_column(column) for column in columns]


def deserialize_feature_columns(
    configs: Iterable[Any], custom_objects: Mapping[str, Any] | None = None
) -> list[Any]:
    """A list of columns, of which equal ones are the same object."""
    by_name: dict[str, Any] = {}
    return [
        deserialize_feature_column(config, custom_objects, by_name)
        for config in configs
    ]


def name_with_class(column: Any) -> str:
    """What identifies a column among others."""
    return f"{type(column).__name__}:{column.name}"


def _column_class(name: str, custom_objects: Mapping[str, Any] | None) -> Any:
    if custom_objects and name in custom_objects:
        return custom_objects[name]
    for kind in _subclasses(FeatureColumn):
        if kind.__name__ == name and hasattr(kind, "_fields"):
            return kind
    raise ValueError(f"Unknown feature_column_v2: {name}")


def _subclasses(kind: Any) -> Iterable[Any]:
    below: Any
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


# ---- the fields of a column


def config_of(column: Any) -> dict[str, Any]:
    """The fields of a column as plain values."""
    return {
        field: _plain(field, getattr(column, field)) for field in type(column)._fields
    }


def _plain(field: str, value: Any) -> Any:
    if field == "dtype":
        return value.name
    if field == "keys":
        return tuple(serialize_feature_column(key) for key in value)
    if field == "initializer":
        return _plain_initializer(value)
    if field == "normalizer_fn":
        return None if value is None else value.__name__
    if isinstance(value, FeatureColumn):
        return serialize_feature_column(value)
    return value


def _plain_initializer(value: Any) -> Any:
    if hasattr(value, "get_config"):
        return {_NAME: type(value).__name__, _CONFIG: value.get_config()}
    return value.__name__


def column_of(
    kind: Any,
    config: Mapping[str, Any],
    custom_objects: Mapping[str, Any] | None = None,
    columns_by_name: dict[str, Any] | None = None,
) -> Any:
    """A column of its class and its fields as plain values.

    Raises:
      ValueError: the fields are not those of the class.
    """
    if set(config) != set(kind._fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {kind._fields}")

    def value_of(field: str) -> Any:
        value = config[field]
        if field == "dtype":
            return as_dtype(value)
        if field == "initializer":
            return _initializer(value, custom_objects)
        if field == "normalizer_fn":
            return None if value is None else _named(value, custom_objects)
        if field == "keys":
            return tuple(column(key) for key in value)
        is_column = isinstance(value, Mapping) and _NAME in value
        return column(value) if is_column else value

    def column(given: Any) -> Any:
        return deserialize_feature_column(given, custom_objects, columns_by_name)

    return kind(**{field: value_of(field) for field in kind._fields})


def _named(name: str, custom_objects: Mapping[str, Any] | None) -> Any:
    found = (custom_objects or {}).get(name)
    if found is None:
        raise ValueError(f"Unknown function: {name}; pass it in custom_objects")
    return found


def _initializer(value: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    if not isinstance(value, Mapping):
        return _named(value, custom_objects)
    name = value[_NAME]
    kind = (custom_objects or {}).get(name) or getattr(initializers, name, None)
    if kind is None:
        raise ValueError(f"Unknown initializer: {name}")
    return kind.from_config(value[_CONFIG])
