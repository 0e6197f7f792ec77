"""Which processors functions are compiled for, and loops under construction."""

import ctypes
import logging

import numpy as np
import pytest

from tfteach.framework import machine_code

binding = pytest.importorskip("llvmlite.binding")


def test_without_llvmlite_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(machine_code, "is_installed", lambda: False)
    assert machine_code.vectors.__wrapped__() is None


def test_a_broken_llvmlite_is_reported(monkeypatch, caplog):
    def fail():
        raise OSError("no such library")

    monkeypatch.setattr(binding, "get_host_cpu_features", fail)
    with caplog.at_level(logging.WARNING, "tfteach"):
        assert machine_code.vectors.__wrapped__() is None
    assert "no such library" in caplog.text


def test_processors_without_fused_multiply_add_are_left_alone(monkeypatch):
    monkeypatch.setattr(binding, "get_default_triple", lambda: "x86_64-linux-gnu")
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: {"avx2": True})
    assert machine_code.vectors.__wrapped__() is None
    both = {"avx2": True, "fma": True}
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: both)
    assert machine_code.vectors.__wrapped__() == (32, 16)


@pytest.mark.skipif(machine_code.vectors() is None, reason="no such processor")
def test_a_loop_carries_values():
    from llvmlite import ir

    def emit(module):
        index = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [ir.PointerType(index), index])
        function = ir.Function(module, kind, "sum_of_indices")
        builder = ir.IRBuilder(function.append_basic_block())
        loop = machine_code.CountedLoop(builder, function.args[1], [index(100)])
        total = builder.add(loop.carried[0], loop.index)
        loop.end([total])
        builder.store(total, function.args[0])
        builder.ret_void()
        return function

    call = machine_code.compiled(emit, (ctypes.c_void_p, ctypes.c_int64))
    result = np.zeros(1, np.int64)
    call(result.ctypes.data, 5)
    assert result[0] == 100 + 0 + 1 + 2 + 3 + 4
