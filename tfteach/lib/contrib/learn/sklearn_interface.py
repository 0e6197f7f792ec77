"""Parameters of estimators as scikit-learn lists them.

Source: contrib/learn/python/learn/estimators/_sklearn.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export


@export("contrib.learn.NotFittedError")
class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was trained.

    Source: contrib/learn/python/learn/estimators/_sklearn.py.
    """


class WithParams:
    """Lists and sets an estimator's public attributes."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The public attributes.

        Args:
          deep: whether to list those of attributes, too, as "attribute__name".
        """
        found: dict[str, Any] = {}
        for name, value in list(vars(self).items()):
            if name.startswith("_"):
                continue
            if deep and isinstance(value, WithParams):
                inner = value.get_params()
                found |= {f"{name}__{key}": item for key, item in inner.items()}
            found[name] = value
        return found

    def set_params(self, **params: Any) -> WithParams:
        """Set public attributes.

        Args:
          **params: new values; "attribute__name" sets one of an attribute.

        Raises:
          ValueError: there is no such attribute.
        """
        known = self.get_params(deep=True)
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name} for estimator {type(self).__name__}. "
                    "Check the list of available parameters with "
                    "`estimator.get_params().keys()`."
                )
            if inner:
                known[name].set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        params = self.get_params(deep=False)
        shown = ", ".join(f"{key}={params[key]!r}" for key in sorted(params))
        return f"{type(self).__name__}({shown})"
