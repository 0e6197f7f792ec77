"""What TF keeps in tf.contrib: one package for each of its parts.  Source: contrib/."""
