"""The assets of a SavedModel: files, such as vocabularies, that its graph reads."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.framework.files import file_system
from tfteach.lib.saved_model.constants import ASSETS_DIRECTORY
from tfteach.lib.saved_model.loader import get_asset_tensors

__all__ = ["ModelAsset"]


class ModelAsset(NamedTuple):
    """A file in the `assets` directory of a SavedModel.

    Attributes:
      name: relative to that directory.
      tensor: the name of the tensor that holds its path once the model is loaded.
      size_bytes: None if the file is missing.
    """

    name: str
    tensor: str
    size_bytes: int | None

    @property
    def size(self) -> str:
        """Its size in words; "missing" if there is no such file."""
        return "missing" if self.size_bytes is None else show_bytes(self.size_bytes)

    def __str__(self) -> str:
        return f"{self.name}, {self.size} ({self.tensor})"


def assets_of(meta_graph: Any, folder: str) -> list[ModelAsset]:
    """The assets that a MetaGraph names.

    Args:
      meta_graph: a MetaGraphDef.
      folder: the directory of the SavedModel.
    """
    return [
        ModelAsset(
            path.removeprefix(f"{folder}/{ASSETS_DIRECTORY}/"), tensor, _size(path)
        )
        for tensor, path in get_asset_tensors(folder, meta_graph).items()
    ]


def _size(path: str) -> int | None:
    if not file_system.exists(path) or file_system.isdir(path):
        return None
    return file_system.stat(path).length
