"""Vocabularies of categories, and columns of them as ids.

Source: contrib/learn/python/learn/preprocessing/{categorical,
categorical_vocabulary}.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Array


@export(
    "contrib.learn.preprocessing.CategoricalVocabulary",
    "contrib.learn.preprocessing.categorical_vocabulary.CategoricalVocabulary",
)
class CategoricalVocabulary:
    """Numbers categories in the order in which they come; 0 is the unknown one.

    Args:
      unknown_token: the category of 0.
      support_reverse: whether to keep the categories by their ids.

    Example:
      >>> vocabulary = tf.contrib.learn.preprocessing.CategoricalVocabulary()
      >>> [vocabulary.get(word) for word in ("a", "b", "a")]
      [1, 2, 1]

    Source: contrib/learn/python/learn/preprocessing/categorical_vocabulary.py.
    """

    def __init__(
        self, unknown_token: str = "<UNK>", support_reverse: bool = True
    ) -> None:
        self._unknown_token = unknown_token
        self._mapping: dict[Hashable, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        if support_reverse:
            self._reverse_mapping: list[Hashable] = [unknown_token]
        self._freq: dict[Hashable, int] = defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Let new categories be unknown from now on.

        Args:
          freeze: False to number them again.
        """
        self._freeze = freeze

    def get(self, category: Hashable) -> int:
        """The id of a category, a new one if it is new and nothing is frozen.

        Args:
          category: a word, number, ...

        Returns:
          The id; 0 for an unknown one.
        """
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: Hashable, count: int = 1) -> None:
        """Count a category.

        Args:
          category: a word, number, ...
          count: how often it occurs.
        """
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Number the categories anew, the most frequent ones first.

        Args:
          min_frequency: those counted as rarely or more so become unknown.
          max_frequency: those counted as often or more so, too, if it is positive.
        """
        by_name = sorted(
            self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0])
        )
        counts = sorted(by_name, key=lambda item: item[1], reverse=True)
        self._mapping = {self._unknown_token: 0}
        if self._support_reverse:
            self._reverse_mapping = [self._unknown_token]
        for category, count in counts:
            if 0 < max_frequency <= count:
                continue
            if count <= min_frequency:
                break
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        self._freq = dict(counts[: len(self._mapping) - 1])

    def reverse(self, class_id: int) -> Hashable:
        """The category of an id.

        Args:
          class_id: the id.

        Raises:
          ValueError: the vocabulary does not support it.
          IndexError: there is no such id.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support "
                "reverse() function."
            )
        return self._reverse_mapping[class_id]


@export(
    "contrib.learn.preprocessing.CategoricalProcessor",
    "contrib.learn.preprocessing.categorical.CategoricalProcessor",
)
class CategoricalProcessor:
    """Makes of rows of categories rows of ids, with a vocabulary for each column.

    Args:
      min_frequency: categories that occur as rarely or more so are unknown, 0.
      share: whether all columns have one vocabulary.
      vocabularies: the vocabularies; None for new ones.

    Example:
      >>> processor = tf.contrib.learn.preprocessing.CategoricalProcessor()
      >>> list(processor.fit_transform([["a", "x"], ["b", "x"]]))
      [array([1, 1]), array([2, 1])]

    Source: contrib/learn/python/learn/preprocessing/categorical.py.
    """

    def __init__(
        self,
        min_frequency: int = 0,
        share: bool = False,
        vocabularies: Sequence[CategoricalVocabulary] | None = None,
    ) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Freeze all vocabularies.

        Args:
          freeze: False to let them grow again.
        """
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(
        self, x: Iterable[Sequence[Any]], unused_y: object = None
    ) -> CategoricalProcessor:
        """Learn the categories, and freeze the vocabularies.

        Args:
          x: rows of categories.
          unused_y: ignored: scikit-learn's pipelines pass labels.

        Returns:
          This object.
        """
        for row in x:
            for vocabulary, category in zip(self._columns(row), row, strict=False):
                vocabulary.add(category)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def _columns(self, row: Sequence[Any]) -> Sequence[CategoricalVocabulary]:
        if self.vocabularies_ is None:
            if self.share:
                self.vocabularies_ = [CategoricalVocabulary()] * len(row)
            else:
                self.vocabularies_ = [CategoricalVocabulary() for _ in row]
        return self.vocabularies_

    def fit_transform(
        self, x: Iterable[Sequence[Any]], unused_y: object = None
    ) -> Iterator[Array]:
        """`fit`, then `transform`.

        Args:
          x, unused_y: as in `fit`.
        """
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable[Sequence[Any]]) -> Iterator[Array]:
        """The ids of rows of categories.

        Args:
          x: rows of categories.

        Yields:
          int64 arrays.
        """
        self.freeze()
        for row in x:
            pairs = zip(self._columns(row), row, strict=False)
            yield np.array([v.get(category) for v, category in pairs], np.int64)
