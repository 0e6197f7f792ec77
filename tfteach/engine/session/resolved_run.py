"""A run's fetches and feeds, resolved; with its program, they are cached as a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.engine.session.feeds import Converter
from tfteach.engine.session.fetches import Fetches
from tfteach.engine.session.planner import AnyProgram
from tfteach.framework.operation import Tensor


class Plan(NamedTuple):
    """A resolved combination of fetches and feeds, with its program."""

    program: AnyProgram
    converters: tuple[Converter, ...]
    result: Callable[[Sequence[Any]], Any]  # from the fetched values
    mutations: int


class Asked(NamedTuple):
    """The fetches and feeds of a run, flattened."""

    fetches: Fetches
    fed: tuple[Tensor, ...]
    converters: tuple[Converter, ...]
    arrays: list[Any]
