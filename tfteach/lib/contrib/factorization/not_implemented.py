"""Names of `tf.contrib.factorization` that say what to use in their place."""

from __future__ import annotations

from typing import NoReturn

from tfteach.framework.export import export


def _refuse(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"tf.{name} is not implemented: {instead}")


@export("contrib.learn.KMeansClustering")
def KMeansClustering(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: use tf.contrib.factorization.KMeansClustering.

    Raises:
      NotImplementedError: always.
    """
    _refuse(
        "contrib.learn.KMeansClustering",
        "use tf.contrib.factorization.KMeansClustering",
    )


@export("contrib.factorization.GMM")
def GMM(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: there is no mixture of Gaussians here yet.

    Raises:
      NotImplementedError: always.
    """
    _refuse("contrib.factorization.GMM", "there is no mixture of Gaussians here yet")


@export("contrib.factorization.GmmAlgorithm")
def GmmAlgorithm(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: there is no mixture of Gaussians here yet.

    Raises:
      NotImplementedError: always.
    """
    _refuse(
        "contrib.factorization.GmmAlgorithm",
        "there is no mixture of Gaussians here yet",
    )


@export("contrib.factorization.gmm")
def gmm(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: there is no mixture of Gaussians here yet.

    Raises:
      NotImplementedError: always.
    """
    _refuse("contrib.factorization.gmm", "there is no mixture of Gaussians here yet")


@export("contrib.factorization.WALSMatrixFactorization")
def WALSMatrixFactorization(*args: object, **kwargs: object) -> NoReturn:
    """Not implemented: use tf.contrib.factorization.WALSModel.

    Raises:
      NotImplementedError: always.
    """
    _refuse(
        "contrib.factorization.WALSMatrixFactorization",
        "use tf.contrib.factorization.WALSModel",
    )
