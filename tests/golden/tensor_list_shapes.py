"""Static shapes that TensorFlow 1.15 infers for the elements of tensor lists.

`python tensor_list_shapes.py` records tensor_list_shapes.json;
tests/ops/state/test_tensor_lists.py compares.
"""

import json
import os


def sources(tf):
    """Lists by name."""
    raw = tf.raw_ops
    floats = tf.constant([[[1.0] * 3] * 2] * 4)
    size = tf.placeholder(tf.int32, [])

    def empty(shape):
        return raw.EmptyTensorList(
            element_shape=shape, max_num_elements=-1, element_dtype=tf.float32
        )

    def made(op_type, tensor, shape):
        given = {"indices": [0, 1, 2, 3]} if "Scatter" in op_type else {}
        given.update({"num_elements": -1} if op_type.endswith("V2") else {})
        given.update({"lengths": [1, 3]} if "Split" in op_type else {})
        op = getattr(raw, op_type)
        return op(tensor=tensor, element_shape=shape, **given)

    full, scalars = tf.constant([2, 3]), tf.constant([], tf.int32)
    found = {
        "scalars": empty(scalars),
        "full": empty(full),
        "partial": empty(tf.constant([-1, 3])),
        "unknown": empty(tf.constant(-1)),
        "rank": empty(tf.placeholder(tf.int32, [2])),
        "stacked sizes": empty(tf.stack([size, 3])),
        "fed": tf.placeholder(tf.variant, []),
        "reserve": raw.TensorListReserve(
            element_shape=[2], num_elements=5, element_dtype=tf.float32
        ),
    }
    for op_type in ("TensorListFromTensor", "TensorListScatter", "TensorListScatterV2"):
        found[op_type] = made(op_type, floats, tf.constant([-1, 3]))
    found["split"] = made("TensorListSplit", floats[0], tf.constant([-1, 3]))
    return found


def changes(tf, handle):
    """Lists made from another one, by name."""
    raw, rows = tf.raw_ops, tf.zeros([2, 3])
    several = tf.stack([handle, handle])
    return {
        "itself": lambda: handle,
        "push": lambda: raw.TensorListPushBack(input_handle=handle, tensor=rows),
        "push to batch": lambda: tf.unstack(
            raw.TensorListPushBackBatch(
                input_handles=several, tensor=tf.zeros([2, 2, 3])
            )
        )[0],
        "batch": lambda: several,
        "pop": lambda: raw.TensorListPopBack(
            input_handle=handle, element_shape=[2, 3], element_dtype=tf.float32
        )[0],
        "set": lambda: raw.TensorListSetItem(input_handle=handle, index=0, item=rows),
        "resize": lambda: raw.TensorListResize(input_handle=handle, size=2),
        "scatter": lambda: raw.TensorListScatterIntoExistingList(
            input_handle=handle, tensor=tf.zeros([1, 2, 3]), indices=[0]
        ),
        "concat": lambda: raw.TensorListConcatLists(
            input_a=handle, input_b=handle, element_dtype=tf.float32
        ),
        "identity": lambda: tf.identity(handle),
        "zeros_like": lambda: tf.zeros_like(handle),
        "add_n": lambda: tf.add_n([handle, handle]),
        "stop_gradient": lambda: tf.stop_gradient(handle),
        "cond": lambda: tf.cond(tf.constant(True), lambda: handle, lambda: handle),
        "loop": lambda: tf.while_loop(
            lambda i, x: i < 2, lambda i, x: (i + 1, x), (0, handle)
        )[1],
        "default": lambda: tf.placeholder_with_default(handle, []),
    }


def reads(tf, handle):
    """Tensors read from a list, by name."""
    raw = tf.raw_ops
    found = {
        "element_shape": lambda: raw.TensorListElementShape(
            input_handle=handle, shape_type=tf.int32
        )
    }
    for name, shape in (("", -1), (" of stated shape", [2, -1])):
        given = {"input_handle": handle, "element_dtype": tf.float32}
        given["element_shape"] = tf.constant(shape)

        def read(op_type, output=None, given=given, **more):
            op = getattr(raw, op_type)
            made = op(**given, **more)
            return made if output is None else made[output]

        found["stack" + name] = lambda read=read: read("TensorListStack")
        found["item" + name] = lambda read=read: read("TensorListGetItem", index=0)
        found["pop" + name] = lambda read=read: read("TensorListPopBack", 1)
        found["gather" + name] = lambda read=read: read(
            "TensorListGather", indices=[0, 1, 2]
        )
        found["concat" + name] = lambda read=read: read(
            "TensorListConcatV2", 0, leading_dims=tf.constant([], tf.int64)
        )
    return found


def answers(tf):
    """ "list/change/read" -> the static shape, or the error."""
    found = {}
    with tf.Graph().as_default():
        for source, handle in sources(tf).items():
            for change, make in changes(tf, handle).items():
                if change != "itself" and source not in ("full", "fed", "scalars"):
                    continue
                try:
                    changed = make()
                except ValueError as error:
                    found[source + "/" + change] = str(error).split(" for '")[0]
                    continue
                for read, tensor in reads(tf, changed).items():
                    if change != "itself" and read not in ("stack", "item"):
                        continue
                    try:
                        shape = str(tensor().shape)
                    except ValueError as error:
                        shape = str(error).split(" for '")[0]
                    found["/".join([source, change, read])] = shape
    return found


if __name__ == "__main__":
    import tensorflow

    path = os.path.splitext(__file__)[0] + ".json"
    with open(path, "w") as file:
        json.dump(answers(tensorflow), file, indent=1)
        file.write("\n")
