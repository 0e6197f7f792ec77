"""Freed memory stays with the process, unless the user chose otherwise."""

import ctypes
import sys

import pytest

from tfteach.engine.devices import malloc_tuning

keep = malloc_tuning.keep_freed_memory.__wrapped__


@pytest.fixture(autouse=True)
def no_choice(monkeypatch):
    for name in malloc_tuning._CHOSEN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")


class Library:
    """A C library that notes what it is asked."""

    def __init__(self, answer=1):
        self.answer, self.asked = answer, {}

    def mallopt(self, option, value):
        self.asked[option] = value
        return self.answer


def test_both_limits_are_set(monkeypatch):
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert keep() is True
    assert library.asked == {-3: 32 << 20, -1: 256 << 20}


def test_a_refusal_is_told(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library(answer=0))
    assert keep() is False


@pytest.mark.parametrize("name", malloc_tuning._CHOSEN)
def test_the_environment_has_the_last_word(monkeypatch, name):
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setenv(name, "1")
    assert keep() is False
    assert not library.asked


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert keep() is False
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep() is False
