"""Graphs of functions that TensorFlow 1.15's AutoGraph has converted.

`python autograph.py autograph.json`, with TensorFlow's Python, writes the file anew:
for each function here the GraphDef of its trace (zlib, base64), and what a call
returns.

TensorFlow passes the variables of branches and loops in the order of a set, which
changes with each process; here they are in the order of their names.
"""

import base64
import builtins
import json
import sys
import zlib

# Function -> the arguments of a trace and of a call: its shape and value.
ARGUMENTS = {}


def traced_with(*values):
    def note(function):
        ARGUMENTS[function.__name__] = values
        return function

    return note


def functions(tf):
    """The functions, by name."""

    @traced_with(-3)
    def branch(x):
        if x > 0:
            y = x + 1
        else:
            y = x - 1
        return y

    @traced_with(7)
    def branch_without_else(x):
        y = x * 2
        if x > 5:
            y = y + x
            z = y
        else:
            z = x
        return y, z

    @traced_with(4)
    def elif_chain(x):
        if x < 0:
            return -1
        elif x < 3:
            return x
        else:
            return x * 100

    @traced_with(3)
    def early_return(x):
        if x < 0:
            return -x
        y = x * 3
        return y + 1

    @traced_with(10)
    def nested_branches(x):
        y = 0
        if x > 0:
            if x > 5:
                y = x
            else:
                y = x * 2
        return y

    @traced_with(100)
    def while_loop(n):
        i, total = 0, 0
        while i < n:
            total += i
            i += 1
        return total

    @traced_with(100)
    def while_with_break(n):
        i = 0
        while i < n:
            i += 1
            if i * i > 50:
                break
        return i

    @traced_with(10)
    def while_with_continue(n):
        i, odd = 0, 0
        while i < n:
            i += 1
            if i % 2 > 0:
                continue
            odd += i
        return odd

    @traced_with(50)
    def while_with_both(n):
        i, total = 0, 0
        while i < n:
            i += 1
            if i < 3:
                continue
            if total > 20:
                break
            total = total + i
        return i, total

    @traced_with(5)
    def for_over_range(n):
        total = 0
        for i in tf.range(n):
            total += i * i
        return total

    @traced_with(5)
    def for_over_python_range(n):
        total = 1
        for i in range(1, n):
            total *= i
        return total

    @traced_with(20)
    def for_with_break(n):
        total = 0
        for i in tf.range(n):
            total += i
            if total > 30:
                break
        return total

    @traced_with(3)
    def for_with_steps(n):
        total = 0
        for i in tf.range(n * 10, n, -n):
            total += i
        return total

    @traced_with([1.5, -2.0, 3.0])
    def for_over_rows(xs):
        total = 0.0
        largest = 0.0
        for x in xs:
            total += x
            if x > largest:
                largest = x
        return total, largest

    @traced_with([1.5, -2.0, 3.0])
    def for_over_rows_with_break(xs):
        total = 0.0
        for x in xs:
            if x < 0.0:
                break
            total += x
        return total

    @traced_with([1.0, 2.0])
    def for_over_list(x):
        for w in [1.0, 2.0, 3.0]:
            x = x * w
        return x

    @traced_with(4)
    def loop_in_a_loop(n):
        total = 0
        for i in tf.range(n):
            for k in tf.range(i):
                total += k
        return total

    @traced_with(6)
    def branch_in_a_loop(n):
        y = 1
        for i in tf.range(n):
            if tf.equal(i % 2, 0):
                y = y + i
            else:
                y = y * 2
        return y

    @traced_with(2, 3)
    def logical(a, b):
        return a > 1 and b > 1, a > 5 or b > 2, not a > b, a > 0 and b > 0 and a > b

    @traced_with(2)
    def conditional_expression(x):
        return x * 2 if x > 1 else x - 1

    @traced_with([1.0, 2.0], 3)
    def function_calls(x, n):
        def scaled(v, by=2.0):
            if n > 2:
                v = v * by
            return v

        return scaled(x) + helper(x, n), (lambda v: v if n > 5 else -v)(x)

    def helper(x, n):
        for _ in tf.range(n):
            x = x + 1.0
        return x

    @traced_with([3.0, 4.0])
    def builtins_of_tensors(x):
        return len(x), int(x[0]), float(x[1]), abs(-x)

    @traced_with(5)
    def attributes(x):
        class Box:
            pass

        box = Box()
        box.value = x
        if x > 3:
            box.value = x * 2
        while box.value < 100:
            box.value = box.value * 3
        return box.value

    @traced_with(5)
    def elements(x):
        found = {"a": x, "b": 1}
        if x > 3:
            found["a"] = x * 2
        return found["a"]

    @traced_with(3)
    def effects_in_branches(x):
        if x > 2:
            tf.print("large", output_stream=sys.stdout)
        return x

    @traced_with(3)
    def returns_in_both(x):
        if x > 2:
            return x, -x
        else:
            return -x, x

    @traced_with(7)
    def ternary_in_a_while(n):
        steps = 0
        while n > 1:
            n = n // 2 if tf.equal(n % 2, 0) else 3 * n + 1
            steps += 1
        return steps

    found = dict(locals())
    return {name: found[name] for name in ARGUMENTS}


def types(tf, value):
    """The type of an argument."""
    first = value[0] if isinstance(value, list) else value
    return tf.float32 if isinstance(first, float) else tf.int32


def main(path):
    import tensorflow as tf
    from tensorflow.python.autograph.converters import control_flow

    def in_order(items=()):
        if isinstance(items, (set, frozenset)):
            items = sorted(items, key=str)
        return builtins.tuple(items)

    class InOrder(frozenset):
        def __iter__(self):
            return iter(sorted(frozenset.__iter__(self), key=str))

    control_flow.tuple = in_order
    control_flow.frozenset = InOrder
    tf.enable_eager_execution()
    found = {}
    for name, function in functions(tf).items():
        values = ARGUMENTS[name]
        tensors = [tf.constant(value, types(tf, value)) for value in values]
        traced = tf.function(function)
        graph = traced.get_concrete_function(*tensors).graph
        data = graph.as_graph_def().SerializeToString()
        results = tf.nest.flatten(traced(*tensors))
        found[name] = {
            "graph": base64.b64encode(zlib.compress(data, 9)).decode(),
            "results": [r.numpy().tolist() for r in results],
        }
    with open(path, "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
