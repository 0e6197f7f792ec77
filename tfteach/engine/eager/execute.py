"""Runs one op at once: convert its inputs, find its kernel, call it, record it.

The kernels, the rules for types and the errors are those of a graph.  The kernel for
given types of inputs is cached on the op.
Source: python/eager/execute.py, core/common_runtime/eager/execute.cc (messages).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.devices.array_module import IGNORED, float_errors
from tfteach.engine.devices.devices import Device
from tfteach.engine.eager.eager_errors import raise_from_kernel
from tfteach.engine.eager.eager_scopes import EagerScopes
from tfteach.engine.plan.step import (
    checking_shapes,
    keeping_strings,
    kernel_of,
    needs_context,
)
from tfteach.framework.call_origin import user_frame
from tfteach.framework.dtypes import DType, string
from tfteach.framework.eager_inputs import EagerRefusals, convert_eager_inputs
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import OpError
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation
from tfteach.framework.recording import tapes
from tfteach.framework.shape_inference import bind_types
from tfteach.framework.threads import LARGE, own_threads, thread_count

# Elements up to which a heavy op is done before the threads have been arranged.
SMALL = 1 << 12


class Kernel(NamedTuple):
    """What runs an op for inputs of certain types on the host.

    Attributes:
      inputs: the types of the inputs.
      dtypes: the types of the outputs.
      function: of the arrays; None for an op that gets a context.
      is_single: whether there is one output, which is no sequence.
      is_plain: whether nothing is needed around the kernel, and no output may be a
        handle, which refers to the call that made it.
      has_outputs, has_handles: whether there are outputs; and handles among them.
    """

    inputs: list[DType]
    dtypes: tuple[DType, ...]
    function: Callable[..., Any] | None
    is_single: bool
    is_plain: bool
    has_outputs: bool
    has_handles: bool

    def returned(self, outputs: list[EagerTensor]) -> Any:
        """What a call of the op returns: a tensor, a list of them, or None."""
        if self.is_single:
            return outputs[0]
        return outputs if self.has_outputs else None


def execute(
    graph: EagerScopes, op: Op, values: tuple[Any, ...], name: str | None
) -> Any:
    """The outputs of an op: a tensor, a list of them, or None if it has none.

    Args:
      graph: the open scopes, and the devices.
      op: the op.
      values: one per input of the signature; converted to tensors.
      name: the name that the caller gave, for messages; or None.
    """
    # What follows is repeated in `_run`; here without anything that most ops lack.
    if len(values) == 2:
        x, y = values
        if type(x) is EagerTensor and type(y) is EagerTensor:
            x_dtype, y_dtype, function, dtype = op.eager_pair
            if x_dtype is not x.dtype or y_dtype is not y.dtype:
                function, dtype = _pair(op, x.dtype, y.dtype)
            if function is not None and graph.is_fast:
                mode = float_errors.set(IGNORED)
                try:
                    found = function(x.value, y.value)
                except Exception as error:
                    raise_from_kernel(error, op, name, graph.host)
                finally:
                    float_errors.reset(mode)
                result = _new(EagerTensor)
                result.value, result.dtype = found, dtype
                if tapes.active:
                    _record(graph, op, values, [result])
                return result
    inputs: Sequence[Any] = values
    for value in values:
        if type(value) is not EagerTensor:
            inputs = convert_eager_inputs(op, values)
            break
    else:
        if op._has_lists or len(values) != len(type(op).inputs):
            inputs = convert_eager_inputs(op, values)
    return _run(graph, op, tuple(inputs), name)


_new = EagerTensor.__new__


def _pair(op: Op, x: DType, y: DType) -> tuple[Any, Any]:
    """The kernel of an op for two inputs and its result's type; Nones if not known.

    The op remembers it for the next call, whose inputs mostly have the same types.
    """
    kernel = op.eager_kernels.get((x, y))
    if kernel is None:
        return None, None
    found: tuple[Any, Any] = None, None
    is_alone = thread_count() == 1 or (op.is_elementwise and not op.is_heavy)
    if kernel.is_single and kernel.is_plain and is_alone and not op._has_lists:
        found = kernel.function, kernel.dtypes[0]
    object.__setattr__(op, "eager_pair", (x, y, *found))
    return found


def _run(
    graph: EagerScopes, op: Op, inputs: tuple[EagerTensor, ...], name: str | None
) -> Any:
    """The outputs of an op for tensors, as `execute` returns them."""
    kernel = op.eager_kernel
    dtypes = [t.dtype for t in inputs]
    if kernel is None or kernel.inputs != dtypes:
        kernel = _kernel(graph, op, inputs, dtypes, name)
    if not (kernel.is_plain and graph.is_fast):
        return kernel.returned(_run_anywhere(graph, op, inputs, kernel, name))
    # What follows is repeated in `_run_anywhere`; here without what most ops lack.
    function = kernel.function
    if function is None:
        call = functools.partial(_node, graph, op, inputs, (), graph.host.name)
        context = graph.runtime.context(call, graph.host)
        function = functools.partial(op.compute, context)
    arrays = [t.value for t in inputs]
    mode = float_errors.set(IGNORED)
    try:
        if thread_count() > 1 and _is_large(op, arrays):
            with own_threads():
                found = function(*arrays)
        else:
            found = function(*arrays)
    except Exception as error:
        raise_from_kernel(error, op, name, graph.host)
    finally:
        float_errors.reset(mode)
    if kernel.is_single:
        result = _new(EagerTensor)
        result.value, result.dtype = found, kernel.dtypes[0]
        if tapes.active:
            _record(graph, op, inputs, [result])
        return result
    outputs = _outputs(found, kernel.dtypes, "")
    if tapes.active:
        _record(graph, op, inputs, outputs)
    return kernel.returned(outputs)


def _run_anywhere(
    graph: EagerScopes,
    op: Op,
    inputs: tuple[EagerTensor, ...],
    kernel: Kernel,
    name: str | None,
) -> list[EagerTensor]:
    """Run an op on the device that it belongs on, and notify the observers."""
    unset = [EagerTensor(None, dtype) for dtype in kernel.dtypes]
    node = _node(graph, op, inputs, unset)
    device = graph.host if graph.is_fast else graph.device_of(node)
    node.device = device.name
    try:
        arrays = graph.placement.arrays(node, device)
    except OpError as error:
        raise_from_kernel(error, op, name, device)
    began_s = time.perf_counter()
    mode = float_errors.set(IGNORED)
    try:
        function = kernel.function
        if function is None or device is not graph.host:
            function = _bound(graph, op, node, device, kernel.dtypes)
        if _is_large(op, arrays):
            with own_threads():
                found = function(*arrays)
        else:
            found = function(*arrays)
    except Exception as error:
        if graph.observers:
            _announce(graph, node, began_s, name, error)
        raise_from_kernel(error, op, name, device)
    finally:
        float_errors.reset(mode)
    outputs = _outputs(
        found, kernel.dtypes, "" if device is graph.host else device.name
    )
    if kernel.has_handles:
        _describe_handles(op, node, name, inputs, outputs)
    if tapes.active:
        _record(graph, op, inputs, outputs, node)
    if graph.observers:
        node.outputs = list(outputs)
        _announce(graph, node, began_s, name)
    if op.returns_handle:
        node.outputs = []  # a cycle: the handle refers to the node that made it
    return outputs


def _is_large(op: Op, arrays: Sequence[Any]) -> bool:
    """Whether a kernel should compute on our threads."""
    least = SMALL if op.is_heavy else LARGE
    return any(getattr(array, "size", 0) >= least for array in arrays)


def _outputs(found: Any, dtypes: Sequence[DType], device: str) -> list[EagerTensor]:
    """The results of a kernel as tensors on a device; "" for the host."""
    values = (found,) if len(dtypes) == 1 else tuple(found or ())
    outputs = []
    for value, dtype in zip(values, dtypes, strict=True):
        output = _new(EagerTensor)
        output.value, output.dtype = value, dtype
        if device:
            output.__dict__["device"] = device
        outputs.append(output)
    return outputs


def _announce(
    graph: EagerScopes,
    node: Operation,
    began_s: float,
    name: str | None,
    error: Exception | None = None,
) -> None:
    elapsed_s = time.perf_counter() - began_s
    node._origin = user_frame()
    graph.announce_run(node, elapsed_s, name, error)


def _kernel(
    graph: EagerScopes,
    op: Op,
    inputs: tuple[EagerTensor, ...],
    dtypes: list[DType],
    name: str | None,
) -> Kernel:
    """The kernel of an op for inputs of these types, made at their first call.

    The op remembers it for the next call, whose inputs mostly have the same types.
    """
    kernel = op.eager_kernels.get(tuple(dtypes))
    if kernel is None:
        kernel = _new_kernel(graph, op, inputs, dtypes, name)
        op.eager_kernels[tuple(dtypes)] = kernel
    object.__setattr__(op, "eager_kernel", kernel)
    return kernel


def _new_kernel(
    graph: EagerScopes,
    op: Op,
    inputs: tuple[EagerTensor, ...],
    dtypes: list[DType],
    name: str | None,
) -> Kernel:
    """Check the types and attributes; find the kernel for the host."""
    op.check_attributes()
    made = tuple(op.output_dtypes(bind_types(op, inputs, EagerRefusals(name))))
    declared = type(op).outputs
    has_lists = any(arg.is_sequence for arg in declared)
    has_handles = bool(op.returns_handle or op.passes_handle or op.passes_handles)
    is_plain, function = not has_handles, None
    if needs_context(op):
        is_plain &= op._checked_inputs == () and string not in made and not has_lists
    else:
        function = _function(op, inputs, made, graph.host.xp)
    is_single = len(declared) == 1 and not has_lists
    return Kernel(
        dtypes, made, function, is_single, is_plain, bool(declared), has_handles
    )


def _function(
    op: Op, inputs: Sequence[EagerTensor], dtypes: Sequence[DType], first: Any
) -> Callable[..., Any]:
    """The op's kernel, with the checks of shapes and types that it relies on."""
    names = [f"x{i}" for i in range(len(inputs))]
    has_strings = any(t.dtype.numpy_dtype.hasobject for t in inputs)
    if op.is_elementwise and not has_strings:
        expression = op.expression(*names)
        if expression is not None:  # operators on scalars cost less than ufuncs
            made: Callable[..., Any] = eval(
                f"lambda {', '.join(names)}: {expression}", {}
            )
            return made
    function = kernel_of(op, first)
    function = checking_shapes(op, function, [None] * len(inputs))
    if string in dtypes:
        outputs = [EagerTensor(None, dtype) for dtype in dtypes]
        function = keeping_strings(function, outputs)
    return function


