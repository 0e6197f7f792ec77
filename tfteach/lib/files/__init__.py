"""Files that TensorFlow and TensorBoard read: events, checkpoints' graph, GraphDefs.

In: graphs, summaries, protos.  Out: files.  Read crc.py (checksums), records.py (framed
records), events.py (one event file), file_writer.py (`FileWriter`), saver.py,
graph_io.py.
"""
