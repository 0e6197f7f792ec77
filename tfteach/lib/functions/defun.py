"""`Defun`: a decorator that makes a Python function a function of the graph's library.

Source: python/framework/function.py (API, names and messages).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.lib.functions.body_of_python_function import (
    func_graph_from_py_func as func_graph_from_py_func,
)
from tfteach.lib.functions.body_of_python_function import (
    function_name,
)
from tfteach.lib.functions.body_of_python_function import (
    get_extra_args as get_extra_args,
)
from tfteach.lib.functions.body_of_python_function import (
    get_extra_inputs as get_extra_inputs,
)
from tfteach.lib.functions.body_of_python_function import (
    get_extra_vars as get_extra_vars,
)

_MANY = 1000000
_LETTERS = {
    "float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32",
    "uint8": "i8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int16": "i16",
    "int8": "i8", "string": "s", "complex64": "c64", "complex128": "c128",
    "int64": "i64", "bool": "b", "qint8": "qi8", "quint8": "qu8", "qint16": "qi16",
    "quint16": "qu16", "qint32": "qi32", "bfloat16": "b16",
}  # fmt: skip


class Defun:
    """Decorator: the ops that a Python function builds become a function of a graph.

    The function is added to a graph when it is called there; the call is a single node,
    whose op type is the function's name. Runs have the function's ops in its place.

    Args:
      *input_types: the element types of the arguments; if there are none and the Python
        function has arguments, those of each call decide.
      func_name: the function's name; by default that of the Python function with a hash
        of its ops.
      grad_func: a function made by `Defun` that computes the gradient: of the arguments
        and the gradients of the results.
      python_grad_func: a Python function `(op, *grads)` in its place.
      out_names: the names of the results.
      shape_func: a function of the call's Operation, which returns the static shapes of
        the results.
      capture_by_value: copy outer ops that the function reads into it.
      whitelisted_stateful_ops: ops with state that may be copied.
      capture_resource_var_by_value: capture the values of the resource variables that
        it gets, not their handles.
      noinline, compiled, experimental_*: recorded as attributes; they change no result.

    Raises:
      ValueError: (on decorating) the function has default values or keyword arguments,
        or another number of arguments than there are types.

    Example:
      >>> from tensorflow.python.framework import function
      >>> @function.Defun(tf.float32)
      ... def double(x):
      ...     return x * 2.0
      >>> y = double(3.0)

    Source: python/framework/function.py, Defun.
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._input_types = input_types
        self._kwargs = kwargs

    def __call__(self, func: Callable[..., Any]) -> Any:
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults:
            raise ValueError(
                "function with argument defaults or keywords arguments are not "
                f"supported. {func} has defaults {spec.defaults} and keywords "
                f"{spec.varkw}."
            )
        names = spec.args[1:] if inspect.ismethod(func) else spec.args
        if self._input_types:
            count = len(self._input_types)
            if count < len(names) or (count > len(names) and not spec.varargs):
                raise ValueError(
                    "The function has fewer arguments than the number of specified "
                    f"input types. It has {len(names)}, and {count} types are given."
                )
            return PythonFunction(func, names, self._input_types, **self._kwargs)
        if not names and not spec.varargs:
            return PythonFunction(func, [], (), **self._kwargs)
        return OverloadedFunction(func, names, **self._kwargs)


