"""Random numbers: the same as TensorFlow's for the same seeds."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "Multinomial": "random_ops",
    "RandomGamma": "random_gamma_poisson",
    "RandomPoissonV2": "random_gamma_poisson",
    "RandomShuffle": "random_ops",
    "RandomStandardNormal": "random_ops",
    "RandomUniform": "random_ops",
    "RandomUniformInt": "random_ops",
    "StatelessMultinomial": "stateless_random",
    "StatelessRandomNormal": "stateless_random",
    "StatelessRandomUniform": "stateless_random",
    "StatelessRandomUniformInt": "stateless_random",
    "StatelessTruncatedNormal": "stateless_random",
    "TruncatedNormal": "random_ops",
}
