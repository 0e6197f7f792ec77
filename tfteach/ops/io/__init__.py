"""Saving and restoring: checkpoints of both versions."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "DecodeCSV": "decode_csv",
    "DecodeCompressed": "decode_raw",
    "DecodeJSONExample": "decode_json_example",
    "DecodePaddedRaw": "decode_raw",
    "DecodeRaw": "decode_raw",
    "GenerateVocabRemapping": "vocabulary_remapping",
    "LoadAndRemapMatrix": "vocabulary_remapping",
    "MatchingFiles": "file_ops",
    "MergeV2Checkpoints": "save_restore",
    "ParseTensor": "serialize_tensor",
    "ReadFile": "file_ops",
    "Restore": "save_restore",
    "RestoreSlice": "save_restore",
    "RestoreV2": "save_restore",
    "Save": "save_restore",
    "SaveSlices": "save_restore",
    "SaveV2": "save_restore",
    "SerializeTensor": "serialize_tensor",
    "ShardedFilename": "save_restore",
    "ShardedFilespec": "save_restore",
    "WriteFile": "file_ops",
}
