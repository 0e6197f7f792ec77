"""`tf.contrib.seq2seq`: sequence-to-sequence models.

Decoders, the helpers that supply their inputs, attention, and the loss of sequences of
different lengths.
"""

from tfteach.lib.contrib.seq2seq import attention as attention
from tfteach.lib.contrib.seq2seq import attention_wrapper as attention_wrapper
from tfteach.lib.contrib.seq2seq import basic_decoder as basic_decoder
from tfteach.lib.contrib.seq2seq import beam_search as beam_search
from tfteach.lib.contrib.seq2seq import inference as inference
from tfteach.lib.contrib.seq2seq import loss as loss
from tfteach.lib.contrib.seq2seq import monotonic as monotonic
from tfteach.lib.contrib.seq2seq import scheduled as scheduled
