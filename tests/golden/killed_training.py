"""A training that is killed at step 8: `python killed_training.py FOLDER LAST FAILURE`.

FAILURE is "none", "kill", or the class of the error that a hook raises there.  Prints
the global steps at which sessions began, the runs, and the last checkpoint, as JSON.
tests/lib/training/test_killed.py compares it with the answers of TensorFlow 1.15:
`python killed_training.py --record killed_training.json`.
"""

import json
import os
import subprocess
import sys
import tempfile

FAILURES = ("none", "AbortedError", "UnavailableError", "kill")


def train(folder, last, failure):
    import tensorflow as tf

    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.MomentumOptimizer(0.01, 0.5)
    train_op = optimizer.minimize(tf.square(w), step)
    starts, failed = [], []

    class Fail(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            starts.append(int(session.run(step)))

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(step)

        def after_run(self, run_context, run_values):
            if failure == "none" or failed or run_values.results < 7:
                return
            failed.append(failure)
            if failure == "kill":
                os.kill(os.getpid(), 9)
            raise getattr(tf.errors, failure)(None, None, "lost")

    hooks = [tf.train.StopAtStepHook(last_step=last), Fail()]
    runs = 0
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=3
    ) as session:
        while not session.should_stop():
            session.run(train_op)
            runs += 1
    names = ("global_step", "w", "w/Momentum")
    saved = [float(tf.train.load_variable(folder, name)) for name in names]
    return {"starts": starts, "runs": runs, "saved": saved}


def outcomes(command, failures=FAILURES):
    """What a Python prints for each failure; a killed training is continued."""
    found = {}
    for failure in failures:
        with tempfile.TemporaryDirectory() as folder:
            arguments = [*command, folder, "12"]
            done = subprocess.run([*arguments, failure], stdout=subprocess.PIPE)
            lines = [done.returncode]
            if failure == "kill":
                done = subprocess.run([*arguments, "none"], stdout=subprocess.PIPE)
            lines.append(json.loads(done.stdout.decode().splitlines()[-1]))
        found[failure] = lines
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        with open(sys.argv[2], "w") as file:
            json.dump(outcomes([sys.executable, __file__]), file, indent=1)
            file.write("\n")
    else:
        print(json.dumps(train(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
