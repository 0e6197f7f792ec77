"""The traits by which an op declares its role in a graph.

The engine, shape inference and tf.gradients never identify an op by its name.  They
read class attributes of `Op`, which inherits their defaults from `Traits`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import ClassVar, Literal


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


class Traits:
    """The traits of an op, with the values that hold for most ops."""

    is_stateful: ClassVar[bool] = False
    # Whether its kernel gets a context (resources, functions) although it has no state.
    needs_context: ClassVar[bool] = False
    # Whether an output may share memory with an input or with the session's state.
    aliases: ClassVar[bool] = False
    # Inputs passed to `infer_shape` as constant values (an array, or None if unknown),
    # and as partly known shapes, instead of as static shapes.
    by_value: ClassVar[tuple[str, ...]] = ()
    by_shape: ClassVar[tuple[str, ...]] = ()
    # Inputs passed to `infer_shape` as arrays if constant, else as static shapes.
    by_value_or_shape: ClassVar[tuple[str, ...]] = ()
    # Inputs passed to it as (static shape, element type).
    by_type: ClassVar[tuple[str, ...]] = ()
    # Tensor lists passed to it as (static shape, `ListElements` or None).
    by_list: ClassVar[tuple[str, ...]] = ()
    # Resource inputs passed to `infer_shape` as the shape of their variable.
    by_handle: ClassVar[tuple[str, ...]] = ()
    # Whether the kernel reads only its inputs' shapes (and their type).
    reads_only_shapes: ClassVar[bool] = False
    # Whether the kernel only looks up a resource of the session (a variable's buffer):
    # it then runs once, when a step is compiled.
    returns_handle: ClassVar[bool] = False
    # Inputs that a GPU kernel reads in host memory (shapes, axes).
    host_inputs: ClassVar[tuple[str, ...]] = ()
    # Whether output[i] depends only on the inputs' elements i.
    is_elementwise: ClassVar[bool] = False
    # How a card computes an element, with {0}, {1} for those of the inputs, for ops
    # without a scalar expression (framework/cuda_source.py).
    card_formula: ClassVar[str | None] = None
    # The input that has ids of rows: on cards it ignores rows outside of the variable,
    # or outputs zeros for them.  The others have as many rows.
    row_ids: ClassVar[str] = ""
    # The input that says how many rows its output has; rows that it makes no use of are
    # zeros.
    segment_count: ClassVar[str] = ""
    # Whether its kernel for cards consists of `host_part`, which alone has a state and
    # reads the inputs, all of which are in host memory, and `card_part`.
    has_host_part: ClassVar[bool] = False
    # Whether it only converts elements to another type.
    converts: ClassVar[bool] = False
    # Whether its work should be divided among the cores (framework/threads.py).
    is_heavy: ClassVar[bool] = False
    # Whether the kernel asks for its epilogue (framework/epilogue.py).
    takes_epilogue: ClassVar[bool] = False
    # Whether TensorFlow's traces contain a row for the kernel.
    is_expensive: ClassVar[bool] = True
    # Whether the kernel exists for GPUs.
    on_gpu: ClassVar[bool] = True
    # Whether the kernel calls a user's function, which may have any effect.
    calls_python: ClassVar[bool] = False
    # Whether the kernel reads or writes files.
    uses_files: ClassVar[bool] = False
    # Whether the kernel may wait for another run, or another op of the step.
    may_wait: ClassVar[bool] = False
    # Whether it waits for another process, which may wait for other ops of the step.
    waits_for_peers: ClassVar[bool] = False
    # Whether it exchanges values with another process that may be of branches that are
    # not taken: it then runs although its input is dead, or outputs a dead value.
    exchanges_dead: ClassVar[bool] = False
    # Whether its output is a back edge of a loop.
    closes_loop: ClassVar[bool] = False
    # Whether most elements of its output are assumed to be 0.
    is_mostly_zero: ClassVar[bool] = False
    # Whether `check_shapes` reads only ranks, so that known ranks suffice.
    checks_only_ranks: ClassVar[bool] = False
    # Whether the kernel may be skipped in favour of its inputs' constants.
    is_foldable: ClassVar[bool] = True
    # The parts of TensorFlow that fold the op while building, if its inputs are
    # constant.
    folds_while_building: ClassVar[Folding] = Folding.NEVER

    # Its role in branches and loops; None for an op that computes something.
    flow: ClassVar[Flow | None] = None
    # Its role in stacks and TensorArrays; None for other ops.
    collection_role: ClassVar[Collection | None] = None
    # The input that a PUSH or WRITE stores.
    stored_input: ClassVar[int] = 0
    # Whether its one output is its input, unchanged, so that passes may bypass it.
    forwards_input: ClassVar[bool] = False
    # Whether its work may be a function's body, which replaces the node in a step.
    calls_function: ClassVar[bool] = False
    # Whether it waits for the branch or iteration that it is built in, whatever its
    # inputs.
    waits_for_context: ClassVar[bool] = False
    # Whether it outputs its attribute `value`.
    holds_value: ClassVar[bool] = False
    # Whether its kernel does nothing, so that only its control edges count.
    does_nothing: ClassVar[bool] = False
    # Whether it writes files that a failed run has to delete.
    writes_scratch_files: ClassVar[bool] = False
    # Whether its value can only be fed.
    must_be_fed: ClassVar[bool] = False
    # Whether it takes a variable by reference and leaves its value as it is.
    keeps_reference: ClassVar[bool] = False
    # Whether it reads the variable of a resource handle.
    reads_variable: ClassVar[bool] = False
    # Whether it forwards its first input, a resource handle.
    passes_handle: ClassVar[bool] = False
    # Whether output i is the handle of input i, where that is a resource.
    passes_handles: ClassVar[bool] = False
    # Whether its first output is a tensor list with elements of the same type and shape
    # as its first input.
    passes_list: ClassVar[bool] = False
    # Whether gradients stop here without an error.
    stops_gradients: ClassVar[bool] = False
    # Outputs for which the rule accepts None, where a tape would compute zeros.
    needs_no_zeros: ClassVar[tuple[int, ...]] = ()
    # Whether output i is the shape of input i.
    outputs_shape: ClassVar[bool] = False
    # Whether the output is the vector of its scalar inputs.
    stacks_scalars: ClassVar[bool] = False

    # Whether it reads only its inputs' shapes, which are never copied for it.
    only_metadata: ClassVar[bool] = False
    # Whether TensorFlow colocates it with its input.
    beside_input: ClassVar[bool] = False
    # Whether its GPU kernel computes in host memory, for all types.
    host_on_gpu: ClassVar[bool] = False
    # The only types of its kernel for GPUs, which computes in host memory.
    host_types_on_gpu: ClassVar[frozenset[str]] = frozenset()
    # Memory in which its int32 GPU kernel computes; "" if there is none.
    int32_on_gpu: ClassVar[Int32Kernel] = ""
    # Whether it has a GPU kernel although variants have none: they hold its arrays.
    variants_on_gpu: ClassVar[bool] = False
    # Whether its GPU kernel also accepts strings, which stay in host memory.
    strings_on_gpu: ClassVar[bool] = False

    # The minimum of int attributes, and the minimum length of lists or of attributes
    # that denote lists of inputs, where TF's definition has one (`N*T`: or 1).
    minimum: ClassVar[Mapping[str, int]] = {}
    # The ranks of inputs that are not passed to `infer_shape` as shapes; `1` means rank
    # 1, `(0, 1)` both.
    ranks: ClassVar[Mapping[str, int | tuple[int, ...]]] = {}
