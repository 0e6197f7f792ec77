"""Compiles loops to functions that Python calls.

Calls from Python cost 0.1 us: the compiled code also takes arrays and numbers out of
Python's objects, which it knows by NumPy's and Python's stable C interfaces.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.framework.loops.language import INTRINSICS, SUFFIXES, Parameter, types_of
from tfteach.framework.loops.statements import Translation, translate
from tfteach.framework.machine_code import compiled_address

Loop = Callable[..., Any]

# Offsets in Python's objects and in NumPy's, whose fields follow Python's header.
_HEADER = object.__basicsize__
_TYPE = _HEADER - ctypes.sizeof(ctypes.c_void_p)
_DATA, _RANK, _SHAPE, _DTYPE, _FLAGS = (_HEADER + n for n in (0, 8, 16, 40, 48))
_CONTIGUOUS, _WRITEABLE = 0x1, 0x400  # NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE
_KIND = _HEADER + 8  # of a dtype: kind, byte order, flags and number in 8 bytes

_METH_FASTCALL = 0x80

# Functions of Python: name -> type of the result, types of the parameters.
_OF_PYTHON = {
    "PyFloat_AsDouble": ("double", "ptr"),
    "PyLong_AsLongLong": ("i64", "ptr"),
    "PyLong_FromLongLong": ("ptr", "i64"),
    "PyObject_IsTrue": ("i32", "ptr"),
    "PyErr_Occurred": ("ptr", ""),
    "PyErr_SetString": ("void", "ptr, ptr"),
    "PyEval_SaveThread": ("ptr", ""),
    "PyEval_RestoreThread": ("void", "ptr"),
    "Py_IncRef": ("void", "ptr"),
}
# The type of a number -> the function that converts an object, and what it returns.
_CONVERSIONS = {
    "float": ("PyFloat_AsDouble", "double", "fptrunc"),
    "double": ("PyFloat_AsDouble", "double", "bitcast"),
    "i64": ("PyLong_AsLongLong", "i64", "bitcast"),
    "i1": ("PyObject_IsTrue", "i32", "trunc"),
}


class _MethodDefinition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_definitions: list[_MethodDefinition] = []  # what the functions refer to


@functools.cache
def _declarations() -> list[str]:
    """Declarations of Python's functions, whose addresses LLVM knows from now on."""
    from llvmlite import binding

    lines = []
    for name, (kind, parameters) in _OF_PYTHON.items():
        function = getattr(ctypes.pythonapi, name)
        binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
        lines.append(f"declare {kind} @{name}({parameters})")
    return lines


def compile_loop(
    source: str, parameters: Sequence[Parameter], releases_gil: bool = True
) -> Loop:
    """The function of `source` as machine code.

    Args:
      source: `def loop(...):`, see language.py.
      parameters: its parameters, in order.
      releases_gil: whether other threads run meanwhile.  A loop of less than some 20 us
        should keep the GIL: having it again takes longer where threads contend for it.

    Returns:
      The function.  It raises TypeError for other types, ranks and memory orders.

    Raises:
      UnsupportedSyntaxError: the source is not within the supported subset.
    """
    translation = translate(source, parameters)
    module = _module(translation, parameters, releases_gil)
    address = compiled_address(module, "call", optimizes=True)
    definition = _MethodDefinition(b"loop", address, _METH_FASTCALL, None)
    _definitions.append(definition)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p] * 3
    loop: Loop = new(ctypes.addressof(definition), None, None)
    return loop


def _module(
    translation: Translation, parameters: Sequence[Parameter], releases_gil: bool
) -> str:
    """The loop, and a function `call` that Python calls."""
    intrinsics = [
        f"declare {kind} @llvm.{name}.{suffix}({kind})"
        for kind, suffix in SUFFIXES.items()
        for name in INTRINSICS.values()
    ]
    expected = ", ".join(map(_description, parameters)).encode()
    message = b"the loop expects the arguments (" + expected + b")\0"
    text = "".join(f"\\{byte:02x}" for byte in message)
    lines = [
        *_declarations(),
        *intrinsics,
        f'@message = private constant [{len(message)} x i8] c"{text}"',
        translation.code,
        # Optimizing this function too would take 5 ms, and save nothing in a call.
        "define ptr @call(ptr %self, ptr %arguments, i64 %count) noinline optnone {",
        f"%is_right = icmp eq i64 %count, {len(parameters)}",
        "br i1 %is_right, label %argument0, label %refuse",
    ]
    for i, parameter in enumerate(parameters):
        place = f"getelementptr ptr, ptr %arguments, i64 {i}"
        lines += [f"argument{i}:", f"%p{i} = {place}", f"%o{i} = load ptr, ptr %p{i}"]
        lines += _array(i, parameter) if parameter.rank else _number(i, parameter)
    taken = []
    for i, (dtype, rank, _) in enumerate(parameters):
        taken.append(f"ptr %data{i}" if rank else f"{types_of(dtype)[1]} %number{i}")
        taken += [f"i64 %length{i}.{axis}" for axis in range(rank)]
    call = [f"%result = call i64 @loop({', '.join(taken)})"]
    if releases_gil:
        call.insert(0, "%thread = call ptr @PyEval_SaveThread()")
        call.append("call void @PyEval_RestoreThread(ptr %thread)")
    lines += [f"argument{len(parameters)}:", *call]
    if translation.is_function:
        lines.append("%number = call ptr @PyLong_FromLongLong(i64 %result)")
    else:
        lines.append(f"%number = {_object(None)}")
        lines.append("call void @Py_IncRef(ptr %number)")
    lines += [
        "ret ptr %number",
        "refuse:",
        f"%error.place = {_object(TypeError)}",
        "call void @PyErr_SetString(ptr %error.place, ptr @message)",
        "ret ptr null",
        "failed:",
        "ret ptr null",
        "}",
    ]
    return "\n".join(lines)