class PythonFunction:
    """A function of a graph's library, defined by a Python function; see `Defun`."""

    def __init__(
        self,
        func: Callable[..., Any],
        argnames: Sequence[str],
        input_types: Sequence[Any],
        func_name: str | None = None,
        grad_func: PythonFunction | None = None,
        python_grad_func: Callable[..., Any] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable[[Operation], Sequence[Any]] | None = None,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: Any = None,
        capture_resource_var_by_value: bool = True,
        **kwargs: Any,
    ) -> None:
        self._func = func
        self._func_name = func_name
        self._grad_func = grad_func
        self.python_grad_func = python_grad_func
        self._out_names = tuple(out_names or ())
        self._shape_func = shape_func
        self._by_value = capture_by_value
        self._copied_ops = set(whitelisted_stateful_ops or ())
        self._reads_variables = capture_resource_var_by_value
        self._kwargs = kwargs
        self.declared_input_types = tuple(input_types)
        self._arg_names = [
            argnames[i] if i < len(argnames) else f"arg{i}"
            for i in range(len(input_types))
        ]
        devices = get_default_graph().scopes.state.devices
        self._device = devices[-1] if devices else None
        self._made: DefinedFunction | None = None

    @property
    def defined(self) -> DefinedFunction:
        """The function of the library, made on first use."""
        if self._made is None:
            self._made = self._define()
        return self._made

    def _define(self) -> DefinedFunction:
        base = self._func_name or function_name(self._func)
        if self._grad_func is not None and not self._func_name:
            base = f"{base}_{self._grad_func.name}"
        attrs = attrs_of(base, self._kwargs)
        graph = func_graph_from_py_func(
            self._func,
            self._arg_names,
            [as_dtype(dtype) for dtype in self.declared_input_types],
            self._func_name,
            self._by_value,
            self._device,
            None,
            self._copied_ops,
            self._reads_variables,
        )
        made = DefinedFunction(
            base,
            graph,
            out_names=self._out_names,
            attrs=attrs,
            hashes=self._func_name is None,
            description=self._func.__doc__ or "",
        )
        made.python_gradient = self.python_grad_func
        if self._grad_func is not None:
            self._link_gradient(made, self._grad_func)
        return made

    @staticmethod
    def _link_gradient(made: DefinedFunction, gradient: PythonFunction) -> None:
        made.gradient_name = gradient.name
        made.companions.append(gradient.defined)

    @property
    def name(self) -> str:
        """Its name in the library."""
        return self.defined.name

    @property
    def _signature(self) -> Any:
        """The OpDef of the definition, TensorFlow's internal attribute."""
        return self.definition.signature

    @property
    def definition(self) -> Any:
        """The FunctionDef."""
        return self.defined.definition

    @property
    def grad_func_name(self) -> str | None:
        """The name of its gradient's function, or None."""
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The outer tensors that it reads; each call passes them."""
        graph = self.defined.graph
        return [] if graph is None else graph.external_captures

    _extra_inputs = captured_inputs

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """The name and the type of each op with state in it."""
        body = self.defined.body(Function(self.name)).graph
        return [(op.name, op.type) for op in body.operations if op.op_def.is_stateful]

    def set_grad_func(self, grad_func: PythonFunction) -> None:
        """Set the function that computes its gradient, once."""
        assert self._grad_func is None
        assert isinstance(grad_func, PythonFunction)
        self._grad_func = grad_func
        if self._made is not None:
            self._link_gradient(self._made, grad_func)

    def add_to_graph(self, g: Graph) -> None:
        """Add it to a graph's library, with the functions that it calls."""
        self.defined.add_to_graph(g)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a call to the default graph.

        Args:
          *args: values of the declared types.
          name: the node's name.
          noinline: recorded as an attribute of the node.

        Returns:
          A Tensor; a tuple of them for several results; the Operation for none.

        Raises:
          ValueError: another number of arguments, or of another type.
        """
        graph = get_default_graph()
        self.add_to_graph(graph)
        values = [*map(convert, args), *self.captured_inputs]
        name = kwargs.pop("name", None)
        self._check(values)
        attrs = attrs_of(self.name, kwargs)
        op = graph.create_op(self.name, values, name=name or self.name, attrs=attrs)
        if self._shape_func is not None:
            self._set_shapes(op, self._shape_func(op))
        if len(op.outputs) == 1:
            return op.outputs[0]
        return tuple(op.outputs) if op.outputs else op

    def _check(self, values: Sequence[Tensor]) -> None:
        wanted = self.defined.signature.input_arg
        if len(values) != len(wanted):
            raise ValueError(
                f"Expected number of arguments: {len(wanted)}, received: {len(values)}"
            )
        from tfteach.framework.dtypes import c_name
        from tfteach.framework.graphdef.import_node import summary

        for value, arg in zip(values, wanted, strict=True):
            dtype = as_dtype(arg.type)
            if value.dtype.base_dtype is not dtype:
                raise ValueError(
                    f"Input '{arg.name}' passed {c_name(value.dtype)} expected "
                    f"{c_name(dtype)} while building NodeDef '{self.name}' using "
                    f"{summary(self.defined.call_class())}"
                )

    @staticmethod
    def _set_shapes(op: Operation, shapes: Sequence[Any]) -> None:
        if len(shapes) != len(op.outputs):
            raise ValueError(
                f"shape_func produced {len(shapes)} shapes for {len(op.outputs)} "
                "outputs"
            )
        for tensor, shape in zip(op.outputs, shapes, strict=True):
            tensor.set_shape(shape)


class OverloadedFunction:
    """A function with a definition for each combination of argument types."""

    def __init__(
        self,
        func: Callable[..., Any],
        argnames: Sequence[str],
        func_name: str | None = None,
        grad_func: OverloadedFunction | None = None,
        **kwargs: Any,
    ) -> None:
        assert grad_func is None or isinstance(grad_func, OverloadedFunction)
        self._func, self._argnames = func, argnames
        self._func_name, self._grad_func = func_name, grad_func
        self._kwargs = kwargs
        self._overload: dict[str, PythonFunction] = {}

    def instantiate(self, input_types: Sequence[Any]) -> PythonFunction:
        """The function for some argument types."""
        kinds = [as_dtype(dtype) for dtype in input_types]
        key = _letters(kinds)
        found = self._overload.get(key)
        if found is None:
            name = None if self._func_name is None else f"{self._func_name}_{key}"
            found = PythonFunction(
                self._func, self._argnames, kinds, name, **self._kwargs
            )
            results = [as_dtype(a.type) for a in found.definition.signature.output_arg]
            if self._grad_func is not None:
                found.set_grad_func(self._grad_func.instantiate([*kinds, *results]))
            self._overload[key] = found
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a call to the default graph; see `PythonFunction.__call__`."""
        values = [convert(value) for value in args]
        return self.instantiate([v.dtype for v in values])(*values, **kwargs)


