"""`tf.contrib.slim`: contrib's layers, argument scopes and losses under one name.

Only these modules are specific to slim; the rest is exported from its own modules.
"""

from tfteach.lib.contrib.slim import dataset as dataset
from tfteach.lib.contrib.slim import evaluation as evaluation
from tfteach.lib.contrib.slim import learning as learning
from tfteach.lib.contrib.slim import parallel_reader as parallel_reader
from tfteach.lib.contrib.slim import prefetch_queue as prefetch_queue
from tfteach.lib.contrib.slim import queue_runners as queue_runners
from tfteach.lib.contrib.slim import summaries as summaries
from tfteach.lib.contrib.slim import tfexample_decoder as tfexample_decoder
from tfteach.lib.contrib.slim import training_loop as training_loop
