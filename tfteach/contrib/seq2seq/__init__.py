"""`tf.contrib.seq2seq`: sequence to sequence.

So far the loss of sequences of different lengths.
"""

from tfteach.contrib.seq2seq import loss as loss
