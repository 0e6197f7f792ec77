"""Datasets that threads prepare, with options of threads; see datasets.py."""

UNEVEN = [3, 0, 1, 3, 3, 4, 2]


def carried_blocks(tf):
    sizes = tf.constant([0, 4, 1, 3, 4], tf.int64)

    def of(i):
        return tf.data.Dataset.range(sizes[i]).map(lambda j: 10 * i + j)

    apply = tf.data.experimental.parallel_interleave(of, 4, 2)
    return tf.data.Dataset.range(5).apply(apply)


def _uneven(tf, fails=False):
    """Datasets of different lengths, one of which fails in the middle."""
    sizes = tf.constant(UNEVEN, tf.int64)

    def of(i):
        dataset = tf.data.Dataset.range(sizes[i]).map(lambda j: 10 * i + j)
        if fails:
            dataset = dataset.map(lambda j: j + 0 * (1 // (31 - j)))
        return dataset

    return tf.data.Dataset.range(len(UNEVEN)), of


def uneven_in_parallel(tf):
    dataset, of = _uneven(tf)
    return dataset.interleave(of, 3, 2, num_parallel_calls=3)


def failing_in_parallel(tf):
    dataset, of = _uneven(tf, fails=True)
    return dataset.interleave(of, 3, 2, num_parallel_calls=3)


def uneven_parallel_interleave(tf):
    dataset, of = _uneven(tf)
    return dataset.apply(tf.data.experimental.parallel_interleave(of, 2, 2))


def failing_parallel_interleave(tf):
    dataset, of = _uneven(tf, fails=True)
    return dataset.apply(tf.data.experimental.parallel_interleave(of, 2, 2))


def default_cycle(tf):
    dataset, of = _uneven(tf)
    return dataset.take(1).interleave(of)


def threads_of_zero(tf):
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 0
    return tf.data.Dataset.range(3).with_options(options)


def negative_parallelism(tf):
    options = tf.data.Options()
    options.experimental_threading.max_intra_op_parallelism = -1
    return tf.data.Dataset.range(3).with_options(options)


def slack_without_prefetch(tf):
    options = tf.data.Options()
    options.experimental_slack = True
    return tf.data.Dataset.range(3).map(lambda i: i + 1).with_options(options)


def slack(tf):
    options = tf.data.Options()
    options.experimental_slack = True
    return (
        tf.data.Dataset.range(3).prefetch(1).map(lambda i: i + 1).with_options(options)
    )
