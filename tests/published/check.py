"""Recomputes what follows from the papers' own tables and data, and prints every claim with its verdict.

    PYTHONPATH=analysis python3 tests/published/check.py [cao2022 guo2021 winoidentity stereomap]

Reads ../shared/papers and ../shared/data beside the repository. Ends with 1 where a number differs, 2 without the texts.
"""

import argparse
import sys
import textwrap

import cao2022
import claims
import guo2021
import stereomap
import winoidentity

PAPERS = {"cao2022": cao2022, "guo2021": guo2021, "winoidentity": winoidentity, "stereomap": stereomap}
WIDTHS = (46, 18, 18, 12)


def shown(value):
    if isinstance(value, list | tuple | set):
        return ", ".join(map(shown, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {shown(held)}" for key, held in value.items()) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def row(cells):
    parts = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, WIDTHS)]
    for i in range(max(map(len, parts))):
        line = "  ".join((part[i] if i < len(part) else "").ljust(width) for part, width in zip(parts, WIDTHS))
        yield line.rstrip()


def verdict(claim):
    if not claim.agrees:
        return "DIFFERS"
    return {"": "as stated", "holds": "paper holds", "fails": "paper fails"}[claim.paper]


def report(found):
    """The lines that are printed; `found`: {paper: claims}."""
    every = [claim for several in found.values() for claim in several]
    same, fails = sum(claim.agrees for claim in every), sum(claim.paper == "fails" for claim in every)
    yield f"{same} of {len(every)} numbers are recomputed as this project states them; {fails} of them contradict their paper."
    for name, several in found.items():
        yield ""
        yield from row((name, "expected", "recomputed", "verdict"))
        for claim in several:
            yield from row((f"{claim.place}: {claim.what}", shown(claim.expected), shown(claim.recomputed), verdict(claim)))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"of {', '.join(PAPERS)}; default: all")
    chosen = parser.parse_args(arguments).papers or list(PAPERS)
    if unknown := set(chosen) - set(PAPERS):
        parser.error(f"there is no paper {', '.join(sorted(unknown))}; papers: {', '.join(PAPERS)}")
    try:
        found = {name: list(PAPERS[name].all_claims()) for name in chosen}
    except claims.Missing as error:
        print(f"nothing was recomputed: {error}", file=sys.stderr)
        return 2
    print("\n".join(report(found)))
    return 0 if all(claim.agrees for several in found.values() for claim in several) else 1


if __name__ == "__main__":
    sys.exit(main())
