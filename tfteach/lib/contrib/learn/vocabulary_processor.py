"""Documents as rows of word ids: `tf.contrib.learn.preprocessing`.

Source: contrib/learn/python/learn/preprocessing/text.py.
"""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tfteach.framework.export import export, export_value
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.type_aliases import Array, PathLike
from tfteach.lib.contrib.learn.vocabularies import CategoricalVocabulary

# Words, with an upper-case word apart from the next one: "TFRecord" is "TF", "Record".
TOKENIZER_RE = re.compile(
    r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE
)
export_value(
    __name__,
    TOKENIZER_RE="contrib.learn.preprocessing.TOKENIZER_RE "
    "contrib.learn.preprocessing.text.TOKENIZER_RE",
)
TokenizerFn = Callable[[Iterable[str]], Iterable[Iterable[Any]]]


@export(
    "contrib.learn.preprocessing.tokenizer",
    "contrib.learn.preprocessing.text.tokenizer",
)
def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each document.

    Args:
      iterator: documents.

    Yields:
      Lists of words.

    Example:
      >>> list(tf.contrib.learn.preprocessing.tokenizer(["Hello World, 3-4"]))
      [['Hello', 'World', '3-4']]

    Source: contrib/learn/python/learn/preprocessing/text.py.
    """
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


@export(
    "contrib.learn.preprocessing.VocabularyProcessor",
    "contrib.learn.preprocessing.text.VocabularyProcessor",
)
class VocabularyProcessor:
    """Makes of documents rows of word ids of one length, cut or filled with 0.

    Args:
      max_document_length: the length of the rows.
      min_frequency: words that occur as rarely or more so are unknown, 0.
      vocabulary: a `tf.contrib.learn.preprocessing.CategoricalVocabulary`; None for one
        that grows until `fit` ends.
      tokenizer_fn: a function from documents to lists of words.

    Attributes:
      vocabulary_: the vocabulary.

    Example:
      >>> processor = tf.contrib.learn.preprocessing.VocabularyProcessor(4)
      >>> np.array(list(processor.fit_transform(["a cat", "a dog"])))
      array([[1, 2, 0, 0],
             [1, 3, 0, 0]])

    Source: contrib/learn/python/learn/preprocessing/text.py.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: TokenizerFn | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer: TokenizerFn = tokenizer_fn or tokenizer

    def fit(
        self, raw_documents: Iterable[str], unused_y: object = None
    ) -> VocabularyProcessor:
        """Learn the words, and freeze the vocabulary.

        Args:
          raw_documents: documents.
          unused_y: ignored: scikit-learn's pipelines pass labels.

        Returns:
          This object.
        """
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: object = None
    ) -> Iterator[Array]:
        """`fit`, then `transform`.

        Args:
          raw_documents, unused_y: as in `fit`.
        """
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Array]:
        """The word ids of documents.

        Args:
          raw_documents: documents.

        Yields:
          int64 arrays [max_document_length].
        """
        for tokens in self._tokenizer(raw_documents):
            ids = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(itertools.islice(tokens, len(ids))):
                ids[i] = self.vocabulary_.get(token)
            yield ids

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The words of ids, with blanks between.

        Args:
          documents: rows of ids.

        Yields:
          Texts.
        """
        for item in documents:
            yield " ".join(str(self.vocabulary_.reverse(int(i))) for i in item)

    def save(self, filename: PathLike) -> None:
        """Pickle this object.

        Args:
          filename: the file's path.
        """
        with open_file(resolve(filename), "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: PathLike) -> VocabularyProcessor:
        """A processor that was saved; load files that you trust only.

        Args:
          filename: the file's path.
        """
        with open_file(resolve(filename), "rb") as file:
            found: VocabularyProcessor = pickle.loads(file.read())
        return found


@export(
    "contrib.learn.preprocessing.ByteProcessor",
    "contrib.learn.preprocessing.text.ByteProcessor",
)
class ByteProcessor:
    """Makes of documents rows of their bytes, cut or filled with 0.

    Args:
      max_document_length: the length of the rows.

    Example:
      >>> processor = tf.contrib.learn.preprocessing.ByteProcessor(4)
      >>> list(processor.transform(["ab"]))
      [array([97, 98,  0,  0], dtype=uint8)]

    Source: contrib/learn/python/learn/preprocessing/text.py.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Iterable[str | bytes]) -> ByteProcessor:
        """Return this object: there is nothing to learn.

        Args:
          x: documents, ignored.
        """
        return self

    def fit_transform(self, x: Iterable[str | bytes]) -> Iterator[Array]:
        """The bytes of documents.

        Args:
          x: documents.
        """
        return self.transform(x)

    def transform(self, x: Iterable[str | bytes]) -> Iterator[Array]:
        """The bytes of documents, in UTF-8.

        Args:
          x: documents, texts or bytes.

        Yields:
          uint8 arrays [max_document_length].
        """
        for document in x:
            data = document.encode() if isinstance(document, str) else document
            ids = np.zeros(self.max_document_length, np.uint8)
            part = np.frombuffer(data[: len(ids)], np.uint8)
            ids[: len(part)] = part
            yield ids

    def reverse(self, x: Iterable[Array]) -> Iterator[str]:
        """The texts of rows of bytes, up to the first 0.

        Args:
          x: rows of bytes.

        Yields:
          Texts.
        """
        for data in x:
            text = bytes(bytearray(data)).partition(b"\0")[0]
            yield text.decode(errors="ignore")
