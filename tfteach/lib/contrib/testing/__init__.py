"""`tf.contrib.testing`: event files read back, and a writer that keeps summaries."""

from tfteach.lib.contrib.testing import event_files as event_files
from tfteach.lib.contrib.testing import fake_summary_writer as fake_summary_writer
