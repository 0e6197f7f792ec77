"""`Optimizer`, the base class: from a loss to the op that updates variables.

`minimize` is `compute_gradients` (nodes under `gradients/`) followed by
`apply_gradients` (nodes under the optimizer's name, one `update_<variable>/` scope per
variable).
Source: python/training/optimizer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from tfteach.autodiff import gradients
from tfteach.autodiff.gradient_tape import GradientTape
from tfteach.framework import dtypes, nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import Operation, Tensor, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.indexed_slices import (
    IndexedSlices,
    convert_to_tensor_or_indexed_slices,
)
from tfteach.framework.replicas import current_mode, scaled_loss
from tfteach.framework.scope import colocate_with, name_scope, open_init_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.training.optimizer_state import OptimizerState, is_resource
from tfteach.ops.array.segment_functions import unsorted_segment_sum
from tfteach.ops.array.unique import unique
from tfteach.ops.core import shape_ops
from tfteach.ops.core.control_flow_ops import group, tuple_
from tfteach.ops.math.cast import cast
from tfteach.ops.state.ref_variables import assign_add
from tfteach.ops.state.resource_variables import AssignAddVariableOp
from tfteach.variables.base import Variable
from tfteach.variables.collections import trainable_variables
from tfteach.variables.eager import EagerReads

# In the order of TF's messages.
_VALID = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)


def sum_duplicates(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Row gradients with duplicate rows summed: the sums, and the row indices."""
    distinct, positions = unique(indices)
    rows = shape_ops.shape(distinct)[0]
    return unsorted_segment_sum(values, positions, rows), distinct


