"""What an eager test leaves behind: tensors, and work for the garbage collector.

Source: python/framework/test_util.py, assert_no_new_tensors,
assert_no_garbage_created.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tfteach.framework.defaults import reset_default_graph
from tfteach.framework.operation import Tensor
from tfteach.variables.base import VariableV2


@contextmanager
def no_leftovers() -> Iterator[None]:
    """A block whose tensors and variables end with it, without reference cycles.

    Raises:
      AssertionError: some are left, or an object was in a cycle.
    """
    reset_default_graph()  # that of the test in a graph, which has cycles
    gc.collect()
    before = {id(item) for item in _tensors()}
    flags, count = gc.get_debug(), len(gc.garbage)
    gc.set_debug(flags | gc.DEBUG_SAVEALL)
    try:
        yield
        gc.collect()
        cyclic = Counter(type(item).__name__ for item in gc.garbage[count:])
    finally:
        gc.set_debug(flags)
        del gc.garbage[count:]
    if cyclic:
        raise AssertionError(
            f"The test created {cyclic.total()} objects that only Python's garbage "
            f"collector frees, by reference cycles: {dict(cyclic)}"
        )
    left = [item for item in _tensors() if id(item) not in before]
    if left:
        raise AssertionError(f"{len(left)} Tensors not deallocated after test: {left}")


def _tensors() -> Iterator[Tensor | VariableV2]:
    for item in gc.get_objects():
        if issubclass(type(item), Tensor | VariableV2):
            yield item
