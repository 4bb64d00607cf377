"""Philox4x32-10 in numpy, from its paper (Salmon et al., SC 2011): the draws of a contexts job, computed independently."""

import hashlib

import numpy

LOW = numpy.uint64(0xFFFFFFFF)
HALF = numpy.uint64(32)


def philox(counter, key):
    """Ten rounds on four arrays of 32-bit words."""
    counter = [numpy.asarray(word, dtype=numpy.uint64) for word in counter]
    key = [numpy.uint64(word) for word in key]
    for _ in range(10):
        first = numpy.uint64(0xD2511F53) * counter[0]
        second = numpy.uint64(0xCD9E8D57) * counter[2]
        counter = [(second >> HALF) ^ counter[1] ^ key[0], second & LOW, (first >> HALF) ^ counter[3] ^ key[1], first & LOW]
        key = [(key[0] + numpy.uint64(0x9E3779B9)) & LOW, (key[1] + numpy.uint64(0xBB67AE85)) & LOW]
    return counter


def name(text):
    """Of a test or a word among the counter's words."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")


def contexts_drawn(seed, test, samples, word, count):
    """Which of `count` vectors stands for `word` in each of the samples."""
    word_0, word_1, _, _ = philox([name(word), numpy.arange(samples), name(test), 1], [seed & 0xFFFFFFFF, seed >> 32])
    bits = [int(high) << 32 | int(low) for high, low in zip(numpy.broadcast_to(word_1, samples), word_0)]
    return numpy.array([value * count >> 64 for value in bits])