@export("train.Optimizer")
class Optimizer(OptimizerState):
    """Base of the optimizers; a rule overrides the `_apply...` methods.

    Args:
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates, and the slots' name.

    Attributes:
      GATE_NONE, GATE_OP, GATE_GRAPH: which gradients wait for each other: none, those
        of the same op, or all.

    Raises:
      ValueError: `name` is empty.

    Source: python/training/optimizer.py.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        super().__init__()
        self._use_locking = use_locking
        self._name = name

    def get_name(self) -> str:
        """The name given to the constructor."""
        return self._name

    # ---- from a loss to an op

    def minimize(
        self,
        loss: TensorLike | Callable[[], TensorLike],
        global_step: TensorLike | None = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        """An op that takes one step towards a smaller `loss`.

        In an eager program `loss` is a function, and the step is taken at once.

        Args:
          loss: float Tensor, or a function that returns one; if it is not a scalar,
            its sum is minimized.
          global_step: an integer variable to increment at each step, or None.
          var_list: the variables to update; all trainable ones if None, or those that
            the function reads.
          gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
          aggregation_method: one of `tf.AggregationMethod`.
          colocate_gradients_with_ops: put each op's gradient on the op's device.
          name: the name scope of the updates; the optimizer's name if None.
          grad_loss: the gradient of `loss`; ones if None.

        Returns:
          The Operation to run; None in an eager program.

        Raises:
          ValueError: `loss` depends on none of the variables, or there are none.
          RuntimeError: `loss` is no function in an eager program.

        Example:
          >>> train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
          >>> sess.run(train)
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method,
            colocate_gradients_with_ops, grad_loss,
        )  # fmt: skip
        if all(g is None for g, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that "
                "do not support gradients, between variables "
                f"{[str(v) for _, v in pairs]} and loss {loss!s}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: TensorLike | Callable[[], TensorLike],
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """The gradients of `loss`, the first half of `minimize`.

        The arguments are those of `minimize`.  Of a function only `var_list` and
        `grad_loss` matter.

        Returns:
          A list of (gradient, variable); the gradient is a Tensor, an IndexedSlices,
          or None where `loss` does not depend on the variable.
        """
        if callable(loss):
            return _differentiated(loss, var_list, grad_loss)
        if get_default_graph().is_eager:
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function "
                "when eager execution is enabled."
            )
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, "
                f"Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        total: Any = scaled_loss(loss)
        self._assert_valid_dtypes([total])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            variables = trainable_variables()
        else:
            variables = nest.flatten(var_list)
        targets = [_target(v) for v in variables]
        if not variables:
            raise ValueError("No variables to optimize.")
        grads = gradients(
            total,
            targets,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = tuple_(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._assert_valid_dtypes(
            [v for g, v in pairs if g is not None and v.dtype != dtypes.resource]
        )
        return pairs

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Operation:
        """An op that applies gradients, the second half of `minimize`.

        Args:
          grads_and_vars: (gradient, variable) pairs, as `compute_gradients` returns.
          global_step: an integer variable to increment, or None.
          name: the name scope of the updates; the optimizer's name if None.

        Returns:
          The Operation to run; None in an eager program, where it has run.

        Raises:
          TypeError: a gradient is not a Tensor, IndexedSlices or None.
          ValueError: no variable has a gradient.
        """
        pairs = _checked(grads_and_vars)
        variables = [v for g, v in pairs if g is not None]
        if not variables:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in pairs]}."
            )
        mode = current_mode()
        if mode is not None:
            if mode.replica_context is None:
                raise RuntimeError(
                    "Use `_distributed_apply()` instead of `apply_gradients()` in a "
                    "cross-replica context."
                )
            pairs = [(g, v) for g, v in pairs if g is not None]
            merged: Operation = mode.replica_context.merge_call(
                self._distributed_apply, args=(pairs, global_step, name)
            )
            return merged
        # Slots are created once, without the caller's control dependencies.
        with open_init_scope(get_default_graph()):
            self._create_slots(variables)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for grad, variable in pairs:
                if grad is not None:
                    with (
                        name_scope("update_" + _name_of_node(variable)),
                        colocate_with(variable),
                    ):
                        updates.append(self._update(grad, variable))
            if global_step is None:
                done = self._finish(updates, scope)
            else:
                finished = self._finish(updates, "update")
                done = _count(global_step, finished, scope)
        return _collected(done)

    def _distributed_apply(
        self,
        distribution: Any,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Any = None,
        name: str | None = None,
    ) -> Operation:
        """`apply_gradients` between replicas: of the sums of their gradients."""
        extended = distribution.extended
        pairs = list(grads_and_vars)
        variables = [variable for _, variable in pairs]
        sums = extended.batch_reduce_to("SUM", pairs)
        with open_init_scope(get_default_graph()):
            self._create_slots(variables)

        def update(variable: Any, grad: Any) -> Any:
            with name_scope("update_" + _name_of_node(variable)):
                return self._update(grad, variable)

        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [
                done
                for total, variable in zip(sums, variables, strict=True)
                for done in extended.update(variable, update, (total,), group=False)
            ]
            finished = extended.update_non_slot(
                extended.non_slot_devices(variables),
                lambda: self._finish(updates, "update"),
                group=False,
            )
            if global_step is None:
                return _collected(group(*finished, name=scope))
            with get_default_graph().control_dependencies(finished):
                counted = extended.update(global_step, assign_add, (1,), group=False)
            return _collected(group(*counted, name=scope))

    def _update(self, grad: Any, variable: Any) -> Any:
        """The op that applies one gradient."""
        is_sparse = isinstance(grad, IndexedSlices)
        if is_sparse and variable.constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        if is_resource(variable):
            if is_sparse:
                return self._resource_apply_sparse_duplicate_indices(
                    grad.values, variable, grad.indices
                )
            update = self._resource_apply_dense(grad, variable)
        elif is_sparse:
            return self._apply_sparse_duplicate_indices(grad, variable)
        else:
            update = self._apply_dense(grad, variable)
        if variable.constraint is None:
            return update
        with get_default_graph().control_dependencies([update]):
            # One node more than TF's, which passes the reference variable's existing
            # Identity and relies on its sharing the buffer with the update.
            fresh = variable if is_resource(variable) else variable.read_value()
            return variable.assign(variable.constraint(fresh))

    # ---- checks

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(
                    f"Invalid type {dtype!r} for {tensor.name}, expected: "
                    f"{list(valid)}."
                )

    def _valid_dtypes(self) -> Any:
        return _VALID

    # ---- methods for rules to override

    def _create_slots(self, var_list: list[Any]) -> None:
        """Create the slots of these variables."""

    def _prepare(self) -> None:
        """Create the tensors shared by all updates, such as the learning rate."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """The update of a reference variable by a Tensor."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """The update of a resource variable by a Tensor."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        """The update by an IndexedSlices that may have duplicate rows."""
        values, indices = sum_duplicates(grad.values, grad.indices)
        slices = IndexedSlices(values, indices, grad.dense_shape)
        return self._apply_sparse(slices, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """The update by an IndexedSlices with distinct rows."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any
    ) -> Any:
        """`_apply_sparse_duplicate_indices` for a resource variable."""
        values, unique = sum_duplicates(grad, indices)
        return self._resource_apply_sparse(values, handle, unique)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """`_apply_sparse` for a resource variable."""
        raise NotImplementedError

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """The op that finishes once all updates have run."""
        return group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param


