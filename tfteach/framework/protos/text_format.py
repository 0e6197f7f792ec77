"""Text form of protocol messages, as printed by TensorFlow 1.15.

protobuf's own `str` lists map entries in reverse, and its `text_format` shortens
float32 values (0.1 where TensorFlow's programs print 0.10000000149011612).
Source: google/protobuf/text_format.cc with the settings of the Python bindings of 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def message_text(message: Any) -> str:
    """The text form of a message: fields by number, map entries by key."""
    return "".join(_lines(message, ""))


def _lines(message: Any, indent: str) -> Iterator[str]:
    for field, value in message.ListFields():
        if _is_map(field):
            yield from _map_lines(field, value, indent)
        else:
            repeated = not hasattr(value, "ListFields") and hasattr(value, "extend")
            for item in value if repeated else (value,):
                yield from _field_lines(field, item, indent)


def _is_map(field: Any) -> bool:
    described = field.message_type
    return described is not None and bool(described.GetOptions().map_entry)


def _map_lines(field: Any, entries: Any, indent: str) -> Iterator[str]:
    key_field = field.message_type.fields_by_name["key"]
    value_field = field.message_type.fields_by_name["value"]
    for key in sorted(entries):
        yield f"{indent}{field.name} {{\n"
        yield from _field_lines(key_field, key, indent + "  ")
        yield from _field_lines(value_field, entries[key], indent + "  ")
        yield f"{indent}}}\n"


def _field_lines(field: Any, value: Any, indent: str) -> Iterator[str]:
    if field.message_type is not None:
        yield f"{indent}{field.name} {{\n"
        yield from _lines(value, indent + "  ")
        yield f"{indent}}}\n"
    else:
        yield f"{indent}{field.name}: {_scalar_text(field, value)}\n"


def _scalar_text(field: Any, value: Any) -> str:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | bytes):
        from google.protobuf import text_encoding

        data = value.encode() if isinstance(value, str) else value
        return f'"{text_encoding.CEscape(data, as_utf8=False)}"'
    return str(value)