def _bound(
    graph: EagerScopes,
    op: Op,
    node: Operation,
    device: Device,
    dtypes: Sequence[DType],
) -> Callable[..., Any]:
    """The kernel for a device, or with a context for this call."""
    first: Any = device.xp
    if needs_context(op):
        first = graph.runtime.context(lambda: node, device)
    return device.bind(_function(op, node.inputs, dtypes, first))  # type: ignore[arg-type]


def _node(
    graph: EagerScopes,
    op: Op,
    inputs: tuple[Any, ...],
    outputs: Sequence[EagerTensor] = (),
    device: str = "",
) -> Operation:
    """The call as an `Operation`, for gradient rules and stateful kernels."""
    node = Operation.__new__(Operation)
    node.graph, node.name, node.spec = graph, op.op_type, op
    node.inputs, node.outputs = inputs, list(outputs)
    node.extra_attrs = None
    node.control_flow_context = None
    node.control_inputs = []
    node.device = device
    node.node_id = 0
    node._origin = None
    return node


def _describe_handles(
    op: Op,
    node: Operation | None,
    name: str | None,
    inputs: Sequence[EagerTensor],
    outputs: Sequence[EagerTensor],
) -> None:
    """Note which call made the resources that the outputs refer to."""
    for i, output in enumerate(outputs):
        if output.dtype.is_numpy_compatible:
            continue
        if op.returns_handle and node is not None:
            node.name = node.name if name is None else name.removesuffix("/")
            output.__dict__["source"] = node
        elif "source" in inputs[i].__dict__:
            output.__dict__["source"] = inputs[i].source


def _record(
    graph: EagerScopes,
    op: Op,
    inputs: tuple[Any, ...],
    outputs: Sequence[EagerTensor],
    node: Operation | None = None,
) -> None:
    if node is None:
        node = _node(graph, op, inputs)
    node.outputs = list(outputs)
    overrides = graph.scopes.state.gradient_overrides
    if op.op_type in overrides:
        node.extra_attrs = {"_gradient_op_type": overrides[op.op_type]}
    node._origin = user_frame()
    for tape in tapes.active:
        tape.record(node)