def _object(value: Any) -> str:
    return f"inttoptr i64 {id(value)} to ptr"


def _description(parameter: Parameter) -> str:
    dtype, rank, is_written = parameter
    if not rank:
        return str(dtype)
    return f"{'writable ' * is_written}C-contiguous {dtype} array of rank {rank}"


def _field(name: str, kind: str, base: str, offset: int) -> list[str]:
    """Load a field of an object."""
    place = f"getelementptr i8, ptr {base}, i64 {offset}"
    return [f"{name}.place = {place}", f"{name} = load {kind}, ptr {name}.place"]


def _array(i: int, parameter: Parameter) -> list[str]:
    """Check an array, and load its address and shape."""
    dtype, rank, is_written = parameter
    # NumPy's own arrays only, as Python code cannot change what these are.
    flags = _CONTIGUOUS | _WRITEABLE * is_written
    kind = ctypes.c_int64.from_address(id(dtype) + _KIND).value
    lines = [
        *_field(f"%type{i}", "ptr", f"%o{i}", _TYPE),
        f"%array.type{i} = {_object(np.ndarray)}",
        f"%is_array{i} = icmp eq ptr %type{i}, %array.type{i}",
        f"br i1 %is_array{i}, label %array{i}, label %refuse",
        f"array{i}:",
        *_field(f"%rank{i}", "i32", f"%o{i}", _RANK),
        *_field(f"%flags{i}", "i32", f"%o{i}", _FLAGS),
        *_field(f"%dtype{i}", "ptr", f"%o{i}", _DTYPE),
        *_field(f"%kind{i}", "i64", f"%dtype{i}", _KIND),
        f"%set{i} = and i32 %flags{i}, {flags}",
        f"%is_flagged{i} = icmp eq i32 %set{i}, {flags}",
        f"%is_ranked{i} = icmp eq i32 %rank{i}, {rank}",
        f"%is_kind{i} = icmp eq i64 %kind{i}, {kind}",
        f"%is_laid_out{i} = and i1 %is_flagged{i}, %is_ranked{i}",
        f"%is_fit{i} = and i1 %is_laid_out{i}, %is_kind{i}",
        f"br i1 %is_fit{i}, label %fit{i}, label %refuse",
        f"fit{i}:",
        *_field(f"%data{i}", "ptr", f"%o{i}", _DATA),
        *_field(f"%shape{i}", "ptr", f"%o{i}", _SHAPE),
    ]
    for axis in range(rank):
        lines += _field(f"%length{i}.{axis}", "i64", f"%shape{i}", 8 * axis)
    return [*lines, f"br label %argument{i + 1}"]


def _number(i: int, parameter: Parameter) -> list[str]:
    """Convert a number; -1 may mean that it is none."""
    kind = types_of(parameter.dtype)[1]
    function, wide, cast = _CONVERSIONS[kind]
    is_equal, minus_one = (
        ("fcmp oeq", "-1.0") if kind in SUFFIXES else ("icmp eq", "-1")
    )
    return [
        f"%wide{i} = call {wide} @{function}(ptr %o{i})",
        f"%is_minus_one{i} = {is_equal} {wide} %wide{i}, {minus_one}",
        f"br i1 %is_minus_one{i}, label %check{i}, label %good{i}",
        f"check{i}:",
        f"%error{i} = call ptr @PyErr_Occurred()",
        f"%is_error{i} = icmp ne ptr %error{i}, null",
        f"br i1 %is_error{i}, label %failed, label %good{i}",
        f"good{i}:",
        f"%number{i} = {cast} {wide} %wide{i} to {kind}",
        f"br label %argument{i + 1}",
    ]
