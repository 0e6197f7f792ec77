"""The traits by which an op declares its role in a graph.

The engine, shape inference and tf.gradients never identify an op by its name.  They
read class attributes of `Op`; the values of those that are not plain bools are defined
here.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Literal


class Flow(Enum):
    """The role of an op in branches and loops, for the ops that only route values."""

    SWITCH = "sends its input to one of two branches"
    MERGE = "outputs whichever of its inputs is alive"
    ENTER = "carries a value into a loop's frame"
    EXIT = "carries a value out of a loop's frame"
    NEXT_ITERATION = "carries a value to the loop's next iteration"
    LOOP_COND = "decides whether the loop iterates again"
    CONTROL_TRIGGER = "runs even if what it waits for is dead"


class Collection(Enum):
    """The role of an op of a stack or a TensorArray."""

    STACK = "creates a stack"
    PUSH = "stores one of its inputs and outputs it"
    POP = "outputs the last element and removes it"
    ARRAY = "creates a TensorArray"
    GRADIENT = "creates the TensorArray of another one's gradients"
    WRITE = "stores one of its inputs"
    READ = "outputs elements"
    SIZE = "outputs the number of elements"
    CLOSE = "frees the elements"
    OTHER = "uses the elements in a way that the engine does not analyze"

    @property
    def writes(self) -> bool:
        return self in (Collection.PUSH, Collection.WRITE)

    @property
    def reads(self) -> bool:
        return self in (Collection.POP, Collection.READ)


class Folding(IntEnum):
    """The parts of TensorFlow that fold an op of constant inputs while building."""

    NEVER = 0
    SIZES = 1  # only the computation of a single size
    SHAPES = 2  # also TensorFlow's shape functions, in C++
    PYTHON = 3  # also `tensor_util.constant_value`, which is public


class Role(Enum):
    """Ops that the engine itself inserts into steps or reports."""

    CONSTANT = "a folded value"
    IDENTITY = "a value under another name"
    NO_OP = "nothing but control edges"
    PLACEHOLDER = "an input of a function's body"


# Memory of a GPU's int32 kernel: no kernel, host memory, device memory.
Int32Kernel = Literal["", "host", "device"]
