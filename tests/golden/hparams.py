"""`HParams` as protos in TensorFlow 1.15: `python hparams.py hparams.json`.

As in `training_loops.py`; tests/lib/contrib/test_hparams.py compares.
"""

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

outcome = loops.outcome


def protos(tf, folder):
    """To a proto and back, each kind of value."""
    hparams = tf.contrib.training.HParams
    kinds = {
        "a": 1, "b": 0.5, "c": "x", "d": True, "e": [1, -2], "f": ["a", "b"],
        "g": [0.25, 2.0], "i": [True, False], "j": b"yz", "k": [b"q"], "big": 2**40,
    }  # fmt: skip
    proto = hparams(**kinds).to_proto(export_scope="s")
    found = [
        sorted(
            [name, value.WhichOneof("kind"), value.SerializeToString().hex()]
            for name, value in proto.hparam.items()
        ),
        sorted(hparams(hparam_def=proto).values().items()),
        sorted(hparams.from_proto(proto, "s").values().items()),
        hparams.from_proto(proto).parse("a=7,e=[5],d=false").values()["e"],
    ]
    calls = [
        lambda: hparams(a=None).to_proto(), lambda: hparams(a=[None]).to_proto(),
        lambda: hparams(hparam_def=proto, z=1), lambda: hparams(a=2**70).to_proto(),
    ]  # fmt: skip
    wrong = outcome(lambda: hparams(hparam_def=3))
    return {
        "found": found,
        "calls": [outcome(call)[:1] for call in calls],
        "messages": [outcome(call)[1] for call in calls[:3]],
        "wrong": wrong[0],
    }


PROGRAMS = [protos]

if __name__ == "__main__":
    loops.main(PROGRAMS)
