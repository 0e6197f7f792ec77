"""`tf.train.SyncReplicasOptimizer`: one update by the mean of all workers' gradients.

Each worker adds its gradients to accumulators that stand beside the variables.  One
thread, of the chief, takes the means, applies them, and puts a token with the new
global step into a queue for each worker, which waits for one: the barrier.
Source: python/training/sync_replicas_optimizer.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import (
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from tfteach.framework.type_aliases import SessionLike, TensorLike
from tfteach.lib.queues.coordinator import Coordinator
from tfteach.lib.queues.queue_runner import QueueRunner
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.moving_averages import ExponentialMovingAverage
from tfteach.lib.training.optimizer import Optimizer
from tfteach.lib.training.session_manager import missing_variables
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.fill import fill
from tfteach.ops.queues.conditional_accumulator import (
    ConditionalAccumulator,
    SparseConditionalAccumulator,
)
from tfteach.ops.queues.queues import FIFOQueue
from tfteach.ops.state.ref_variables import assign
from tfteach.variables.base import Variable
from tfteach.variables.collections import (
    global_variables,
    report_uninitialized_variables,
)


@export("train.SyncReplicasOptimizer")
class SyncReplicasOptimizer(Optimizer):
    """Applies the mean of the gradients of several workers, all of the same step.

    Gradients of an earlier step are dropped.  With more workers than
    `replicas_to_aggregate` the slowest are backups, whose gradients come too late; with
    fewer, each computes several batches for an update.

    Args:
      opt: the Optimizer that computes and applies gradients.
      replicas_to_aggregate: the number of gradients in the mean.
      total_num_replicas: the number of workers; None for `replicas_to_aggregate`.
      variable_averages: a `tf.train.ExponentialMovingAverage` to update after each
        step, or None.
      variables_to_average: the variables that it averages.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the accumulators' ops.

    Attributes:
      chief_init_op: what the chief runs before training; after `apply_gradients`.
      local_step_init_op: the same for the other workers.
      ready_for_local_init_op: the names of the variables that these need.

    Example:
      >>> sgd = tf.train.GradientDescentOptimizer(0.1)
      >>> sync = tf.train.SyncReplicasOptimizer(sgd, replicas_to_aggregate=2)
      >>> train = sync.minimize(loss, global_step=tf.train.get_global_step())
      >>> hook = sync.make_session_run_hook(is_chief)
      >>> with tf.train.MonitoredTrainingSession(
      ...     server.target, is_chief, hooks=[hook]
      ... ) as session:
      ...     while not session.should_stop():
      ...         session.run(train)

    Source: python/training/sync_replicas_optimizer.py.
    """

    chief_init_op: Operation
    local_step_init_op: Any
    ready_for_local_init_op: Tensor

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Sequence[Any] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        super().__init__(use_locking, name)
        get_logger().info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total_num_replicas,
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._gradients_applied = False
        self._global_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner: QueueRunner | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """The gradients of this worker, as the wrapped optimizer computes them.

        Here is the place to clip them: before the mean, so that no worker's dominate.

        Args:
          *args, **kwargs: as for `Optimizer.compute_gradients`.
        """
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Any:
        """A Tensor that adds this worker's gradients and waits for the next step.

        Args:
          grads_and_vars: (gradient, variable) pairs, as `compute_gradients` returns.
          global_step: the integer variable that counts the updates.
          name: unused, as in TensorFlow.

        Returns:
          What a worker runs at each step: the step of its next gradients.

        Raises:
          ValueError: there are no pairs, no `global_step`, or no gradient of a known
            kind.
        """
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = step = cast(Variable, global_step)
        anchor = no_op()
        with colocate_with(anchor):  # on the worker, not on a parameter server
            make: Any = Variable  # its metaclass accepts the arguments
            self._local_step = make(
                0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = assign(self._local_step, step)
        self.ready_for_local_init_op = report_uninitialized_variables(
            global_variables()
        )
        with name_scope(None, self._name):
            accumulators = []
            added = []
            means = []
            for grad, var in grads_and_vars:
                with device(var.device):
                    if grad is None:
                        means.append((None, var))
                        continue
                    accumulator, add, mean = self._accumulated(grad, var)
                    accumulators.append((accumulator, var.device))
                    added.append(add)
                    means.append((mean, var))
            with _root_beside(step):
                update = self._opt.apply_gradients(means, step)
            with _root_beside(step):
                train = self._synchronized(added, update)
            init = [self.local_step_init_op]
            for accumulator, place in accumulators:
                with device(place):
                    init.append(accumulator.set_global_step(step, name="SetGlobalStep"))
            self.chief_init_op = group(*init)
            self._gradients_applied = True
            return train

    def _accumulated(self, grad: Any, var: Any) -> tuple[Any, Operation, Any]:
        """The accumulator of a gradient, the op that adds to it, and the mean."""
        required = self._replicas_to_aggregate
        name = f"{var.name}/grad_accum"
        if isinstance(grad, Tensor):
            dense = ConditionalAccumulator(
                grad.dtype, shape=var.get_shape(), shared_name=name
            )
            add = dense.apply_grad(grad, local_step=self._local_step)
            return dense, add, dense.take_grad(required)
        if not isinstance(grad, IndexedSlices):
            raise ValueError("Unknown grad type!")
        rows = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=name)
        add = rows.apply_indexed_slices_grad(grad, local_step=self._local_step)
        return rows, add, rows.take_indexed_slices_grad(required)

    def _synchronized(self, added: list[Operation], update: Operation) -> Any:
        """Make the queue of tokens, and the chief's runner that fills it.

        Returns:
          What a worker runs: it waits for a token once its gradients are added.
        """
        step = self._global_step
        tokens = FIFOQueue(
            -1,
            step.dtype.base_dtype,
            shapes=(),
            name="sync_token_q",
            shared_name="sync_token_q",
        )
        self._sync_token_queue = tokens
        # The runner closes its queue when it ends, which the workers' must survive.
        dummy = FIFOQueue(
            1, int32, shapes=(), name="dummy_queue", shared_name="dummy_queue"
        )
        with control_dependencies(added):
            token: Any = tokens.dequeue()
        train = assign(self._local_step, token)
        with control_dependencies([update]):
            sync: Any = tokens.enqueue_many((fill([self._tokens_per_step], step),))
        if self._variable_averages is not None:
            with control_dependencies([sync]), name_scope(""):
                sync = self._variable_averages.apply(self._variables_to_average)
        self._chief_queue_runner = QueueRunner(dummy, [sync])
        return train

    def get_chief_queue_runner(self) -> QueueRunner:
        """The QueueRunner of the chief: applies the means, hands out tokens.

        Raises:
          ValueError: there was no `apply_gradients` yet.
        """
        if self._chief_queue_runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """The op by which the chief hands out the first tokens.

        Args:
          num_tokens: how many; -1 for `replicas_to_aggregate`.

        Raises:
          ValueError: there was no `apply_gradients` yet, or so few tokens do not
            suffice for the first step.
        """
        if not self._gradients_applied:
            raise ValueError(
                "get_init_tokens_op() should be called after apply_gradients()."
            )
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs "
                f"{needed} (needed)"
            )
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with _root_beside(self._global_step):
            tokens = fill([num_tokens], self._global_step)
            made: Operation = self._sync_token_queue.enqueue_many((tokens,))
        return made

    def make_session_run_hook(
        self, is_chief: bool, num_tokens: int = -1
    ) -> SessionRunHook:
        """The hook by which a MonitoredSession trains with this optimizer.

        Args:
          is_chief: whether it is the chief's.
          num_tokens: as for `get_init_tokens_op`.
        """
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)

    # ---- of the wrapped optimizer

    def get_slot(self, *args: Any, **kwargs: Any) -> Variable | None:
        """`get_slot` of the wrapped optimizer."""
        slot: Variable | None = self._opt.get_slot(*args, **kwargs)
        return slot

    def variables(self) -> list[Any]:
        """The variables of the wrapped optimizer."""
        return self._opt.variables()

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """`get_slot_names` of the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)


@contextmanager
def _root_beside(variable: Any) -> Iterator[None]:
    """A block whose ops stand on the variable's device, in no name scope."""
    with device(variable.device), name_scope(""):
        yield


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Prepares a session: the chief's also starts the thread that updates."""

    def __init__(
        self, sync_optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int
    ) -> None:
        self._sync_optimizer = sync_optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using "
                "the hook."
            )
        self._local_init_op = optimizer.local_step_init_op
        self._init_tokens_op: Operation | None = None
        self._q_runner: QueueRunner | None = None
        if self._is_chief:
            self._local_init_op = optimizer.chief_init_op
            self._q_runner = optimizer.get_chief_queue_runner()
            self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens)

    def after_create_session(self, session: SessionLike, coord: Coordinator) -> None:
        missing = missing_variables(
            self._sync_optimizer.ready_for_local_init_op,
            session,
            "Model is not ready for SyncReplicasOptimizer local init.",
        )
        if missing is not None:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer "
                f"local_init. Init op: {self._local_init_op.name}, error: {missing}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord=coord, daemon=True, start=True)
