"""Rows and errors of CSV files from real TensorFlow 1.15: `python csv_files.py`.

`csv_files.json` has what CsvDataset yields for each text; tests/ops/data/
test_csv_files.py compares.
"""

import json
import os
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
STRINGS = [[""], [""]]
REQUIRED = ["string", "string"]
# Texts of two columns: ends of lines, empty lines, quotes in the wrong places.
TEXTS = [
    "1,2\n3,4\n", "1,2\r\n3,4\r\n", "1,2\r3,4\r", "1,2\r\r3,4", "\n1,2", "1,2\n\n3,4",
    "1,2\n3", "1,2,3\n4,5", '1,"2"\n"3",4', '1,"2\n3"\n4,5', '"a"b,2\n3,4',
    'a"b,2\n3,4', '1,"a"b,x\n3,4', '"a""b",c\nd,e', '"abc,d\ne,f', 'a,b\n"',
    'a,b\n""', 'a,b\n"",', 'a,b\n"x"\r"y",z', 'a,"b\r\nq"\r\nc,d', "", "\n", "\r\n",
    "a", "a,", ",", "a,b,", '"a" ,b', "a,b\n\n\n", 'a,b,c,"d\ne,f"\ng,h',
    "a\rb,c\nd,e", 'x"y,z\rk,l', '"x"y,"k\nl"\nm,n', '"a"b"\n3,4', '"a"b"',
    'a"b,"c\nd",e\nf,g', '1,"a""\n3,4', '1,"a"""\n3,4', '1,2,a"b\n3,4',
    '1,2,3,"a"b"\n3,4', '1,2,3,"abc\n3,4',
]  # fmt: skip
NUMBERS = [
    "1,x,3\n4,5", 'x,a"b\n1,2', 'x,"a\n1,2', "x,y,z\n1,2", "1,\n,2", "99999999999,1",
    '"1","2"\n3,4',
]  # fmt: skip
HEADERS = [
    "1,2\n3,4", "", "h", "h\r1,2", '"h\nx",y\n1,2', '"h\n1,2', 'h"x,y\n1,2',
    "a,b,c\n1,2",
]  # fmt: skip
SELECTED = [
    "1,2,3\n4,5,6",
    "1,2\n3,4,5",
    '1,a"b,3\n4,5,6',
    '1,2,"3\n4',
    '"1"x,2,3\n4,5',
]


def cases():
    """(text, defaults, further arguments) of CsvDataset."""
    found = [[text, STRINGS, {}] for text in TEXTS]
    found += [[text, REQUIRED, {}] for text in TEXTS]
    found += [[text, [[7], [7]], {}] for text in NUMBERS]
    found += [[text, [[0], [0]], {"header": True}] for text in HEADERS]
    found += [[text, REQUIRED, {"select_cols": [0, 2]}] for text in SELECTED]
    found += [[text, [[""]], {"select_cols": [3]}] for text in SELECTED]
    found += [["\n1\n\n", [[""]], {}], ["a,b", [[""]], {}], ["a\n\nb", ["string"], {}]]
    found += [
        ['"a,b\nc","d"', REQUIRED, {"use_quote_delim": False}],
        ['a"b|"c|d"\n1|2', REQUIRED, {"field_delim": "|"}],
        ['NA,b\n"NA",c', STRINGS, {"na_value": "NA"}],
        ["a,b", REQUIRED, {"buffer_size": 0}],
        ["a,b", REQUIRED, {"field_delim": "||"}],
        ["a,b", REQUIRED, {"field_delim": ""}],
        ["a,b", REQUIRED, {"compression_type": "X"}],
        ["a,b", REQUIRED, {"select_cols": [0]}],
        ["a,b", REQUIRED, {"select_cols": [1, 0]}],
        ["a,b", REQUIRED, {"select_cols": [-1, 0]}],
    ]
    return found


def rows(tf, text, defaults, options):
    """What a CsvDataset yields for a file of this text, then for one more."""
    kinds = {"string": tf.string}
    defaults = [kinds[d] if isinstance(d, str) else d for d in defaults]
    with open("rows.csv", "wb") as file:
        file.write(text.encode())
    with open("more.csv", "wb") as file:
        file.write(b"8,9,10\n11,12\n")
    with tf.Graph().as_default():
        dataset = tf.data.experimental.CsvDataset(
            ["rows.csv", "more.csv"], defaults, **options
        )
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        found = []
        with tf.Session() as session:
            for fetch in [iterator.initializer] + [element] * 9:
                try:
                    found.append(_plain(session.run(fetch)))
                except tf.errors.OpError as error:
                    text = error.message.split("\n")[0].split(" [[")[0].strip()
                    found.append(f"{type(error).__name__}: {text}")
                    if fetch is iterator.initializer:
                        break
    return found


def _plain(row):
    if row is None:
        return None
    return [v.decode() if isinstance(v, bytes) else v.item() for v in row]


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    path = os.path.abspath(sys.argv[1] if sys.argv[1:] else FOLDER + "/csv_files.json")
    os.chdir(tempfile.mkdtemp())
    answers = [json.dumps([case, rows(tensorflow, *case)]) for case in cases()]
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(answers) + "\n]\n")
