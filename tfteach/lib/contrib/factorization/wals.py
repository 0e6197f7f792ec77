"""The factors of a sparse matrix as an Estimator: `WALSMatrixFactorization`.

A sweep computes the factors of all rows, or those of all columns, batch by batch;
sweeps over rows and over columns alternate.

Source: contrib/factorization/python/ops/wals.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tfteach.control.branch import cond
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import bool_, int32
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, get_collection
from tfteach.framework.type_aliases import Array, PathLike
from tfteach.lib.contrib.factorization.wals_model import WALSModel
from tfteach.lib.contrib.factorization.wals_shards import Initial, Weights
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.keys import ModeKeys
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import InputFn
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.fill import fill, ones_like
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import logical_not
from tfteach.ops.math.reduce_functions import reduce_all
from tfteach.ops.math.unary import sqrt
from tfteach.ops.state.ref_variables import assign, assign_add
from tfteach.ops.state.scatter_functions import scatter_update
from tfteach.variables.base import Variable

# The new factors, the op that assigns them, loss, loss of regularization, weights.
_Update = Callable[[SparseTensor], tuple[Tensor, Operation, Tensor, Tensor, Tensor]]


def _variable(value: Any, name: str) -> Any:
    make: Any = Variable  # the metaclass makes the kind of the variable scope
    return make(
        value,
        collections=[GraphKeys.GLOBAL_VARIABLES],
        trainable=False,
        name=name,
    )


class SweepHook(SessionRunHook):
    """Makes each run a step of the sweep over rows or columns whose turn it is.

    Args:
      is_row_sweep_var: a bool variable, whether rows are updated.
      is_sweep_done_var: a bool variable, whether all of them have been.
      init_op: runs once, before the first step.
      row_prep_ops: run in this order before a sweep over the rows.
      col_prep_ops: the same for the columns.
      row_train_op: a step of the sweep over the rows.
      col_train_op: a step of the sweep over the columns.
      switch_op: begins the next sweep.
    """

    def __init__(
        self,
        is_row_sweep_var: Any,
        is_sweep_done_var: Any,
        init_op: Operation | Tensor,
        row_prep_ops: Sequence[Operation | Tensor],
        col_prep_ops: Sequence[Operation | Tensor],
        row_train_op: Operation | Tensor,
        col_train_op: Operation | Tensor,
        switch_op: Operation | Tensor,
    ) -> None:
        self._is_row_sweep_var = is_row_sweep_var
        self._is_sweep_done_var = is_sweep_done_var
        self._init_op, self._switch_op = init_op, switch_op
        self._row_prep_ops, self._col_prep_ops = row_prep_ops, col_prep_ops
        self._row_train_op, self._col_train_op = row_train_op, col_train_op
        self._is_initialized = False

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Begin a sweep if one is due; fetch its step."""
        session, log = run_context.session, get_logger()
        is_done, is_row_sweep = session.run(
            [self._is_sweep_done_var, self._is_row_sweep_var]
        )
        if not self._is_initialized:
            log.info("SweepHook running init op.")
            session.run(self._init_op)
        if is_done:
            log.info("SweepHook starting the next sweep.")
            session.run(self._switch_op)
            is_row_sweep = session.run(self._is_row_sweep_var)
        axis = "row" if is_row_sweep else "col"
        if is_done or not self._is_initialized:
            log.info("SweepHook running prep ops for the %s sweep.", axis)
            for op in self._row_prep_ops if is_row_sweep else self._col_prep_ops:
                session.run(op)
        self._is_initialized = True
        log.info("Next fit step starting.")
        return SessionRunArgs(
            [self._row_train_op if is_row_sweep else self._col_train_op]
        )


class _IncrementGlobalStepHook(SessionRunHook):
    """Each run increments the global step."""

    def __init__(self) -> None:
        incremented = assign_add(get_global_step(), 1, name="global_step_incr")
        self._op: Operation = incremented.op

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the op."""
        return SessionRunArgs(self._op)


class StopAtSweepHook(SessionRunHook):
    """Ends the training after some sweeps.

    Args:
      last_sweep: the number of sweeps, those over rows and those over columns.

    Raises:
      RuntimeError: the graph has no variable `completed_sweeps`; when used.
    """

    def __init__(self, last_sweep: int) -> None:
        self._last_sweep = last_sweep

    def begin(self) -> None:
        """Find the variable that counts sweeps."""
        name = WALSMatrixFactorization.COMPLETED_SWEEPS
        for variable in get_collection(GraphKeys.GLOBAL_VARIABLES):
            if variable.op.name == name:
                self._completed_sweeps = variable
                return
        raise RuntimeError(f"{name} counter should be created to use StopAtSweepHook.")

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Stop after the last sweep."""
        # Fetched beside the step, the number might be that before the step.
        if run_context.session.run(self._completed_sweeps) >= self._last_sweep:
            run_context.request_stop()


