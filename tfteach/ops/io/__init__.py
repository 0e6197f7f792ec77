"""Saving and restoring: checkpoints of both versions."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "GenerateVocabRemapping": "vocabulary_remapping",
    "LoadAndRemapMatrix": "vocabulary_remapping",
    "MergeV2Checkpoints": "save_restore",
    "Restore": "save_restore",
    "RestoreSlice": "save_restore",
    "RestoreV2": "save_restore",
    "Save": "save_restore",
    "SaveSlices": "save_restore",
    "SaveV2": "save_restore",
    "ShardedFilename": "save_restore",
    "ShardedFilespec": "save_restore",
}
