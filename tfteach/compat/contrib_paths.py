"""Paths of modules in `tensorflow.contrib` that programs import from.

As in `internals.py`: a path, and the public packages and modules of this package that
have its names.

Source: contrib/factorization/python/ops/*.py (API).
"""

from __future__ import annotations

_FACTORIZATION = "tfteach.lib.contrib.factorization"
# Package -> its modules, each with further modules of this package.
_ROWS = {
    "contrib.factorization.python.ops": {
        "clustering_ops": f"{_FACTORIZATION}.kmeans {_FACTORIZATION}.kmeans_start",
        "kmeans": f"{_FACTORIZATION}.kmeans_clustering",
    },
}
# Names that have another name here.
ALIASES = {
    "contrib.factorization.python.ops.kmeans._parse_features_if_necessary": "points_of",
}


def rows() -> dict[str, tuple[str, ...]]:
    """Path below `tensorflow.` -> where its names are."""
    found: dict[str, tuple[str, ...]] = {}
    for folder, modules in _ROWS.items():
        package = ".".join(folder.split(".")[:2])
        found[folder] = (package,)
        for name, places in modules.items():
            found[f"{folder}.{name}"] = (package, *places.split())
    return found
