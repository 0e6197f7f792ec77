"""A fixture for tests of eager execution: `pytestmark = eagerly`, or as an argument."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tfteach.engine.eager import context
from tfteach.framework import defaults


@contextmanager
def eager_program() -> Iterator[None]:
    """Ops run at once in the block, as in a program that has just enabled that."""
    graphs, defaults._STACKS.graphs = defaults._STACKS.graphs, []
    outer, defaults._global_graph = defaults._global_graph, None
    context.forget_eager_graph()
    defaults.set_outermost(context.eager_graph())
    try:
        yield
    finally:
        context.forget_eager_graph()
        defaults._STACKS.graphs = graphs
        defaults._global_graph = outer


@pytest.fixture
def eagerly() -> Iterator[None]:
    """The test is an eager program."""
    with eager_program():
        yield
