"""tf.contrib: one package for each of its parts.  Source: contrib/."""
