#!/usr/bin/env python3
"""Whether the tests of jobs/60_ceat.yaml that every study finds are found: their intervals lie above zero.

    PYTHON check_effects.py results/ceat/contexts.stats.h5     # exit status 1 where one does not
"""

import argparse
import sys

import xarray

FOUND_EVERYWHERE = ("C1", "C2")


def intervals(statistics):
    """{test: (effect, low, high)} of the tests that must be there, as the job's statistics combine them."""
    chosen = statistics.sel(variance=statistics.attrs["variance"], estimator=statistics.attrs["estimator"])
    return {test: tuple(float(chosen[name].sel(test=test)) for name in ("combined_effect", "low", "high"))
            for test in FOUND_EVERYWHERE}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("statistics")
    with xarray.open_dataset(parser.parse_args().statistics, engine="h5netcdf") as statistics:
        found = intervals(statistics)
    for test, (effect, low, high) in found.items():
        print(f"{test}: {effect:.2f} [{low:.2f}, {high:.2f}]")
    if not all(low > 0 for _, low, _ in found.values()):
        sys.exit("check_effects.py: an interval is not above zero")


if __name__ == "__main__":
    main()
