"""`tf.contrib.testing` in TensorFlow 1.15:
`python contrib_testing.py contrib_testing.json`.

As in `training_loops.py`; tests/lib/contrib/test_testing.py compares.
"""

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

outcome = loops.outcome


def _summary(tf, **values):
    made = [tf.Summary.Value(tag=tag, **value) for tag, value in values.items()]
    return tf.Summary(value=made)


def fake_writer(tf, folder):
    """What it keeps, and what its assertions say."""

    class Case(tf.test.TestCase):
        def runTest(self):
            """Only its assertions are used."""

    graph = tf.Graph()
    writer = tf.contrib.testing.FakeSummaryWriter("/logs", graph)
    writer.add_summary(_summary(tf, a={"simple_value": 2.0}), 3)
    writer.add_summary(_summary(tf, b={"simple_value": 1.0}).SerializeToString(), 3)
    one = tf.MetaGraphDef(graph_def=tf.GraphDef(node=[tf.NodeDef(name="n", op="NoOp")]))
    writer.add_meta_graph(one)
    log = tf.SessionLog(status=tf.SessionLog.START)
    writer.add_session_log(log, 2)
    writer.add_run_metadata(tf.RunMetadata(), "tag", 2)
    expectations = [
        {}, {"expected_logdir": "/logs"}, {"expected_logdir": "/other"},
        {"expected_graph": graph}, {"expected_graph": tf.Graph()},
        {"expected_summaries": {3: {"a": 2.0, "b": 1.0}}},
        {"expected_summaries": {3: {"a": 2.0}}}, {"expected_summaries": {4: {}}},
        {"expected_added_graphs": [graph]}, {"expected_added_graphs": []},
        {"expected_added_meta_graphs": [one]}, {"expected_added_meta_graphs": []},
        {"expected_added_meta_graphs": [tf.MetaGraphDef()]},
        {"expected_session_logs": [log]}, {"expected_session_logs": []},
    ]  # fmt: skip
    found = []
    for expected in expectations:
        result = outcome(lambda kwargs=expected: writer.assert_summaries(
            Case(), **kwargs
        ))  # fmt: skip
        found.append(result if isinstance(result, str) else result[0])
    return {
        "found": found,
        "graph_def": outcome(lambda: writer.add_graph(graph, graph_def="x")),
        "kept": {str(step): len(s) for step, s in writer.summaries.items()},
        "closed": [writer.flush(), writer.reopen(), writer.close()],
    }


def installed(tf, folder):
    """Which writers the cache makes."""
    fake, cache = tf.contrib.testing.FakeSummaryWriter, tf.summary.FileWriterCache
    found = [outcome(fake.uninstall)]
    fake.install()
    found.append([isinstance(cache.get(folder), fake), outcome(fake.install)[0]])
    fake.uninstall()
    found.append(isinstance(cache.get(folder), fake))
    cache.clear()
    found.append(isinstance(cache.get(folder), fake))
    return {"found": found}


def event_files(tf, folder):
    testing = tf.contrib.testing
    found = [testing.latest_events(folder), testing.latest_event_file(folder)]
    writer = tf.summary.FileWriter(folder)
    writer.add_summary(
        _summary(tf, a={"simple_value": 2.0}, b={"simple_value": 3.0}), 1
    )
    writer.add_summary(
        _summary(tf, a={"simple_value": 4.0}, h={"histo": tf.HistogramProto()}), 2
    )
    writer.add_event(tf.Event(step=3))
    writer.close()
    events = list(testing.latest_events(folder))
    events.append(tf.Event(step=2, summary=_summary(tf, a={"simple_value": 5.0})))
    found.append([event.WhichOneof("what") for event in events])
    found.append([event.step for event in testing.latest_summaries(folder)])
    found.append(sorted(testing.simple_values_from_events(events, ["a", "b"]).items()))
    one = testing.to_summary_proto(
        _summary(tf, a={"simple_value": 2.001}).SerializeToString()
    )
    calls = [
        lambda: testing.simple_values_from_events(events, ["h"]),
        lambda: testing.assert_summary(["a"], {"a": 2.0}, one),
        lambda: testing.assert_summary(["b"], {}, one),
    ]
    found += [outcome(call) for call in calls]
    wrong = outcome(lambda: testing.assert_summary(["a"], {"a": 2.1}, one))
    return {"found": found, "wrong value": wrong[0]}


PROGRAMS = [fake_writer, installed, event_files]

if __name__ == "__main__":
    loops.main(PROGRAMS)
