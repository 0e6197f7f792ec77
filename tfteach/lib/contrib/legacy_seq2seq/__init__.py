"""`tf.contrib.legacy_seq2seq`: sequences as lists with one entry per step.

An encoder maps a sequence to a state, from which a decoder generates another one:
`decoders.py` for vectors, `embedding.py` for ids, `attention.py` with attention to the
encoder's outputs; `loss.py` has the losses, `buckets.py` models for several lengths.
"""

from tfteach.lib.contrib.legacy_seq2seq import attention as attention
from tfteach.lib.contrib.legacy_seq2seq import buckets as buckets
from tfteach.lib.contrib.legacy_seq2seq import decoders as decoders
from tfteach.lib.contrib.legacy_seq2seq import embedding as embedding
from tfteach.lib.contrib.legacy_seq2seq import loss as loss
