# SPDX-License-Identifier: MIT
"""Numbers and choices drawn from a seed; numbers have few digits, so that models stay readable."""
import math
import random


def rounded(value, digits=4):
    """The value rounded to this number of significant digits."""
    return float(f"{value:.{digits}g}")


class Chance:
    """A source of random numbers for one case, the same on every machine."""

    def __init__(self, family, seed):
        self.source = random.Random(f"{family}:{seed}")

    def odds(self, probability):
        return self.source.random() < probability

    def choose(self, *items):
        return items[self.source.randrange(len(items))]

    def whole(self, low, high):
        return self.source.randint(low, high)

    def number(self, low, high, digits=3):
        return rounded(self.source.uniform(low, high), digits)

    def scale(self, low, high, digits=3):
        """Between low and high with a uniformly distributed logarithm."""
        return rounded(math.exp(self.source.uniform(math.log(low), math.log(high))), digits)

    def direction(self, planar=False):
        """A unit vector; a planar one has no y."""
        while True:
            v = [self.source.uniform(-1, 1) for _ in range(3)]
            if planar:
                v[1] = 0.0
            n = math.sqrt(sum(c*c for c in v))
            if 0.1 < n <= 1:
                return [rounded(c/n, 3) for c in v]

    def vector(self, length, planar=False):
        return [rounded(c*length, 3) for c in self.direction(planar)]
