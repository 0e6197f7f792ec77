"""The value of a variant that can be saved: a serialized message.

Source: core/framework/tensor.proto, VariantTensorDataProto.
"""

from __future__ import annotations


class EncodedVariant(bytes):
    """A serialized VariantTensorDataProto, the value of a variant scalar.

    Other variants are objects of a run, such as datasets, which cannot be saved.
    """
