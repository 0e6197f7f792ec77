"""Files read by TensorFlow and TensorBoard: events, MetaGraphDefs, GraphDefs.

Inputs are graphs, summaries and protos; results are files.  Read crc.py (checksums),
records.py (record framing), events.py (event files), file_writer.py (`FileWriter`),
saver.py, graph_io.py.
"""
