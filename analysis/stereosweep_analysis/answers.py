"""Single answers of people, one row per annotator, group and pair, as `statistics.people` reads them."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .open import PathLike, ResultError

Answer = tuple[str, str, str, float]  # of COLUMNS
COLUMNS = ("annotator", "group", "pair", "rating")


def read_answers(path: PathLike) -> list[Answer]:
    """Rows (annotator, group, pair, rating) of a JSON file {annotator: {group: {pair: rating}}}.

    The form of data_full.json of Cao et al. (NAACL 2022). Ratings are numbers, or texts that hold one. Raises
    ResultError with the place of the first value that is none.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ResultError(f"'{path}' cannot be read as JSON: {error}") from error
    rows = []
    for annotator, groups in _items(data, path, "the file"):
        for group, pairs in _items(groups, path, annotator):
            for pair, value in _items(pairs, path, f"{annotator}, {group}"):
                try:
                    rating = float(value)
                except (TypeError, ValueError):
                    raise ResultError(f"'{path}': {annotator}, {group}, {pair}: {value!r} is no rating") from None
                rows.append((annotator, group, pair, int(rating) if rating.is_integer() else rating))
    return rows


def _items(mapping: object, path: PathLike, place: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(mapping, dict):
        raise ResultError(f"'{path}': {place}: a mapping is expected, not {type(mapping).__name__}")
    return mapping.items()


def write_answers(rows: Iterable[Answer], path: PathLike) -> None:
    """The rows as a table with tabs between its columns."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
