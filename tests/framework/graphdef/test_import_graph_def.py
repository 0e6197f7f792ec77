"""import_graph_def: what TF accepts, what it refuses, and that nothing is lost."""

import re

import pytest
from google.protobuf import text_format
from google.protobuf.message import DecodeError

import tfteach.ops.core.identity_reshape  # noqa: F401 - registers Identity
from tfteach.framework import errors
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.import_graph_def import import_graph_def
from tfteach.framework.protos import GraphDef
from tfteach.framework.scope import control_dependencies, device, name_scope
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import Enter, Merge, NextIteration, no_op

FLOAT = 'attr{key:"T" value{type:DT_FLOAT}}'
A = (
    'node{name:"a" op:"Const" attr{key:"dtype" value{type:DT_FLOAT}} '
    'attr{key:"value" value{tensor{dtype:DT_FLOAT tensor_shape{} float_val:1}}}} '
)
B = 'node{name:"b" op:"Identity" input:"a" ' + FLOAT + "} "


def parse(text):
    return text_format.Parse(text, GraphDef())


@pytest.fixture
def graph():
    with Graph().as_default() as graph:
        yield graph


def nodes(graph):
    return [
        (op.name, op.type, [t.name for t in op.inputs]) for op in graph.get_operations()
    ]


def test_prefixes(graph):
    assert import_graph_def(parse(B + A)) is None  # in any order
    import_graph_def(parse(A + B))
    import_graph_def(parse(A + B), name="p/")
    with name_scope("s"):
        import_graph_def(parse(A), name="q")
        import_graph_def(parse(A), name="")
    import_graph_def(parse(A + B), name="")
    assert nodes(graph) == [
        ("import/a", "Const", []),
        ("import/b", "Identity", ["import/a:0"]),
        ("import_1/a", "Const", []),
        ("import_1/b", "Identity", ["import_1/a:0"]),
        ("p/a", "Const", []),
        ("p/b", "Identity", ["p/a:0"]),
        ("s/q/a", "Const", []),
        ("a", "Const", []),
        ("a_1", "Const", []),
        ("b", "Identity", ["a_1:0"]),
    ]
    assert constant(1.0, name="b").name == "b_1:0"


def test_scopes_apply(graph):
    first = no_op("first")
    with device("/cpu:1"), control_dependencies([first]):
        import_graph_def(parse(A + B.replace(FLOAT, FLOAT + 'device:"/job:w"')))
    a, b = graph.get_operations()[1:]
    assert a.device == "/device:CPU:1"
    assert b.device == "/job:w/device:CPU:1"
    assert a.control_inputs == b.control_inputs == [first]


def test_input_map_and_return_elements(graph):
    x = constant(2.0, name="x")
    op, tensor, mapped = import_graph_def(
        parse(B), {"a": x}, return_elements=["b", "b:0", "a:0"]
    )
    assert op.inputs == (x,)
    assert tensor is op.outputs[0]
    assert mapped is x
    import_graph_def(parse('node{name:"n" op:"NoOp" input:"^q"}'), {"^q": x})
    assert graph.get_operations()[-1].control_inputs == [x.op]
    import_graph_def(parse(A + B), {"a:0": 3.0}, name="m")
    assert graph.get_tensor_by_name("m/_inputs/Const:0").consumers()[0].name == "m/b"


def test_colocation_is_renamed(graph):
    group = 'attr{key:"_class" value{list{s:"loc:@a"}}}'
    with device("/cpu:1"):
        import_graph_def(parse(A + B.replace(FLOAT, FLOAT + group)))
    a, b = graph.get_operations()
    assert b.colocation_groups() == [b"loc:@import/a"]
    assert a.device == b.device == "/device:CPU:1"


def test_defaults_and_foreign_attributes(graph):
    import_graph_def(
        parse(
            'node{name:"p" op:"Placeholder" attr{key:"dtype" value{type:DT_INT32}} '
            'attr{key:"_mine" value{i:7}} '
            'attr{key:"_output_shapes" value{list{shape{dim{size:3}}}}}}'
        )
    )
    [op] = graph.get_operations()
    assert op.get_attr("shape").unknown_rank
    assert op.get_attr("_mine") == 7
    assert op.outputs[0].static_shape == (3,)
    assert set(op.node_def.attr) == {"dtype", "shape", "_mine"}


def test_loops_may_lead_back(graph):
    start = constant(0, name="start")
    enter = Enter("frame")(start, name="enter")
    merge, _ = Merge()([enter, enter], name="merge")
    back = NextIteration()(merge, name="next")
    merge.op._update_input(1, back)
    before = graph.as_graph_def()
    with Graph().as_default() as copy:
        import_graph_def(before, name="")
        assert copy.as_graph_def() == before
        assert copy.get_tensor_by_name("merge:0").op.inputs[1].name == "next:0"


