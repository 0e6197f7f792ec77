"""Loops are compiled once there was enough work for them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tfteach.framework.loops import compiled_loops
from tfteach.framework.loops.compiled_loops import loop_of
from tfteach.framework.loops.language import Parameter

SOURCE = "def loop(r):\n for i in range(r.size):\n  r[i] = 3"
PARAMETERS = [Parameter(np.dtype(np.float32), 1, is_written=True)]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(compiled_loops, "_loops", {})
    monkeypatch.setattr(compiled_loops, "_work", 0)
    monkeypatch.setattr(compiled_loops, "_works", {})


def test_short_programs_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 40)
    for _ in range(4):  # 12, 24, 36, 48
        assert loop_of(SOURCE, PARAMETERS, 12) is None
        assert not compiled_loops._loops
    loop = loop_of(SOURCE, PARAMETERS, 12)
    assert loop is not None
    result = np.zeros(5, np.float32)
    loop(result)
    assert result.tolist() == [3.0] * 5
    assert loop_of(SOURCE, PARAMETERS, 0) is loop


def test_each_loop_has_to_be_worth_its_compilation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 160)
    monkeypatch.setattr(compiled_loops, "LOOP_PART", 4)
    assert loop_of(SOURCE, PARAMETERS, 1000) is None
    assert loop_of(SOURCE, PARAMETERS, 0) is not None
    other = SOURCE.replace("3", "4")
    for _ in range(4):  # 10, 20, 30, 40
        assert loop_of(other, PARAMETERS, 10) is None
    assert loop_of(other, PARAMETERS, 10) is not None
    assert not compiled_loops._works


def test_work_before_the_compiler_is_loaded_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 160)
    monkeypatch.setattr(compiled_loops, "LOOP_PART", 4)
    assert loop_of(SOURCE, PARAMETERS, 40) is None
    assert loop_of(SOURCE, PARAMETERS, 0) is None  # of 160, 40 are done
    assert loop_of(SOURCE.replace("3", "4"), PARAMETERS, 120) is None
    assert loop_of(SOURCE, PARAMETERS, 0) is not None


def test_threads_compile_a_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    begun, count = threading.Barrier(3), []
    inner = compiled_loops.compile_loop

    def compile_loop(*given: object) -> object:
        count.append(given)
        return inner(*given)  # type: ignore[arg-type]

    found = []

    def ask() -> None:
        begun.wait(60)
        found.append(loop_of(SOURCE, PARAMETERS, 0))

    monkeypatch.setattr(compiled_loops, "compile_loop", compile_loop)
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(count) == 1
    assert len(found) == 3
    assert found[0] is not None
    assert found == [found[0]] * 3


def test_a_loop_that_cannot_be_compiled_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)
    for _ in range(2):
        assert loop_of(SOURCE.replace("3", "unknown"), PARAMETERS, 0) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "NumPy goes on: 'unknown'" in caplog.text
