"""`tf.contrib.factorization.WALSModel`: the factors of a sparse matrix.

Source: contrib/factorization/python/ops/factorization_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.factorization.wals_shards import (
    Initial,
    Shards,
    Weights,
    factor_shards,
    gramian_of,
    group_of,
    prepared_gramian,
    shard_size,
    weight_shards,
)
from tfteach.lib.contrib.factorization.wals_update import Side, WalsUpdate, updated
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.linalg.matrix_diag import eye
from tfteach.variables.collections import variables_initializer


@export("contrib.factorization.WALSModel")
class WALSModel:
    """Factorizes a sparse matrix by weighted alternating least squares.

    The model finds U [input_rows, n_components] and V [input_cols, n_components] for
    which the sum of w_ij (A_ij - u_i v_j)^2 over all entries is least, plus
    regularization * (|U|^2 + |V|^2).  Entries that are not in A count as 0, with the
    weight `unobserved_weight`; observed ones have unobserved_weight +
    row_weights[i] * col_weights[j].

    Args:
      input_rows: the number of rows of the matrix.
      input_cols: the number of its columns.
      n_components: the number of factors of a row.
      unobserved_weight: the weight of entries that are not observed.
      regularization: the factor of the factors' squares; None for none.
      row_init: the rows' first factors: "random" for normal ones, an array
        [input_rows, n_components], or a list of an array for each shard.
      col_init: the columns' first factors.
      num_row_shards: the number of variables that share the rows' factors.
      num_col_shards: that of the columns.
      row_weights: a number, an array [input_rows], or a list of an array for each
        shard; None, as for the columns, for alternating least squares without weights.
      col_weights: the columns' weights.
      use_factors_weights_cache: whether workers read local copies of factors and
        weights.
      use_gramian_cache: whether they read local copies of the Gramians.
      use_scoped_vars: whether variables have names below the current name scope.

    Example:
      >>> model = tf.contrib.factorization.WALSModel(5, 7, 3, regularization=0.01)
      >>> row_update = model.update_row_factors(sparse)[1]
      >>> col_update = model.update_col_factors(sparse)[1]
      >>> with tf.Session() as session:
      ...     session.run(model.initialize_op)
      ...     session.run(model.worker_init)
      ...     for _ in range(20):
      ...         session.run(model.row_update_prep_gramian_op)
      ...         session.run(model.initialize_row_update_op)
      ...         session.run(row_update)
      ...         session.run(model.col_update_prep_gramian_op)
      ...         session.run(model.initialize_col_update_op)
      ...         session.run(col_update)

    Source: contrib/factorization/python/ops/factorization_ops.py; Y. Hu and others,
    "Collaborative Filtering for Implicit Feedback Datasets" (2008).
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Initial = "random",
        col_init: Initial = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Weights = 1,
        col_weights: Weights = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ) -> None:
        if use_scoped_vars:
            raise NotImplementedError(
                "WALSModel(use_scoped_vars=True): make the model in a "
                "tf.variable_scope of its own"
            )
        self._input_rows, self._input_cols = input_rows, input_cols
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        penalty = None
        if regularization is not None:
            penalty = regularization * eye(n_components)
        if (row_weights is None) != (col_weights is None):
            raise ValueError("row_weights and col_weights must both be None, or none")
        self._row_weights = weight_shards(
            row_weights, input_rows, num_row_shards, "row_weights"
        )
        self._col_weights = weight_shards(
            col_weights, input_cols, num_col_shards, "col_weights"
        )
        self._row_factors = factor_shards(
            input_rows, n_components, num_row_shards, row_init, "row_factors"
        )
        self._col_factors = factor_shards(
            input_cols, n_components, num_col_shards, col_init, "col_factors"
        )
        self._row_gramian = gramian_of(n_components, "row_gramian")
        self._col_gramian = gramian_of(n_components, "col_gramian")
        with name_scope("row_prepare_gramian"):
            self._row_prepared = prepared_gramian(self._col_factors, self._col_gramian)
        with name_scope("col_prepare_gramian"):
            self._col_prepared = prepared_gramian(self._row_factors, self._row_gramian)
        with name_scope("transient_vars"):
            self._make_caches(use_factors_weights_cache, use_gramian_cache)
        rows = Side(
            input_rows, self._row_factors, self._row_cache, self._row_weights_cache,
            self._row_gramian_cache, shard_size(input_rows, num_row_shards), "row",
        )  # fmt: skip
        cols = Side(
            input_cols, self._col_factors, self._col_cache, self._col_weights_cache,
            self._col_gramian_cache, shard_size(input_cols, num_col_shards), "col",
        )  # fmt: skip
        self._row_update = WalsUpdate(
            rows, cols, unobserved_weight, regularization, penalty
        )
        self._col_update = WalsUpdate(
            cols, rows, unobserved_weight, regularization, penalty
        )

    def _make_caches(self, factors: bool, gramians: bool) -> None:
        row = Shards.copied(self._row_factors, "row_factors_cache", factors)
        col = Shards.copied(self._col_factors, "col_factors_cache", factors)
        row_weights = Shards.copied(self._row_weights, "row_wt_cache", factors)
        col_weights = Shards.copied(self._col_weights, "col_wt_cache", factors)
        row_gram = Shards.copied_one(self._row_gramian, "row_gramian_cache", gramians)
        col_gram = Shards.copied_one(self._col_gramian, "col_gramian_cache", gramians)
        self._row_cache, self._col_cache = row.values, col.values
        self._row_weights_cache = row_weights.values
        self._col_weights_cache = col_weights.values
        self._row_gramian_cache = row_gram.values[0]
        self._col_gramian_cache = col_gram.values[0]
        self._row_init = group_of(
            col.update, row.reset, col_gram.update, row_gram.reset
        )
        self._col_init = group_of(
            row.update, col.reset, row_gram.update, col_gram.reset
        )
        self._worker_init = group_of(
            row_weights.update, col_weights.update, name="worker_init"
        )

    @property
    def row_factors(self) -> list[Any]:
        """Variables of the rows' factors, one for each shard."""
        return self._row_factors

    @property
    def col_factors(self) -> list[Any]:
        """Variables of the columns' factors, one for each shard."""
        return self._col_factors

    @property
    def row_weights(self) -> list[Any] | None:
        """Variables of the rows' weights; None without weights."""
        return self._row_weights

    @property
    def col_weights(self) -> list[Any] | None:
        """Variables of the columns' weights; None without weights."""
        return self._col_weights

    @property
    def initialize_op(self) -> Operation:
        """Initializes factors, weights and Gramians."""
        found = [
            *self._row_factors,
            *self._col_factors,
            self._row_gramian,
            self._col_gramian,
            *(self._row_weights or ()),
            *(self._col_weights or ()),
        ]
        return variables_initializer(found)

    @property
    def worker_init(self) -> Operation:
        """Copies the weights to each worker."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Operation:
        """Computes the columns' Gramian: to run before a sweep over the rows."""
        return self._row_prepared

    @property
    def col_update_prep_gramian_op(self) -> Operation:
        """Computes the rows' Gramian: to run before a sweep over the columns."""
        return self._col_prepared

    @property
    def initialize_row_update_op(self) -> Operation:
        """Copies what a sweep over the rows reads, after the Gramian is computed."""
        return self._row_init

    @property
    def initialize_col_update_op(self) -> Operation:
        """Copies what a sweep over the columns reads, after the Gramian is computed."""
        return self._col_init

    def update_row_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False
    ) -> tuple[Tensor, Operation, Tensor, Tensor, Tensor]:
        """Ops that compute the factors of some rows.

        Args:
          sp_input: float32, some rows of the matrix with all their entries.
          transpose_input: whether it is transposed.

        Returns:
          The new factors, the op that assigns them, the loss without regularization,
          that of the regularization, and the sum of the weights; the last three
          extrapolated from these rows to all.
        """
        return updated(self._row_update, sp_input, transpose_input)

    def update_col_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False
    ) -> tuple[Tensor, Operation, Tensor, Tensor, Tensor]:
        """Ops that compute the factors of some columns; see `update_row_factors`."""
        return updated(self._col_update, sp_input, transpose_input)

    def project_row_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: TensorLike | None = None,
    ) -> Tensor:
        """The factors that rows would have, also of another matrix.

        Args:
          sp_input: float32, the rows.
          transpose_input: whether it is transposed.
          projection_weights: the rows' weights, a number or [rows]; None for 1.

        Returns:
          float32 [rows of sp_input, n_components].
        """
        weights = 1 if projection_weights is None else projection_weights
        return updated(self._row_update, sp_input, transpose_input, weights)[0]

    def project_col_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: TensorLike | None = None,
    ) -> Tensor:
        """The factors that columns would have; see `project_row_factors`."""
        weights = 1 if projection_weights is None else projection_weights
        return updated(self._col_update, sp_input, transpose_input, weights)[0]
