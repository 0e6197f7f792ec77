"""Underscored names that mechanisms and helpers in old code are built from.

Source: contrib/seq2seq/python/ops/attention_wrapper.py, decoder.py, helper.py.
"""

from tfteach.lib.contrib.seq2seq.attention import (
    MemoryAttention,
    bahdanau_score,
    luong_score,
)
from tfteach.lib.contrib.seq2seq.attention_wrapper import attend
from tfteach.lib.contrib.seq2seq.helper import unstacked
from tfteach.lib.contrib.seq2seq.monotonic import monotonic_alignments
from tfteach.lib.rnn.cell import zero_tensors
from tfteach.lib.rnn.dynamic import transpose_batch_time

_BaseAttentionMechanism = MemoryAttention
_luong_score = luong_score
_bahdanau_score = bahdanau_score
_compute_attention = attend
_monotonic_probability_fn = monotonic_alignments
_transpose_batch_time = transpose_batch_time
_unstack_ta = unstacked
_zero_state_tensors = zero_tensors
