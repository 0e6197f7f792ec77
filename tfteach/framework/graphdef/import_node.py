"""Conversion of a NodeDef to an `Op` with checked attributes and inputs.

Attributes are interpreted once per op type and attribute bytes, and cached: large
graphs repeat a few combinations.
Source: core/framework/node_def_util.cc, op_def_util.cc (checks and messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, c_name
from tfteach.framework.errors import NotFoundError
from tfteach.framework.graph_protocols import GraphFunction
from tfteach.framework.graphdef.graph_def import KINDS, python_value
from tfteach.framework.graphdef.op_def import KIND_NAMES, minimum_of, op_def
from tfteach.framework.op import ROLES, Op, find_op, op_class
from tfteach.framework.op_traits import Role
from tfteach.framework.operation import Tensor
from tfteach.framework.protos.attr_value import MAX_INT32, check_attr_value
from tfteach.framework.shape import TensorShape
from tfteach.framework.signature import Arg

# More outputs than a TF graph could hold in memory mean a damaged number.
_MAX_OUTPUTS = 1 << 16
# Attributes of TensorFlow 2 that change no result; TensorFlow 1.15 refuses them.
_HINTS = frozenset(
    ("debug_name", "grad_a", "grad_b", "grad_x", "grad_y", "validate_shape")
)
_NEUTRAL = {"exponential_avg_factor": 1.0}  # others, where they change nothing
# Ops of TensorFlow 2 without outputs that change no result.
_HINT_OPS = frozenset(("DisableCopyOnRead",))
_MOST_LISTED = 15  # TF abbreviates longer lists of values in messages


class UnknownOpError(NotFoundError, ValueError):
    """A GraphDef has an op type that is not defined here."""


def without_hint(node: Any) -> Any:
    """The node, or a NoOp that waits for its inputs if it is only a hint.

    So what reads the graph next, which may be TensorFlow 1.15, does not have to know
    the op.
    """
    if node.op not in _HINT_OPS:
        return node
    plain = type(node)(name=node.name, op=ROLES[Role.NO_OP].op_type, device=node.device)
    for source in node.input:
        name = source if source[0] == "^" else "^" + source.partition(":")[0]
        if name not in plain.input:
            plain.input.append(name)
    return plain


class ReadNode(NamedTuple):
    """The contents of a NodeDef, apart from its name and edges."""

    spec: Op
    inputs: tuple[tuple[DType, bool], ...]  # type, and whether a reference is needed
    extra: dict[str, Any]
    shapes: list[Any] | None  # the protos of `_output_shapes`


def _changes_nothing(name: str, proto: Any) -> bool:
    """Whether an attribute is a hint, or false, zero, or an empty text or list."""
    kind = proto.WhichOneof("value")
    if name in _HINTS or _NEUTRAL.get(name) == proto.f:
        return True
    if kind == "list":
        return not proto.list.ListFields()
    return kind in ("b", "i", "s") and not getattr(proto, kind)


class NodeReader:
    """Reads the nodes of one GraphDef.

    Args:
      scope: of the import.
      producer_op_list: an OpList of the program that wrote them, or None.
      functions: those of the graph, by name.
      is_of_peer: whether a program that runs now wrote them, perhaps a newer
        TensorFlow, which says nothing about its ops.
    """

    def __init__(
        self,
        scope: str,
        producer_op_list: Any = None,
        functions: Mapping[str, GraphFunction] | None = None,
        is_of_peer: bool = False,
    ) -> None:
        self.scope = scope
        self._is_of_peer = is_of_peer
        self._functions = functions or {}
        self._known: dict[Any, ReadNode] = {}
        self._producer = {
            d.name: d for d in (producer_op_list.op if producer_op_list else ())
        }

    def read(self, node: Any) -> ReadNode:
        """The node's op and its inputs.

        Raises:
          UnknownOpError: the op type is unknown.
          ValueError: attributes are missing, unknown, or of the wrong kind.
        """
        attr = node.attr
        key: Any = None
        if not op_class(node.op).holds_value:
            key = (node.op, *[(name, attr[name].SerializeToString()) for name in attr])
            found = self._known.get(key)
            if found is not None:
                return found
        read = self._read(node)
        if key is not None:
            self._known[key] = read
        return read

    def _class(self, op_type: str) -> type[Op] | None:
        function = self._functions.get(op_type)
        return find_op(op_type) if function is None else function.call_class()

    def _read(self, node: Any) -> ReadNode:
        cls = self._class(node.op)
        if cls is None:
            raise UnknownOpError(
                None,
                None,
                f"Op type not registered '{node.op}' in tfteach: No op named "
                f"{node.op} in defined operations. Node '{node.name}' needs it. Remove "
                "the node from the GraphDef, or give its output by input_map.",
            )
        values: dict[str, Any] = {}
        derived: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        shapes = None
        derived_kinds = derived_attrs(cls)
        for name in node.attr:
            proto = node.attr[name]
            annotation = cls.fields.get(name)
            if proto.WhichOneof("value") is None and _has_default(cls, name):
                continue  # TF uses the default, too
            if annotation is not None:
                value = self._value(node, cls, name, KINDS[annotation], proto)
                default = cls.defaults.get(name)
                if isinstance(default, np.ndarray) and np.array_equal(value, default):
                    value = default
                values[name] = value
            elif name in derived_kinds:
                kind = derived_kinds[name]
                derived[name] = self._value(node, cls, name, kind, proto)
            elif name == "_output_shapes":
                # A value of another kind is ignored, as in TF.
                is_list = proto.WhichOneof("value") == "list"
                found = [field.name for field, _ in proto.list.ListFields()]
                if is_list and found in ([], ["shape"]):
                    shapes = list(proto.list.shape)
            elif name.startswith("_"):
                extra[name] = _extra_value(proto)
            elif not self._is_dropped(node.op, name, proto):
                raise ValueError(
                    f"NodeDef mentions attr '{name}' not in {summary(cls)}; NodeDef: "
                    f"{self._node(node)}. (Check whether your GraphDef-interpreting "
                    "binary is up to date with your GraphDef-generating binary.)."
                )
        self._check_complete(node, cls, values, derived, derived_kinds)
        try:
            spec = cls(**values)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{error}; NodeDef: {self._node(node)}") from None
        known = {**values, **derived}
        self._check_counts(node, cls, spec, known)
        return ReadNode(spec, tuple(_needed(cls, spec, known)), extra, shapes)

    def _node(self, node: Any) -> str:
        return f"{{{{node {self.scope}{node.name}}}}}"

    def _value(self, node: Any, cls: type[Op], name: str, kind: str, proto: Any) -> Any:
        try:
            check_attr_value(proto, kind, KIND_NAMES[kind])
            if kind == "tensor" and "dtype" in cls.fields:
                _check_type_of_value(node, proto.tensor)
            value = python_value(kind, proto)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{error}\n\t for attr '{name}'\n\t; NodeDef: {self._node(node)}; "
                f"{summary(cls)}"
            ) from None
        minimum = minimum_of(cls, name)
        if minimum is not None:
            size, what = (
                (len(value), "Length") if kind.startswith("list.") else (value, "Value")
            )
            if size < minimum:
                raise ValueError(
                    f"{what} for attr '{name}' of {size} must be at least minimum "
                    f"{minimum}\n\t; NodeDef: {self._node(node)}; {summary(cls)}"
                )
        allowed = cls.allowed_types(name) if isinstance(value, DType) else None
        if allowed is not None and value not in allowed:
            names = ", ".join(c_name(d) for d in allowed)
            raise ValueError(
                f"Value for attr '{name}' of {c_name(value)} is not in the list of "
                f"allowed values: {names}\n\t; NodeDef: {self._node(node)}; "
                f"{summary(cls)}"
            )
        return value

    def _check_complete(
        self,
        node: Any,
        cls: type[Op],
        values: dict[str, Any],
        derived: dict[str, Any],
        derived_kinds: dict[str, str],
    ) -> None:
        for name in derived_kinds:
            default = getattr(cls, name + "_default", None)
            if name not in derived and default is not None:
                derived[name] = default
        missing = [n for n in derived_kinds if n not in derived]
        missing += [n for n in cls.fields if n not in values and n not in cls.defaults]
        if len(missing) == 1:
            raise ValueError(
                f"NodeDef missing attr '{missing[0]}' from {summary(cls)}; NodeDef: "
                f"{self._node(node)}"
            )
        if missing:
            names = ", ".join(f"'{n}'" for n in missing)
            raise ValueError(
                f"NodeDef missing attrs {names} from {summary(cls)}; NodeDef: "
                f"{self._node(node)}"
            )

    def _check_counts(
        self, node: Any, cls: type[Op], spec: Op, known: dict[str, Any]
    ) -> None:
        """Check the numbers of inputs and outputs before allocating that many."""
        for arg in (*cls.inputs, *cls.outputs):
            if not arg.number_attr:
                continue
            count = _known(spec, known, arg.number_attr)
            most = len(node.input) if arg in cls.inputs else _MAX_OUTPUTS
            if count < 0:
                message = f"Value for attr '{arg.number_attr}' of {count} is negative"
            elif count > MAX_INT32:
                message = (
                    f"Attr {arg.number_attr} has value {count} out of range for an "
                    "int32"
                )
            elif count > most and count > _MOST_LISTED:
                message = f"Attr {arg.number_attr} has value {count}"
                if arg in cls.inputs:
                    message += f", and the node has {len(node.input)} inputs"
                else:
                    message += f": the node would have more than {most} outputs"
            else:
                continue
            raise ValueError(
                f"{message}\n\t; NodeDef: {self._node(node)}; {summary(cls)}"
            )

    def _is_dropped(self, op_type: str, name: str, proto: Any) -> bool:
        """Whether a newer program's attribute is a hint, or has its default."""
        if self._is_of_peer and _changes_nothing(name, proto):
            return True
        known = self._producer.get(op_type)
        return known is not None and any(
            a.name == name
            and (
                name in _HINTS
                or a.default_value.SerializeToString() == proto.SerializeToString()
            )
            for a in known.attr
        )

    def check_inputs(self, read: ReadNode, inputs: Sequence[Tensor], name: str) -> None:
        """Check number and types of a node's inputs.

        Raises:
          ValueError: they contradict the attributes.
        """
        needed = read.inputs
        if len(needed) != len(inputs):
            expected = ", ".join(c_name(t.as_ref if ref else t) for t, ref in needed)
            raise ValueError(
                f"NodeDef expected inputs '{expected}' do not match {len(inputs)} "
                f"inputs specified; {summary(type(read.spec))}; NodeDef: "
                f"{{{{node {name}}}}}"
            )
        for i, (tensor, (dtype, ref)) in enumerate(zip(inputs, needed, strict=True)):
            got = tensor.dtype
            if got is not dtype or ref:
                if got.base_dtype is dtype and (got.is_ref or not ref):
                    continue
                raise ValueError(
                    f"Input {i} of node {name} was passed {c_name(got)} from "
                    f"{tensor.name} incompatible with expected "
                    f"{c_name(dtype.as_ref if ref else dtype)}."
                )


