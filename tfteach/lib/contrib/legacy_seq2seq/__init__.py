"""`tf.contrib.legacy_seq2seq`: sequences as lists with an element for each step.

An encoder reads a sequence into a state, from which a decoder writes another one:
`decoders.py` for vectors, `embedding.py` for ids, `attention.py` with a look back at
what the encoder gave; `loss.py` has the losses, `buckets.py` a model for each of a few
lengths.
"""

from tfteach.lib.contrib.legacy_seq2seq import attention as attention
from tfteach.lib.contrib.legacy_seq2seq import buckets as buckets
from tfteach.lib.contrib.legacy_seq2seq import decoders as decoders
from tfteach.lib.contrib.legacy_seq2seq import embedding as embedding
from tfteach.lib.contrib.legacy_seq2seq import loss as loss