def _differentiated(
    loss: Callable[[], Any], var_list: Any, grad_loss: Any
) -> list[tuple[Any, Any]]:
    """The gradients of what a function returns, and the variables."""
    with GradientTape() as tape:
        if var_list is not None:
            tape.watch(var_list)
        value = loss()
    if var_list is None:
        var_list = tape.watched_variables()
    with get_default_graph().control_dependencies([value]):
        grads = tape.gradient(value, var_list, grad_loss)
    return list(zip(grads, var_list, strict=False))


def _name_of_node(variable: Any) -> str:
    """The name of a variable's node; "" of an eager one, which has none."""
    name: str = "" if isinstance(variable, EagerReads) else variable.op.name
    return name


def hyper(value: Any, name: str) -> Tensor:
    """A hyperparameter (a number, Tensor, or callable) as a Tensor."""
    is_function = callable(value) and not isinstance(value, Tensor | Variable)
    return convert(value() if is_function else value, name=name)


def cast_all(values: Sequence[Any], like: Any) -> list[Any]:
    """Each value cast to the element type of `like`."""
    dtype = like.dtype.base_dtype
    return [cast(value, dtype) for value in values]


def _target(variable: Any) -> Any:
    """The tensor to differentiate with respect to."""
    if isinstance(variable, Variable):
        return variable if is_resource(variable) else variable._ref()  # type: ignore[attr-defined]
    if isinstance(variable, Tensor):
        return variable
    raise NotImplementedError("Trying to optimize unsupported type ", variable)


def _checked(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    checked = []
    for grad, variable in tuple(pairs):
        if grad is not None:
            try:
                grad = convert_to_tensor_or_indexed_slices(grad)
            except TypeError:
                raise TypeError(
                    "Gradient must be convertible to a Tensor or IndexedSlices, or "
                    f"None: {grad}"
                ) from None
        if isinstance(variable, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        if not isinstance(variable, Variable):
            raise NotImplementedError("Trying to optimize unsupported type ", variable)
        checked.append((grad, variable))
    if not checked:
        raise ValueError("No variables provided.")
    return checked


def _collected(done: Any) -> Operation:
    """The Operation of a step, which is added to the collection of these."""
    graph = get_default_graph()
    train: Operation = done.op if isinstance(done, Tensor) else done
    if not graph.is_eager and train not in graph.collection_list(GraphKeys.TRAIN_OP):
        graph.add_to_collection(GraphKeys.TRAIN_OP, train)
    return train


def _count(global_step: Any, finished: Any, name: str) -> Any:
    """Increment the global step after the updates; returns the op (or Tensor)."""
    with ExitStack() as stack:
        stack.enter_context(get_default_graph().control_dependencies([finished]))
        stack.enter_context(colocate_with(global_step))
        if isinstance(global_step, Variable) and is_resource(global_step):
            one = convert(1, dtype=global_step.dtype.base_dtype)
            return AssignAddVariableOp()(global_step.handle, one, name=name)  # type: ignore[attr-defined]
        return assign_add(global_step, 1, name=name)