def derived_attrs(cls: type[Op]) -> dict[str, str]:
    """Attributes inferred from inputs and outputs, with their kinds."""
    found: dict[str, str] = {}
    for arg in (*cls.inputs, *cls.outputs):
        if arg.number_attr and arg.number_attr not in cls.fields:
            found.setdefault(arg.number_attr, "i")
        if arg.type_attr and arg.type_attr not in cls.fields:
            found.setdefault(arg.type_attr, "list.type" if arg.is_list else "type")
    return found


def _has_default(cls: type[Op], name: str) -> bool:
    return name in cls.defaults or getattr(cls, name + "_default", None) is not None


def _check_type_of_value(node: Any, tensor: Any) -> None:
    """Check that a constant's type attribute matches its tensor."""
    wanted = node.attr["dtype"].type if "dtype" in node.attr else tensor.dtype
    if tensor.dtype != wanted:
        raise ValueError(
            f"Type mismatch between value ({_enum_name(tensor.dtype)}) and dtype "
            f"({_enum_name(wanted)})"
        )


def _enum_name(number: int) -> str:
    try:
        return c_name(as_dtype(number))
    except TypeError:
        return f"unknown type {number}"


def _known(spec: Op, known: dict[str, Any], name: str) -> Any:
    return known[name] if name in known else getattr(spec, name)


