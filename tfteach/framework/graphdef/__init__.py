"""GraphDef and MetaGraphDef: graphs written as protocol messages, and read back."""
