"""`tf.compat.v2.strings`, and of `tf.compat.v2.io` what parses or makes strings.

Source: python/ops/string_ops.py, parsing_ops.py, sparse_ops.py.
"""

from __future__ import annotations

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.lib.parsing.examples import parse_example, parse_single_example
from tfteach.ops.io.decode_csv import decode_csv
from tfteach.ops.sparse.sparse_serialize import serialize_many_sparse, serialize_sparse
from tfteach.ops.text.string_conversion import string_to_hash_bucket, string_to_number
from tfteach.ops.text.string_ops import string_length, substr
from tfteach.ops.text.string_split import reduce_join

string_length_v2 = with_parameters(
    string_length, "input | unit name", v2="strings.length"
)
reduce_join_v2 = with_parameters(
    reduce_join,
    "inputs | axis keepdims separator name",
    keepdims=False,
    v2="strings.reduce_join",
)
substr_v2 = with_parameters(substr, "input pos len | unit name", v2="strings.substr")
string_to_hash_bucket_v2 = with_parameters(
    string_to_hash_bucket, "input num_buckets | name", v2="strings.to_hash_bucket"
)
string_to_number_v2 = with_parameters(
    string_to_number, "input | out_type name", v2="strings.to_number"
)

decode_csv_v2 = with_parameters(
    decode_csv,
    "records record_defaults | field_delim use_quote_delim na_value select_cols name",
    v2="io.decode_csv",
)
parse_example_v2 = with_parameters(
    parse_example, "serialized features | example_names name", v2="io.parse_example"
)
parse_single_example_v2 = with_parameters(
    parse_single_example,
    "serialized features | example_names name",
    v2="io.parse_single_example",
)
serialize_sparse_v2 = with_parameters(
    serialize_sparse, "sp_input | out_type name", v2="io.serialize_sparse"
)
serialize_many_sparse_v2 = with_parameters(
    serialize_many_sparse, "sp_input | out_type name", v2="io.serialize_many_sparse"
)
