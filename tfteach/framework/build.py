"""From an `Op` and its inputs to a node: convert, check types, infer, name, append.

The checks of an op on given input types and shapes are remembered on the op, so that
building many like nodes is fast.
Source: python/framework/op_def_library.py (order of conversions, messages).
"""

from __future__ import annotations

import sys
from typing import Any

from tfteach.framework import op as op_module
from tfteach.framework import shape as shapes
from tfteach.framework.contexts import check_inputs
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.graph import Graph
from tfteach.framework.op import Arg, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import graph_of, is_valid_name
from tfteach.framework.shape import Shape
from tfteach.framework.stacks import default_graph, get_default_graph
from tfteach.framework.static import constant_shape, folded_value, handle_shape

_MAX_REMEMBERED = 512
_OWN_FILES: dict[str, bool] = {}
_PACKAGE = __file__[: -len("framework/build.py")]


def build(op: Op, values: tuple[Any, ...], name: str | None) -> Any:
    """Add a node of type `op`; see `Op.__call__`."""
    graph = get_default_graph()
    for value in values:
        if type(value) is not Tensor or value.op.graph is not graph:
            return _build_converting(op, values, name)
    if name is None:
        name = type(op).op_type
    elif name[-1:] == "/":
        name = name[:-1]
        return _result(op, create(graph, op, values, name))
    if not is_valid_name(name, graph.scopes.name != ""):
        raise ValueError(f"'{name}' is not a valid scope name")
    graph._check_not_finalized()
    return _result(op, create(graph, op, values, graph.unique_name(name)))


def _result(op: Op, node: Operation) -> Any:
    outputs = node.outputs
    if len(outputs) == 1 and not type(op).outputs[0].is_sequence:
        return outputs[0]
    return list(outputs) if outputs else node


def _build_converting(op: Op, values: tuple[Any, ...], name: str | None) -> Any:
    """The general case: some inputs are no tensors, or of another graph."""
    cls = type(op)
    if len(values) != len(cls.inputs):
        raise TypeError(
            f"{cls.op_type} takes {len(cls.inputs)} inputs "
            f"({', '.join(a.name for a in cls.inputs)}), got {len(values)}"
        )
    flat: list[Any] = []
    for value, arg in zip(values, cls.inputs, strict=True):
        flat += (
            value if arg.is_sequence and isinstance(value, list | tuple) else [value]
        )
    graph = graph_of(flat)
    with default_graph(graph), graph.name_scope(name or cls.op_type) as scope:
        inputs = tuple(_convert_inputs(op, values))
        node = create(graph, op, inputs, scope[:-1])
    return _result(op, node)


def _convert_inputs(op: Op, values: tuple[Any, ...]) -> list[Tensor]:
    cls = type(op)
    bound: dict[str, Any] = {}
    for name in cls.fields:
        bound[name] = getattr(op, name)
    bound_by: dict[str, str] = {}
    tensors: list[Tensor] = []
    for arg, value in zip(cls.inputs, values, strict=True):
        if arg.is_sequence:
            if not isinstance(value, list | tuple):
                raise TypeError(
                    f"Expected list for '{arg.name}' argument to '{cls.op_type}' Op, "
                    f"not {value!r}."
                )
            found = _convert_list(cls, arg, list(value), bound, bound_by)
            if arg.number_attr:
                bound.setdefault(arg.number_attr, len(found))
        else:
            found = [_convert_one(cls, arg, value, bound, bound_by)]
        if not arg.is_list and arg.type_attr and found and arg.type_attr not in bound:
            bound[arg.type_attr] = found[0].dtype.base_dtype
            bound_by[arg.type_attr] = arg.name
        tensors += found
    return tensors


def _convert_list(
    cls: type[Op],
    arg: Arg,
    values: list[Any],
    bound: dict[str, Any],
    bound_by: dict[str, str],
) -> list[Tensor]:
    if arg.is_list:
        return [
            convert(v, name=f"{arg.name}_{i}", as_ref=arg.is_ref)
            for i, v in enumerate(values)
        ]
    dtype = arg.dtype or bound.get(arg.type_attr)
    if dtype is None:
        for value in values:
            if isinstance(getattr(value, "dtype", None), DType):
                dtype = value.dtype.base_dtype
                break
    found: list[Tensor] = []
    for i, value in enumerate(values):
        known = {**bound, arg.type_attr: dtype} if dtype is not None else bound
        numbered = arg._replace(name=f"{arg.name}_{i}")
        try:
            found.append(_convert_one(cls, numbered, value, known, bound_by))
        except (TypeError, ValueError):
            _refuse_list(cls, arg, values, bound)
        dtype = dtype or found[0].dtype.base_dtype
    return found


