"""GraphDef and MetaGraphDef: graphs converted to protocol messages, and back."""
