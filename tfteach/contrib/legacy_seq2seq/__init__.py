"""`tf.contrib.legacy_seq2seq`: sequences as lists with an element for each step.

So far their losses.
"""

from tfteach.contrib.legacy_seq2seq import loss as loss
