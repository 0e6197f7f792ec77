"""import_graph_def: what TF accepts, what it refuses, and that nothing is lost."""

import re

import pytest
from google.protobuf import text_format
from google.protobuf.message import DecodeError

import tfteach.ops.array  # noqa: F401 - registers Identity
from tfteach.framework import errors
from tfteach.framework.graph import Graph
from tfteach.framework.importer import import_graph_def
from tfteach.framework.scope import control_dependencies, device, name_scope
from tfteach.ops.constant import constant
from tfteach.ops.flow import Enter, Merge, NextIteration, no_op
from tfteach.protos import GraphDef

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