REFUSED = {
    "unknown op": ('node{name:"x" op:"Foo"}', "No op named Foo in defined operations"),
    "unknown input": (B, "Node 'b': Unknown input node 'a'"),
    "unknown control": (
        'node{name:"x" op:"NoOp" input:"^q"}',
        "Node 'x': Unknown input node '^q'",
    ),
    "invalid output": (
        A + B.replace('"a"', '"a:3"'),
        "Connecting to invalid output 3 of source node a which has 1 outputs",
    ),
    "wrong type": (
        A + B.replace("DT_FLOAT", "DT_INT32"),
        "Input 0 of node import/b was passed float from import/a:0 incompatible with "
        "expected int32.",
    ),
    "missing attr": (
        A + B.replace(FLOAT, ""),
        "NodeDef missing attr 'T' from Op<name="
        "Identity; signature=input:T -> output:T; attr=T:type>; NodeDef: "
        "{{node import/b}}",
    ),
    "unknown attr": (
        A + B.replace(FLOAT, FLOAT + 'attr{key:"foo" value{i:1}}'),
        "NodeDef mentions attr 'foo' not in Op<name=Identity;",
    ),
    "attr of another kind": (
        A + B.replace("type:DT_FLOAT", "i:3"),
        "AttrValue had value with type 'int' when 'type' expected",
    ),
    "twice": (A + A, "Node 'a' is not unique"),
    "cycle": (
        B + B.replace('"a"', '"b"').replace('name:"b"', 'name:"a"'),
        "2 nodes in a cycle",
    ),
    "too many inputs": (
        A + B.replace('"a"', '"a" input:"a"'),
        "NodeDef expected inputs 'float' do not match 2 inputs specified;",
    ),
    "control first": (
        A + B.replace('"a"', '"^a" input:"a"'),
        "Node 'b': Control dependencies must come after regular dependencies",
    ),
    "illegal name": ('node{name:"a b" op:"NoOp"}', "invalid characters"),
    "no name": ('node{op:"NoOp"}', "invalid characters"),
    "device": ('node{name:"x" op:"NoOp" device:"/foo:0"}', "Unknown attribute: 'foo'"),
    "colocation": (
        A + B.replace(FLOAT, FLOAT + 'attr{key:"_class" value{list{s:"loc:@z"}}}'),
        "Node 'b' expects to be colocated with unknown node 'z'",
    ),
    "version": (A + "versions{min_consumer:9999}", "min consumer version 9999 above"),
    "short tensor": (
        A.replace("float_val:1", 'tensor_content:"abc"'),
        "needs 4 bytes, got 3",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_graphs_leave_no_trace(graph, case):
    text, message = REFUSED[case]
    constant(1.0, name="mine")
    before = graph.as_graph_def()
    with pytest.raises(ValueError, match=re.escape(message)):
        import_graph_def(parse(text))
    assert graph.as_graph_def() == before
    assert constant(1.0, name="import/a").name == "import/a:0"


def test_refused_arguments(graph):
    with pytest.raises(TypeError, match=r"must be a GraphDef proto.*FromString"):
        import_graph_def(parse(A).SerializeToString())
    with pytest.raises(DecodeError):
        GraphDef.FromString(b"corrupt bytes")
    with pytest.raises(errors.NotFoundError):
        import_graph_def(parse('node{name:"x" op:"Foo"}'))
    with pytest.raises(TypeError, match="input_map must be a dictionary"):
        import_graph_def(parse(A), [1])
    with pytest.raises(ValueError, match=r"not found in graph_def: \[zz:0\]"):
        import_graph_def(parse(A), {"zz:0": constant(1.0)})
    with pytest.raises(ValueError, match="requires a non-empty `name`"):
        import_graph_def(parse(A + B), {"a:0": 3.0}, name="")
    with pytest.raises(TypeError, match="return_elements must be a list of strings"):
        import_graph_def(parse(A), return_elements=[3])
    for name, message in {
        "zz": "Requested return node 'zz' not found in graph def",
        "zz:0": "Requested return tensor 'zz:0' not found in graph def",
        "b:7": "Invalid return output 7 of node 'b', which has 1 output",
        "b:0:0": "Cannot convert 'b:0:0' to a tensor name.",
    }.items():
        with pytest.raises(ValueError, match=message):
            import_graph_def(parse(A + B), return_elements=[name])
    graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized"):
        import_graph_def(parse(A))


TENSOR = 'attr{key:"value" value{tensor{dtype:DT_FLOAT tensor_shape{%s} %s}}}'
CONST = 'node{name:"a" op:"Const" attr{key:"dtype" value{type:DT_FLOAT}} %s}'
X = 'node{name:"x" op:"Placeholder" attr{key:"dtype" value{type:DT_FLOAT}}} '


def reader(op, attrs):
    return X + f'node{{name:"y" op:"{op}" input:"x" {FLOAT} {attrs}}}'


# The words are TensorFlow's where it refuses the graph when it imports it; what it
# says of a constant's contents only when the graph runs is said here.
DAMAGED = {
    "attr without value": (
        reader("Identity", "").replace("{type:DT_FLOAT}} }", "{}}}"),
        "AttrValue missing value with expected type 'type'\n\t for attr 'T'",
    ),
    "type of references": (
        reader("Cast", "").replace(
            FLOAT,
            'attr{key:"SrcT" value{type:DT_FLOAT}} '
            'attr{key:"DstT" value{type:DT_VARIANT_REF}}',
        ),
        "AttrValue must not have reference type value of variant_ref\n\t for attr "
        "'DstT'\n\t; NodeDef: {{node import/y}}",
    ),
    "unknown type": (
        reader("Cast", 'attr{key:"SrcT" value{type:1000}}').replace(FLOAT, ""),
        "AttrValue has invalid DataType enum: 1000\n\t for attr 'SrcT'",
    ),
    "list of another kind": (
        reader("Print", 'attr{key:"U" value{list{i:1}}}'),
        "AttrValue had value with type 'list(int)' when 'list(type)' expected",
    ),
    "list for a single value": (
        reader("Cast", 'attr{key:"SrcT" value{list{type:1}}}').replace(FLOAT, ""),
        "AttrValue had value with type 'list(type)' when 'type' expected",
    ),
    "no inputs wanted": (
        reader("AddN", 'attr{key:"N" value{i:-1}}'),
        "Value for attr 'N' of -1 must be at least minimum 1",
    ),
    "too many inputs for a number": (
        reader("AddN", 'attr{key:"N" value{i:2147483648}}'),
        "Attr N has value 2147483648 out of range for an int32",
    ),
    "a million inputs": (
        reader("AddN", 'attr{key:"N" value{i:1000000}}'),
        "Attr N has value 1000000, and the node has 1 inputs",
    ),
    "a billion outputs": (
        reader("Unpack", 'attr{key:"num" value{i:1000000000}}'),
        "Attr num has value 1000000000: the node would have more than 65536 outputs",
    ),
    "type missing": (
        'node{name:"r" op:"RandomUniform"}',
        "attr=dtype:type,allowed=[DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE]",
    ),
    "output that is no number": (
        A + B.replace('"a"', '"a:x"'),
        "Node 'b': Unknown input node 'a:x'",
    ),
    "output below zero": (
        A + B.replace('"a"', '"a:-1"'),
        "Node 'b': Unknown input node 'a:-1'",
    ),
    "no output": (
        A + B.replace('"a"', '"a:"'),
        "Node 'b': Unknown input node 'a:'",
    ),
    "class that is no list": (
        reader("Identity", 'attr{key:"_class" value{i:3}}'),
        "Node 'y' has an attribute '_class' that is no list of strings",
    ),
    "class that is a type": (
        reader("Identity", 'attr{key:"_class" value{type:DT_FLOAT}}'),
        "Node 'y' has an attribute '_class' that is no list of strings",
    ),
    "class that is no UTF-8": (
        reader("Identity", r'attr{key:"_class" value{list{s:"loc:@\377"}}}'),
        "Node 'y' expects to be colocated with unknown node '\ufffd'",
    ),
    "too few shapes": (
        reader("Identity", 'attr{key:"_output_shapes" value{list{}}}'),
        "has 1 outputs but the _output_shapes attribute specifies shapes for 0 outputs",
    ),
    "odd shapes": (
        reader(
            "Identity",
            'attr{key:"_output_shapes" value{list{shape{dim{size:-5}}}}}',
        ),
        "Shape [-5] has dimensions with values below -1 (where -1 means unknown)",
    ),
    "shape below -1": (
        X.replace(
            "DT_FLOAT}}", 'DT_FLOAT}} attr{key:"shape" value{shape{dim{size:-5}}}}'
        ),
        "Shape [-5] has dimensions with values below -1 (where -1 means unknown)",
    ),
    "rank 300": (
        CONST % (TENSOR % ("dim{size:1}" * 300, "float_val:1")),
        "1] has too many dimensions",
    ),
    "constant of unknown shape": (
        CONST % (TENSOR % ("dim{size:-1}", "float_val:1")),
        "Shape [?] is not fully defined",
    ),
    "constant of 2**64 elements": (
        CONST % (TENSOR % ("dim{size:4294967296} " * 2, "float_val:1")),
        "Shape [4294967296,4294967296] is too large (more than 2**63 - 1 entries)",
    ),
    "constant of 2**62 elements": (
        CONST % (TENSOR % ("dim{size:4611686018427387904}", "float_val:1")),
        "is too large: 18446744073709551616 bytes",
    ),
    "constant to be filled up": (
        CONST % (TENSOR % ("dim{size:1000000000}", "float_val:1 float_val:2")),
        "gives 2 of 1000000000 values",
    ),
    "constant of references": (
        CONST % (TENSOR % ("", "")).replace("DT_FLOAT", "DT_FLOAT_REF"),
        "Type mismatch between value (float_ref) and dtype (float)",
    ),
    "constant of another type": (
        CONST % (TENSOR % ("", "int_val:1")).replace("DT_FLOAT", "DT_INT32"),
        "Type mismatch between value (int32) and dtype (float)\n\t for attr 'value'",
    ),
    "producer": (A + "versions{producer:-5}", "producer version -5 below min producer"),
    "consumer": (A + "versions{bad_consumers:134}", "disallows consumer version 134"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_graphs_are_refused_by_name(graph, case):
    text, message = DAMAGED[case]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        import_graph_def(parse(text))
    assert type(caught.value) is ValueError
    assert not graph.get_operations()


def test_functions_of_the_library(graph):
    library = 'library{function{signature{name:"%s"}}}'
    with pytest.raises(ValueError, match="Cannot add function 'Const' because an op"):
        import_graph_def(parse(A + library % "Const"))
    call = 'node{name:"c" op:"Twice" input:"a"} '
    with pytest.raises(ValueError, match="NodeDef expected inputs '' do not match 1"):
        import_graph_def(parse(A + call + library % "Twice"))
    assert not graph.get_operations()
    import_graph_def(parse(A + library % "Twice"))  # which nothing calls


def test_odd_attributes_that_tensorflow_takes(graph):
    import_graph_def(
        parse(
            A.replace("float_val:1", "float_val:1 float_val:2 float_val:3")
            + B.replace(FLOAT, FLOAT + r'attr{key:"_class" value{list{s:"\377"}}}')
            + 'node{name:"v" op:"VariableV2" attr{key:"dtype" value{type:DT_FLOAT}} '
            r'attr{key:"shared_name" value{s:"\377"}} attr{key:"container" value{}} '
            'attr{key:"shape" value{shape{}}} '
            'attr{key:"_output_shapes" value{i:1}} '
            'attr{key:"_class" value{list{}}}}'
        )
    )
    exported = graph.as_graph_def()
    a, b, v = exported.node
    assert a.attr["value"].tensor.float_val == [1]  # more than the shape holds
    assert b.attr["_class"].list.s == [b"\xff"]
    assert v.attr["shared_name"].s == b"\xff"
    assert v.attr["container"].s == b""  # no value is the default
    with Graph().as_default() as copy:
        import_graph_def(exported, name="")
    assert copy.as_graph_def() == exported


def test_a_malformed_device_beside_a_colocation_counts_for_nothing(graph):
    group = 'attr{key:"_class" value{list{s:"loc:@a"}}} device:"/foo:0"'
    import_graph_def(parse(A + B.replace(FLOAT, FLOAT + group)))
    assert graph.get_operations()[1].device == ""
    with pytest.raises(ValueError, match=r"Unknown attribute: 'foo'.*node 'a'"):
        import_graph_def(parse('node{name:"a" op:"NoOp" device:"/foo:0"}'))


def test_other_shapes_of_a_newer_program_are_not_its_graphs_end(graph):
    shapes = 'attr{key:"_output_shapes" value{list{shape{dim{size:3}}}}}'
    text = A + B.replace(FLOAT, FLOAT + shapes)
    for version in (24, 134):
        with pytest.raises(ValueError, match="inconsistent with shapes for output #0"):
            import_graph_def(parse(f"{text} versions{{producer:{version}}}"))
    import_graph_def(parse(text + "versions{producer:135}"))
    assert [op.outputs[0].shape.as_list() for op in graph.get_operations()] == [[], []]


def test_hints_of_tensorflow_2_become_control_edges(graph):
    hint = (
        'node{name:"hint" op:"DisableCopyOnRead" device:"/cpu:0" '
        'input:"a:0" input:"^a" input:"^b" attr{key:"_x" value{b:true}}} '
        'node{name:"c" op:"NoOp" input:"^hint"}'
    )
    import_graph_def(parse(hint + B + A), name="")
    found = graph.get_operation_by_name("hint")
    assert (found.type, found.device) == ("NoOp", "/device:CPU:0")
    assert [op.name for op in found.control_inputs] == ["a", "b"]
    assert graph.get_operation_by_name("c").control_inputs == [found]
