"""How far 16 bits may be from float32: tests/support/Rounding.hpp, for numbers that the program prints."""

import math

ROUNDING = {"float16": 2**-11, "bfloat16": 2**-8}  # largest relative error of one rounding


def most_error(dtype, layers, spread):
    """Of numbers with this standard deviation: ten independent roundings a layer and ten around them; five deviations,
    since many numbers are compared, and twice that, since wide weights enlarge what comes in."""
    return 10 * ROUNDING[dtype] * math.sqrt(10 * (layers + 1) / 3) * spread