class _Training(NamedTuple):
    """What a step of a sweep updates: variables.

    Attributes:
      is_sweep_done: bool, whether all rows, or all columns, are updated.
      completed_sweeps: int32, the number of sweeps.
      loss: float32, of the last batch, extrapolated to the matrix.
      error: float32, the root of the mean of the weighted squares of errors.
    """

    is_sweep_done: Any
    completed_sweeps: Any
    loss: Any
    error: Any

    def step(
        self, entries: SparseTensor, count: int, update: _Update, axis: str
    ) -> tuple[Operation, Operation]:
        """The op of a step, and one that forgets which rows or columns are done."""
        none = fill([count], False)
        with get_default_graph().colocate_with(none):
            done = _variable(none, f"processed_{axis}")
        _, update_op, loss, penalty, weights = update(entries)
        indices = entries.indices[:, 0]
        ops: list[Any] = [update_op, assign(self.loss, loss + penalty)]
        ops.append(assign(self.error, sqrt(loss / weights)))
        with control_dependencies(ops), get_default_graph().colocate_with(done):
            name = f"update_processed_{axis}_indices"
            marks = ones_like(indices, dtype=bool_)
            ops.append(scatter_update(done, indices, marks, name=name))
        with control_dependencies(ops):
            is_done = reduce_all(done)
            ops.append(assign(self.is_sweep_done, is_done))
            ops.append(assign_add(self.completed_sweeps, cast(is_done, int32)))
        return group(*ops, name=f"{axis}_sweep_train_op"), done.initializer


class _Arguments(NamedTuple):
    """The arguments of `WALSMatrixFactorization` that a model has."""

    num_rows: int
    num_cols: int
    embedding_dimension: int
    unobserved_weight: float
    regularization_coeff: float | None
    row_init: Initial
    col_init: Initial
    num_row_shards: int
    num_col_shards: int
    row_weights: Weights
    col_weights: Weights
    use_factors_weights_cache: bool
    use_gramian_cache: bool


def _train(
    model: WALSModel, features: Any, given: _Arguments, max_sweeps: int | None
) -> ModelFnOps:
    names = WALSMatrixFactorization
    is_row_sweep = _variable(True, "is_row_sweep")
    training = _Training(
        _variable(False, "is_sweep_done"),
        _variable(0, names.COMPLETED_SWEEPS),
        _variable(0.0, names.LOSS),
        _variable(0.0, names.RWSE),
    )
    scalar("loss", training.loss)
    scalar("root_weighted_squared_error", training.error)
    scalar("completed_sweeps", training.completed_sweeps)
    row_step, reset_rows = training.step(
        features[names.INPUT_ROWS], given.num_rows, model.update_row_factors, "rows"
    )
    col_step, reset_cols = training.step(
        features[names.INPUT_COLS],
        given.num_cols,
        lambda entries: model.update_col_factors(entries, transpose_input=True),
        "cols",
    )
    switch_op = group(
        assign(is_row_sweep, logical_not(is_row_sweep)), reset_rows, reset_cols,
        name="sweep_switch_op",
    )  # fmt: skip
    hooks: list[SessionRunHook] = [
        SweepHook(
            is_row_sweep,
            training.is_sweep_done,
            model.worker_init,
            [model.row_update_prep_gramian_op, model.initialize_row_update_op],
            [model.col_update_prep_gramian_op, model.initialize_col_update_op],
            row_step,
            col_step,
            switch_op,
        ),
        _IncrementGlobalStepHook(),
    ]
    if max_sweeps is not None:
        hooks.append(StopAtSweepHook(max_sweeps))
    return ModelFnOps(
        ModeKeys.TRAIN, {}, training.loss, no_op(), {}, training_hooks=hooks
    )


def _projected(model: WALSModel, features: Any) -> ModelFnOps:
    names = WALSMatrixFactorization
    weights = features.get(names.PROJECTION_WEIGHTS)
    rows, cols = features[names.INPUT_ROWS], features[names.INPUT_COLS]
    found = cond(
        features[names.PROJECT_ROW],
        lambda: model.project_row_factors(rows, projection_weights=weights),
        lambda: model.project_col_factors(
            cols, projection_weights=weights, transpose_input=True
        ),
    )
    return ModelFnOps(
        ModeKeys.INFER, {names.PROJECTION_RESULT: found}, None, no_op(), {}
    )


def _evaluated(model: WALSModel, features: Any) -> ModelFnOps:
    names = WALSMatrixFactorization
    rows, cols = features[names.INPUT_ROWS], features[names.INPUT_COLS]

    def row_loss() -> Any:
        _, _, loss, penalty, _ = model.update_row_factors(rows)
        return loss + penalty

    def col_loss() -> Any:
        _, _, loss, penalty, _ = model.update_col_factors(cols, transpose_input=True)
        return loss + penalty

    loss = cond(features[names.PROJECT_ROW], row_loss, col_loss)
    return ModelFnOps(ModeKeys.EVAL, {}, loss, no_op(), {})