def _refuse_list(
    cls: type[Op], arg: Arg, values: list[Any], bound: dict[str, Any]
) -> None:
    observed = []
    for value in values:
        try:
            observed.append(convert(value).dtype.base_dtype.name)
        except (TypeError, ValueError):
            observed.append("<NOT CONVERTIBLE TO TENSOR>")
    prefix = (
        f"Tensors in list passed to '{arg.name}' of '{cls.op_type}' Op have types "
        f"[{', '.join(observed)}] that do"
    )
    if arg.dtype is not None:
        words = f"{prefix} not match expected type {arg.dtype.name}."
    elif arg.type_attr in bound:
        inferred = bound[arg.type_attr].name
        words = f"{prefix} not match type {inferred} inferred from earlier arguments."
    else:
        words = f"{prefix}n't all match."
    raise TypeError(words) from None


def _convert_one(
    cls: type[Op],
    arg: Arg,
    value: Any,
    bound: dict[str, Any],
    bound_by: dict[str, str],
) -> Tensor:
    dtype = arg.dtype or bound.get(arg.type_attr)
    hint = getattr(cls, arg.type_attr + "_default", None) if arg.type_attr else None
    try:
        tensor = convert(
            value, None if arg.is_ref else dtype, arg.name, hint, as_ref=arg.is_ref
        )
    except TypeError as error:
        if dtype is None:
            raise
        raise TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op "
            f"'{cls.op_type}', got {value!r} of type '{type(value).__name__}' instead. "
            f"Error: {error}"
        ) from None
    except ValueError:
        # A tensor of another type: say it with the names of both arguments.
        tensor = convert(value, None, arg.name)
        if dtype is None or dtype.is_compatible_with(tensor.dtype):
            raise
        _refuse_dtype(cls, arg, tensor, dtype, bound_by)
    if arg.is_ref and not tensor.dtype.is_ref:
        raise TypeError(
            f"'{cls.op_type}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    if arg.is_ref and dtype is not None and tensor.dtype.base_dtype is not dtype:
        _refuse_dtype(cls, arg, tensor, dtype, bound_by)
    return tensor


def _refuse_dtype(
    cls: type[Op], arg: Arg, tensor: Tensor, dtype: DType, bound_by: dict[str, str]
) -> None:
    prefix = f"Input '{arg.name}' of '{cls.op_type}' Op has type "
    if arg.type_attr in bound_by:
        raise TypeError(
            f"{prefix}{tensor.dtype.base_dtype.name} that does not match type "
            f"{dtype.name} of argument '{bound_by[arg.type_attr]}'."
        )
    raise TypeError(
        f"{prefix}{tensor.dtype.base_dtype.name} that does not match expected type of "
        f"{dtype.name}."
    )


def create(
    graph: Graph,
    op: Op,
    inputs: tuple[Tensor, ...],
    name: str,
    device: str | None = None,
    control_inputs: list[Operation] | None = None,
) -> Operation:
    """Append a node with exactly this name; the inputs are tensors of `graph`.

    `device` and `control_inputs`, if given, stand instead of the open scopes'.
    """
    graph._check_not_finalized()
    output_dtypes, output_shapes = infer(op, inputs, name)
    node = Operation.__new__(Operation)
    node.graph, node.name, node.spec, node.inputs = graph, name, op, inputs
    node.outputs = [
        Tensor(node, i, dtype, output_shapes[i])
        for i, dtype in enumerate(output_dtypes)
    ]
    node.extra_attrs = None
    node.control_flow_context = None
    node._origin = user_frame()
    scopes = graph.scopes
    if scopes.control and control_inputs is None:
        node.control_inputs = scopes.control_inputs_for({t.op for t in inputs})
        for scope in scopes.control:
            scope.add(node)
    else:
        node.control_inputs = control_inputs or []
    if scopes.attrs or scopes.gradient_overrides or scopes.container:
        _apply_attr_scopes(node)
    fixed = scopes.fixed_device if device is None else device
    node.device = scopes.device_of(node) if fixed is None else fixed
    refs = type(op)._ref_inputs
    if refs and device is None:
        _colocate_with_refs(node, refs)
    elif scopes.colocation:
        _colocate(node)
    if graph.has_control_flow:
        _append_in_context(graph, node)
    else:
        graph.append(node)
    return node


def _append_in_context(graph: Graph, node: Operation) -> None:
    """Append a node that may be part of a branch or a loop, or use their values."""
    context = graph.control_flow_context
    node.control_flow_context = context
    check_inputs(node)
    if context is None:
        graph.append(node)
        return
    # The ops that carry values in come after the node, in its name scope, as in TF;
    # observers hear of the node when its inputs are final.
    graph.append(node, announce=False)
    if node.type == "Const":  # TF makes these without a scope of their own
        context.add_op(node)
    else:
        with graph.name_scope(node.name + "/"):
            context.add_op(node)
    graph.announce(node)


def _apply_attr_scopes(node: Operation) -> None:
    scopes = node.graph.scopes
    extra = dict(scopes.attrs)
    override = scopes.gradient_overrides.get(node.type)
    if override is not None:
        extra["_gradient_op_type"] = override
    if extra:
        node.extra_attrs = extra
    if scopes.container and getattr(node.spec, "container", None) == "":
        node.spec = node.spec.replace(container=scopes.container)


def _colocate(node: Operation) -> None:
    groups: set[bytes] = set()
    for other in node.graph.scopes.colocation:
        groups.update(other.colocation_groups())
        if other.device:
            node.device = other.device
    node.extra_attrs = {**(node.extra_attrs or {}), "_class": sorted(groups)}


def _colocate_with_refs(node: Operation, refs: tuple[int, ...]) -> None:
    """An op that takes a reference runs where the variable is."""
    scopes = node.graph.scopes
    saved = scopes.colocation
    args = type(node.spec).inputs
    variables = (
        [t.op for t in node.inputs]
        if any(args[i].is_sequence for i in refs)
        else [node.inputs[i].op for i in refs]
    )
    scopes.colocation = [*reversed(variables), *saved]
    node.device = ""
    try:
        _colocate(node)
    finally:
        scopes.colocation = saved


def user_frame() -> Any:
    """(code, offset) of the innermost frame outside this package; None without one."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        own = _OWN_FILES.get(code.co_filename)
        if own is None:
            own = _OWN_FILES[code.co_filename] = code.co_filename.startswith(_PACKAGE)
        if not own:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


# ---- types and shapes


def infer(
    op: Op, inputs: tuple[Tensor, ...], name: str
) -> tuple[list[DType], list[Shape]]:
    """The types and static shapes of the outputs.

    Raises:
      TypeError: an input has a type that the op does not take.
      ValueError: the shapes can never fit.
    """
    if not op._by_shape_only:
        output_dtypes, _ = _check_types(op, inputs)
        return output_dtypes, _infer_shapes(op, inputs, output_dtypes, name)
    key = tuple([(t.dtype.as_datatype_enum, t._shape) for t in inputs])
    known = op._inferred.get(key)
    if known is None:
        output_dtypes, _ = _check_types(op, inputs)
        known = output_dtypes, _infer_shapes(op, inputs, output_dtypes, name)
        if len(op._inferred) >= _MAX_REMEMBERED:
            op._inferred.clear()
        op._inferred[key] = known
    return known


def bind_types(op: Op, inputs: tuple[Tensor, ...]) -> dict[str, Any]:
    """The type and number attributes that the inputs give."""
    return _check_types(op, inputs)[1]


def _check_types(
    op: Op, inputs: tuple[Tensor, ...]
) -> tuple[list[DType], dict[str, Any]]:
    cls = type(op)
    bound: dict[str, Any] = {}
    bound_by: dict[str, str] = {}
    position = 0
    for arg in cls.inputs:
        count = _count(op, arg, bound, len(inputs) - position)
        group = inputs[position : position + count]
        position += count
        if arg.is_list:
            bound[arg.type_attr] = tuple(t.dtype.base_dtype for t in group)
            continue
        if arg.number_attr:
            bound[arg.number_attr] = count
        for tensor in group:
            dtype = tensor.dtype.base_dtype
            expected = arg.dtype or bound.get(
                arg.type_attr,
                getattr(op, arg.type_attr, None)
                if arg.type_attr in cls.fields
                else None,
            )
            if expected is None:
                _check_allowed(cls, arg, dtype)
                bound[arg.type_attr], bound_by[arg.type_attr] = dtype, arg.name
            elif dtype is not expected:
                _refuse_dtype(cls, arg, tensor, expected, bound_by)
            if arg.is_ref and not tensor.dtype.is_ref:
                raise TypeError(
                    f"'{cls.op_type}' Op requires that input '{arg.name}' be a mutable "
                    "tensor (e.g.: a tf.Variable)"
                )
    if position != len(inputs):
        raise ValueError(f"{cls.op_type} takes {position} inputs, got {len(inputs)}")
    for field in cls.fields:
        if field in _type_attrs(cls):
            _check_allowed(cls, Arg(field, type_attr=field), getattr(op, field))
    return op.output_dtypes(bound), bound


def _type_attrs(cls: type[Op]) -> set[str]:
    return {a.type_attr for a in cls.outputs if a.type_attr and not a.is_list}


def _count(op: Op, arg: Arg, bound: dict[str, Any], left: int) -> int:
    """How many of the remaining inputs belong to `arg`."""
    if not arg.is_sequence:
        return 1
    if arg.number_attr in bound:
        return int(bound[arg.number_attr])
    if arg.number_attr and arg.number_attr in op.fields:
        return int(getattr(op, arg.number_attr))
    if arg.is_list and arg.type_attr in op.fields:
        return len(getattr(op, arg.type_attr))
    # The sequence takes what the arguments after it leave.
    args = type(op).inputs
    after = args[args.index(arg) + 1 :]
    sequences = [a for a in after if a.is_sequence]
    same = [a for a in sequences if a.number_attr and a.number_attr == arg.number_attr]
    if len(same) != len(sequences):
        raise ValueError(f"{op.op_type}: cannot tell its input lists apart")
    return (left - (len(after) - len(same))) // (1 + len(same))


def _check_allowed(cls: type[Op], arg: Arg, dtype: DType) -> None:
    allowed = cls.allowed_types(arg.type_attr)
    if allowed is not None and dtype not in allowed:
        names = ", ".join(d.name for d in allowed)
        raise TypeError(
            f"Value passed to parameter '{arg.name}' has DataType {dtype.name} not in "
            f"list of allowed values: {names}"
        )


def _infer_shapes(
    op: Op, inputs: tuple[Tensor, ...], output_dtypes: list[DType], name: str
) -> list[Shape]:
    cls = type(op)
    args: list[Any] = []
    flat = iter(inputs)
    simple = op._by_shape_only and not any(arg.is_sequence for arg in cls.inputs)
    if simple:
        args = [t._shape for t in inputs]
    else:
        bound = bind_types(op, inputs)
        for arg in cls.inputs:
            if arg.is_sequence:
                count = bound.get(arg.number_attr)
                count = len(bound[arg.type_attr]) if count is None else count
                args.append([_view(op, arg, next(flat)) for _ in range(count)])
            else:
                args.append(_view(op, arg, next(flat)))
    try:
        found = op.infer_shape(*args)
    except ValueError as error:
        texts = ", ".join(shapes.text(t._shape) for t in inputs)
        raise ValueError(
            f"{error} for '{name}' (op: '{cls.op_type}') with input shapes: {texts}"
            f"{_computed_inputs(op, inputs, str(error))}."
        ) from None
    if len(cls.outputs) == 1 and not cls.outputs[0].is_sequence:
        return [found]
    if found is None:
        return [None] * len(output_dtypes)
    return list(found)


def _computed_inputs(op: Op, inputs: tuple[Tensor, ...], error: str) -> str:
    """The constants that took part in the inference, as TF's messages list them."""
    if error.startswith("Shape must be"):  # ranks are checked before values are asked
        return ""
    values: list[str] = []
    partial: list[str] = []
    args = type(op).inputs
    sequence = next((i for i, arg in enumerate(args) if arg.is_sequence), len(args))
    for i, tensor in enumerate(inputs):
        # Behind the one list of inputs that these ops may have, count from the end.
        arg = args[i if i <= sequence else max(sequence, i - len(inputs) + len(args))]
        if arg.name in op.by_shape:
            shape = constant_shape(tensor)
            if shape is not None:
                partial.append(f"input[{i}] = {shapes.text(shape)}")
        elif arg.name in op.by_value and not arg.is_sequence:
            value = folded_value(tensor)
            if value is not None:
                text = " ".join(map(str, value.ravel().tolist()))
                values.append(f"input[{i}] = <{text}>")
    found = ""
    if values:
        found += " and with computed input tensors: " + ", ".join(values)
    if partial:
        found += " and with input tensors computed as partial shapes: "
        found += ",".join(partial)
    return found


def _view(op: Op, arg: Arg, tensor: Tensor) -> Any:
    """What `infer_shape` gets for one input tensor."""
    if arg.name in op.by_value_or_shape:
        value = folded_value(tensor)
        return tensor._shape if value is None else value
    if arg.name in op.by_value:
        value = folded_value(tensor)
        if value is not None or arg.name not in op.by_shape:
            return value
    if arg.name in op.by_shape:
        return constant_shape(tensor)
    if arg.name in op.by_handle:
        return handle_shape(tensor)
    return tensor._shape


op_module.build = build
