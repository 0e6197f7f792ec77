"""`tf.contrib.seq2seq`: sequence to sequence.

Decoders, the helpers that feed them, and the loss of sequences of different lengths.
"""

from tfteach.contrib.seq2seq import basic_decoder as basic_decoder
from tfteach.contrib.seq2seq import inference as inference
from tfteach.contrib.seq2seq import loss as loss
from tfteach.contrib.seq2seq import scheduled as scheduled
