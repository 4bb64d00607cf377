#!/usr/bin/env python3
"""Whether the tests of jobs/60_ceat.yaml that every study finds are found: a positive effect, and the p to
cite under 0.05.

    PYTHON check_effects.py results/ceat/contexts.stats.h5     # exit status 1 where one does not
"""

import argparse
import sys

import xarray

FOUND_EVERYWHERE = ("C1", "C2")


def effects(statistics):
    """{test: (effect, p)} of the tests that must be there, as the job's statistics combine them; p is two-sided."""
    return {test: tuple(float(statistics[name].sel(weat_test=test)) for name in ("weat", "weat_p"))
            for test in FOUND_EVERYWHERE}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("statistics")
    with xarray.open_dataset(parser.parse_args().statistics, engine="netcdf4") as statistics:
        found = effects(statistics)
    for test, (effect, p) in found.items():
        print(f"{test}: d {effect:.2f}, p {p:.2g}")
    if not all(effect > 0 and p < 0.05 for effect, p in found.values()):
        sys.exit("check_effects.py: an effect was not found")


if __name__ == "__main__":
    main()