def _model(features: Any, mode: str, given: _Arguments, sweeps: Any) -> ModelFnOps:
    """The model of a mode.

    Raises:
      AssertionError: rows or columns are no SparseTensors.
      KeyError: a feature is missing.
    """
    names, is_training = WALSMatrixFactorization, mode == ModeKeys.TRAIN
    for name in (names.INPUT_ROWS, names.INPUT_COLS):
        assert isinstance(features[name], SparseTensor), name
    model = WALSModel(
        given.num_rows,
        given.num_cols,
        given.embedding_dimension,
        given.unobserved_weight,
        given.regularization_coeff,
        given.row_init,
        given.col_init,
        given.num_row_shards,
        given.num_col_shards,
        given.row_weights,
        given.col_weights,
        given.use_factors_weights_cache and is_training,
        given.use_gramian_cache and is_training,
    )
    if is_training:
        return _train(model, features, given, sweeps)
    make = _projected if mode == ModeKeys.INFER else _evaluated
    return make(model, features)


@export("contrib.factorization.WALSMatrixFactorization")
class WALSMatrixFactorization(Estimator):
    """Factorizes a sparse matrix by weighted alternating least squares.

    An `input_fn` returns None for the labels and a dict of features: `INPUT_ROWS`, some
    rows of the matrix, and `INPUT_COLS`, some rows of its transpose: float32
    SparseTensors.  The indices of both are those of the whole matrix.  To evaluate and
    to project, it also has `PROJECT_ROW`, a bool Tensor that says which of them counts,
    and may have `PROJECTION_WEIGHTS`, the weights of its rows.

    Args:
      num_rows: the number of rows of the matrix.
      num_cols: the number of its columns.
      embedding_dimension: the number of factors of a row.
      unobserved_weight: the weight of entries that are not observed.
      regularization_coeff: the factor of the factors' squares; None for none.
      row_init, col_init, num_row_shards, num_col_shards, row_weights, col_weights: see
        `tf.contrib.factorization.WALSModel`.
      use_factors_weights_cache_for_training: whether workers read local copies of
        factors and weights.
      use_gramian_cache_for_training: whether they read local copies of the Gramians.
      max_sweeps: the number of sweeps, over rows or columns, that ends the training;
        None for no end.
      model_dir: the directory of checkpoints and event files.
      config: a `tf.contrib.learn.RunConfig`.

    Raises:
      ValueError: `config` has several workers.

    Example:
      >>> model = tf.contrib.factorization.WALSMatrixFactorization(
      ...     5, 7, embedding_dimension=3, max_sweeps=8)
      >>> def input_fn():
      ...     return {"input_rows": a, "input_cols": tf.sparse.transpose(a)}, None
      >>> model.fit(input_fn=input_fn)
      >>> model.get_row_factors()

    Source: contrib/factorization/python/ops/wals.py.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Initial = "random",
        col_init: Initial = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Weights = 1,
        col_weights: Weights = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: PathLike | None = None,
        config: RunConfig | None = None,
    ) -> None:
        if config is not None and config.num_worker_replicas > 1:
            raise ValueError(
                "WALSMatrixFactorization must be run on a single worker replica."
            )
        given = _Arguments(
            num_rows, num_cols, embedding_dimension, unobserved_weight,
            regularization_coeff, row_init, col_init, num_row_shards, num_col_shards,
            row_weights, col_weights, use_factors_weights_cache_for_training,
            use_gramian_cache_for_training,
        )  # fmt: skip
        self._row_shards, self._col_shards = num_row_shards, num_col_shards

        def model_fn(features: Any, labels: object, mode: str) -> ModelFnOps:
            assert labels is None
            return _model(features, mode, given, max_sweeps)

        super().__init__(model_fn, model_dir, config)

    def get_row_factors(self) -> list[Array]:
        """The rows' factors, float32 [rows of the shard, embedding_dimension] each.

        Raises:
          ValueError: there is no checkpoint.
        """
        return self._factors("row", self._row_shards)

    def get_col_factors(self) -> list[Array]:
        """The columns' factors; see `get_row_factors`."""
        return self._factors("col", self._col_shards)

    def _factors(self, axis: str, count: int) -> list[Array]:
        names = (f"{axis}_factors_shard_{i}" for i in range(count))
        return [self.get_variable_value(name) for name in names]

    def get_projections(self, input_fn: InputFn) -> Iterator[Array]:
        """Yield the factors that each row, or each column, of the input would have.

        Args:
          input_fn: returns features with `PROJECT_ROW`; see the class.

        Raises:
          NotFittedError: there is no checkpoint.
          KeyError: a feature is missing.
        """
        found: Any = self.predict(
            input_fn=input_fn, outputs=[self.PROJECTION_RESULT], as_iterable=True
        )
        return (prediction[self.PROJECTION_RESULT] for prediction in found)
