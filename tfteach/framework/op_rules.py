"""The rules that an op may state: what it computes, and what is known before a run.

`Op` inherits them with their defaults from `Rules`; each op overrides those it needs.
The four that most have come first: `validate`, `infer_shape`, `compute`, `gradient`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from tfteach.framework.op_traits import Traits
from tfteach.framework.signature import Arg
from tfteach.framework.type_aliases import ArrayModule

if TYPE_CHECKING:
    import numpy as np

    from tfteach.framework.functions.body import Body
    from tfteach.framework.op import Op
    from tfteach.framework.operation import Operation, Tensor


class Piece(NamedTuple):
    """A part of a kernel's work: a function of one array, which it may modify.

    Attributes:
      function: of an array, which it may overwrite except in the first stage.
      scalar: an expression of `{0}` for one element, or None.
    """

    function: Callable[[Any], Any]
    scalar: str | None


class Rules(Traits):
    """The rules of an op and their defaults."""

    op_type: ClassVar[str]
    inputs: ClassVar[tuple[Arg, ...]] = ()
    outputs: ClassVar[tuple[Arg, ...]] = ()

    def validate(self) -> None:
        """Check the attributes; raises ValueError that lists the allowed values."""

    def infer_shape(self, *inputs: Any, **_: Any) -> Any:
        """The output's static shape (a list of them for several outputs).

        The arguments are one per input: its shape (a tuple or None), or as declared by
        `by_value` and `by_shape`; for `N*T` and `*Ts` a list of those.  Raises
        ValueError if the inputs can never be valid.
        """
        outputs = type(self).outputs
        return None if len(outputs) == 1 else [None] * len(outputs)

    def check_shapes(self, *inputs: Any, **_: Any) -> None:
        """Raise TensorFlow's error for shapes that the kernel does not support.

        Its parameters are shapes, named like inputs of the signature; not all need be
        listed.  `*shapes` receives all, with sequences flattened.  It is called in
        runs, before the kernel, if the static shapes of these inputs leave a doubt: the
        kernel relies on ranks and sizes, and all other programs have no extra cost.
        Checks of the inputs' values belong in the kernel.
        """

    def compute(self, *inputs: Any, **_: Any) -> Any:
        """The output array (a tuple for several), from `xp` and the input arrays.

        For a stateful op a context replaces `xp`; for `N*T` and `*Ts` the tensors are
        passed as separate arguments.
        """
        raise NotImplementedError(f"{self.op_type} has no kernel")

    def gradient(self, *inputs: Any, **_: Any) -> Any:
        """Gradients: d loss / d input for each input, None if there is none.

        The arguments are the `Operation` and the gradient with respect to each output.
        """
        raise LookupError(f"No gradient defined for operation of type {self.op_type}")

    def compute_on_card(self, xp: ArrayModule, *inputs: Any) -> Any:
        """The kernel for arrays on a GPU, if it differs from `compute`."""
        return self.compute(xp, *inputs)

    def host_part(self, first: Any, *inputs: Any) -> Any:
        """What `card_part` needs of the host in a run, for an op that `has_host_part`.

        Args:
          first: as for `compute`.
          inputs: arrays.

        Returns:
          An array of uint64 with as many elements in each run.
        """
        raise NotImplementedError(f"{self.op_type} has one part")

    def card_part(
        self, xp: ArrayModule, sizes: Sequence[int], dtype: np.dtype[Any], taken: Any
    ) -> Any:
        """The output, on a card.

        Args:
          xp: the card's array module.
          sizes: the output's shape.
          dtype: its type.
          taken: the result of `host_part`, on the host or on the card.
        """
        raise NotImplementedError(f"{self.op_type} has one part")

    def expression(self, *inputs: Any, **_: Any) -> str | None:
        """Python source that computes the output from these names, or None."""
        return None

    def scalar_expression(self, *inputs: Any, **_: Any) -> str | None:
        """The same for single floats (of one type) and bools, for a compiler.

        May call sqrt.  Integers in it have the type of the floats.
        """
        return self.expression(*inputs)

    def pieces(self, size: int, dtype: np.dtype[Any]) -> Sequence[Piece]:
        """Functions that in sequence compute the same from the one input.

        For a compiler that prefers to run an exponential separately.

        Args:
          size: the number of elements.
          dtype: their type.
        """
        return ()

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Callable[..., Any] | None:
        """A faster kernel for inputs that are constant over runs, or None.

        Args:
          xp: NumPy or CuPy.
          values: the constant values of the inputs; None if a run determines them.

        Returns:
          A function of all inputs, as `compute` after `xp`.
        """
        return None

    def work(
        self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
    ) -> tuple[int, int]:
        """Arithmetic operations, and elements read and written, for modelled times.

        Args:
          inputs, outputs: the shapes of the arrays.

        Returns:
          By default an operation for each element of the larger side; all elements.
        """
        read, made = sum(map(math.prod, inputs)), sum(map(math.prod, outputs))
        return max(read, made), read + made

    def forwards(self, inputs: list[Any], output: Any, values: list[Any]) -> int | None:
        """Index of the input that the output certainly equals, or None.

        Args:
          inputs: the static shapes of the inputs.
          output: the static shape of the output.
          values: the constant values of the inputs; None if a run determines them.
        """
        return None

    def forwards_but_signed_zeros(
        self, inputs: list[Any], output: Any, values: list[Any]
    ) -> int | None:
        """`forwards` with 0 and -0 considered equal."""
        return self.forwards(inputs, output, values)

    @property
    def constant(self) -> Any:
        """The array that is the output in every run; None unless it is a Const."""
        return None

    def shape_sources(self, op: Operation) -> Sequence[Tensor] | None:
        """The inputs whose sizes make up the output, if it is a vector of sizes.

        `joined_shape` combines them.  None if the output is computed differently.
        """
        return None

    def joined_shape(self, op: Operation, parts: list[Any]) -> Any:
        """The shape that the output denotes, given those of `shape_sources`.

        Returns:
          A tuple with None for unknown sizes; None for an unknown rank;
          NotImplemented to compute the output's value instead.
        """
        return parts[0]

    def value_for_shape(self, shape: Any) -> Any:
        """The output of an `only_metadata` op for an input of this static shape.

        Returns:
          An int or a tuple of ints; None if the shape is not known well enough.
        """
        return None

    def shape_behind(self) -> Any:
        """The declared element shape of a resource that this op creates."""
        return None

    def called_shapes(self, graph: Any, inputs: Any) -> Any:
        """The static shapes of the outputs as its function infers them, or None."""
        return None

    def returned_by_call(self, op: Any, index: int) -> Any:
        """The tensor that the function of a call returns as an output, or None.

        A tensor of the function's body, or of the call's inputs.
        """
        return None

    def list_elements(self, op: Any) -> Any:
        """The `ListElements` of the list that `op` outputs; None if unknown."""
        return None

    def stored_shape(self, shape: Any) -> Any:
        """The shape of each element that a WRITE stores, given its `stored_input`'s."""
        return shape

    def read_shape(self, element: Any, inputs: list[Any]) -> Any:
        """The shape that a READ outputs, given those of an element and its inputs."""
        return element

    def of_fixed_size(self) -> Op | None:
        """The op with as many ids as it has inputs: the others are -1.

        For an op whose first output has the distinct elements of its one input, a
        vector; None for all others.
        """
        return None

    def without_transpose(self) -> Op | None:
        """The op for a second input that was transposed before; None for most ops."""
        return None

    def constant_part(self, values: list[Any], shape: Any) -> Any:
        """The part of its first input that the output is, as a tuple of slices.

        Args:
          values: the constant values of the inputs; None if a run determines them.
          shape: the first input's static shape.

        Returns:
          The slices, one per axis; None if runs determine them, or the output is not a
          part.
        """
        return None

    def rows_read(self, *inputs: Any) -> Any:
        """The indices of the rows of its first input that the op reads.

        Args:
          inputs: arrays; a variable is its `Cell`.

        Returns:
          An array of integers; None unless the op selects rows by index.
        """
        return None

    def function_body(self, op: Operation) -> Body | None:
        """The body that replaces the node in a step; None if its kernel runs it.

        Called for ops that `calls_function`.
        """
        return None

    def fetched(self, output: Tensor, value: Any) -> Any:
        """The value that a session returns when this output is fetched."""
        return value