def _needed(cls: type[Op], spec: Op, known: dict[str, Any]) -> Any:
    for arg in cls.inputs:
        dtype: Any = arg.dtype or _known(spec, known, arg.type_attr)
        if arg.is_list:
            yield from ((t, arg.is_ref) for t in dtype)
        else:
            count = _known(spec, known, arg.number_attr) if arg.number_attr else 1
            yield from [(dtype, arg.is_ref)] * count


def _extra_value(proto: Any) -> Any:
    """An unknown attribute: a plain value where that is lossless, else the proto."""
    which = proto.WhichOneof("value")
    if which == "list" and len(proto.list.s):
        return list(proto.list.s)
    return getattr(proto, which) if which in ("s", "i", "f", "b") else proto


# ---- the text of an op's definition in messages


_FLAGS = (
    "is_commutative",
    "is_aggregate",
    "is_stateful",
    "allows_uninitialized_input",
)


def summary(cls: type[Op]) -> str:
    """An op's definition as TF's messages show it."""
    proto = op_def(cls)
    ins = ", ".join(_arg_text(a) for a in cls.inputs)
    outs = ", ".join(_arg_text(a) for a in cls.outputs)
    parts = [f"Op<name={cls.op_type}; signature={ins} -> {outs}"]
    for attr in proto.attr:
        text = f"attr={attr.name}:{attr.type}"
        if attr.HasField("default_value"):
            text += f",default={_value_text(attr.default_value)}"
        if attr.has_minimum:
            text += f",min={attr.minimum}"
        if attr.allowed_values.list.s:
            texts = ", ".join(f'"{s.decode()}"' for s in attr.allowed_values.list.s)
            text += f",allowed=[{texts}]"
        if attr.allowed_values.list.type:
            types = [
                "DT_" + c_name(as_dtype(number)).upper()
                for number in attr.allowed_values.list.type
            ]
            if len(types) >= _MOST_LISTED:
                types[5:-5] = ["..."]
            text += f",allowed=[{', '.join(types)}]"
        parts.append(text)
    parts += [f"{flag}=true" for flag in _FLAGS if getattr(proto, flag)]
    return "; ".join(parts) + ">"


def _arg_text(arg: Arg) -> str:
    kind = c_name(arg.dtype) if arg.dtype is not None else arg.type_attr
    kind = f"{arg.number_attr}*{kind}" if arg.number_attr else kind
    return f"{arg.name}:Ref({kind})" if arg.is_ref else f"{arg.name}:{kind}"


def _value_text(proto: Any) -> str:
    which = proto.WhichOneof("value")
    if which == "b":
        return str(proto.b).lower()
    if which == "s":
        return f'"{proto.s.decode("utf-8", "replace")}"'
    if which == "type":
        return "DT_" + c_name(as_dtype(proto.type)).upper()
    if which == "shape":
        shape = TensorShape(proto.shape)
        return "<unknown>" if shape.dims_or_none is None else str(shape)
    if which == "list":
        values = [str(v) for _, field in proto.list.ListFields() for v in field]
        return f"[{', '.join(values)}]"
    return str(getattr(proto, which)) if which else ""