def from_definition(
    definition: Any, grad_func: PythonFunction | None = None
) -> PythonFunction:
    """A function of a FunctionDef; what it captured has become arguments.

    Args:
      definition: the FunctionDef.
      grad_func: the function that computes its gradient, or None.
    """
    signature = definition.signature

    def unused(*_: Any) -> None:
        """The body is that of the definition."""

    made = PythonFunction(
        unused,
        [argument.name for argument in signature.input_arg],
        [as_dtype(argument.type) for argument in signature.input_arg],
        signature.name,
        out_names=[argument.name for argument in signature.output_arg],
    )
    made._made = DefinedFunction(
        signature.name, definition=definition, library=get_default_graph()
    )
    if grad_func is not None:
        made.set_grad_func(grad_func)
    return made


def from_library(lib: Any) -> list[PythonFunction]:
    """The functions of a FunctionDefLibrary, with the gradients that it states.

    Raises:
      ValueError: a function or a gradient's function is not in the library; functions
        are each other's gradients.

    Source: python/framework/function.py, from_library.
    """
    definitions = {f.signature.name: f for f in lib.function}
    gradients = {g.function_name: g.gradient_func for g in lib.gradient}
    for name in [*gradients, *gradients.values()]:
        if name not in definitions:
            raise ValueError(
                f"FunctionDefLibrary missing '{name}' FunctionDef: the library's "
                "gradients name it."
            )
    made: dict[str, PythonFunction] = {}

    def function(name: str, open_names: tuple[str, ...]) -> PythonFunction:
        if name in open_names:
            raise ValueError(
                "FunctionDefLibrary contains cyclic gradient functions! "
                f"{' -> '.join([*open_names, name])}"
            )
        if name not in made:
            gradient = gradients.get(name)
            own = function(gradient, (*open_names, name)) if gradient else None
            made[name] = from_definition(definitions[name], own)
        return made[name]

    return [function(name, ()) for name in definitions]


def _letters(kinds: Sequence[DType]) -> str:
    unknown = [kind for kind in kinds if kind.name not in _LETTERS]
    if unknown:
        raise ValueError(f"Unsupported dtypes: {unknown}")
    return "".join(_LETTERS[kind.name] for kind in kinds)


def attrs_of(name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The attributes that keyword arguments of a function or a call set."""
    value = pool.message("AttrValue")
    rest = dict(kwargs)
    attrs = {"_disable_call_shape_inference": value(b=True)}
    noinline = rest.pop("noinline", None)
    if noinline is not None:
        attrs["_noinline"] = value(b=bool(noinline))
    compiled = rest.pop("compiled", None)
    separate = rest.pop("separate_compiled_gradients", None)
    if compiled is not None:
        attrs["_XlaCompile"] = value(b=bool(compiled))
        attrs["_XlaSeparateCompiledGradients"] = value(b=bool(separate))
        attrs["_XlaScope"] = value(s=f"function_{name}".encode())
    for key in list(rest):
        if key.startswith("experimental_") or key in ("_implements", "_reference"):
            attrs[key] = _attr_of(key, rest.pop(key))
    if rest:
        raise ValueError(f"Unknown keyword arguments: {rest.keys()}")
    return attrs


def _attr_of(name: str, found: Any) -> Any:
    value = pool.message("AttrValue")
    if isinstance(found, bool):
        return value(b=found)
    if isinstance(found, int):
        return value(i=found)
    if isinstance(found, float):
        return value(f=found)
    if isinstance(found, str):
        return value(s=found.encode())
    raise ValueError(f"Unsupported attribute type for {name} with type {type(found)}")
