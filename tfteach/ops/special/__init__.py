"""Special functions: error, gamma, beta, zeta and Bessel functions."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "BesselI0e": "bessel",
    "BesselI1e": "bessel",
    "Betainc": "incomplete_gamma_beta",
    "Digamma": "erf_lgamma",
    "Erf": "erf_lgamma",
    "Erfc": "erf_lgamma",
    "Igamma": "incomplete_gamma_beta",
    "IgammaGradA": "incomplete_gamma_beta",
    "Igammac": "incomplete_gamma_beta",
    "Lgamma": "erf_lgamma",
    "Polygamma": "erf_lgamma",
    "RandomGammaGrad": "incomplete_gamma_beta",
    "Zeta": "erf_lgamma",
}
