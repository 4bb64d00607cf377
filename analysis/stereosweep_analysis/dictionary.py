"""Dictionaries of stereotype content: which words are about which dimension, and in which direction."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .open import PathLike, ResultError

OWN_COLUMNS = ("word", "dimension", "direction")
PUBLISHED_WORD = "original word"
MEMBER_ENDING = " dictionary"
DIRECTION_ENDING = " direction"
DIRECTIONS = {"-1": -1, "0": 0, "1": 1}
MISSING = ("", "na", "nan")
MALFORMED = ("refuse", "skip")
MAX_FAULTS = 20

Row = tuple[int, list[str]]  # number of the line that it ends in, cells
Fault = tuple[int, str]  # number of the line, what is wrong


@dataclass
class Dictionary:
    """`directions[word][dimension]` is -1, 0, 1, or None where the word belongs to the dimension without a direction
    of its own (NA). `dimensions` in the file's order. `skipped`: cells and rows that were passed over, in words."""

    dimensions: list[str] = field(default_factory=list)
    directions: dict[str, dict[str, int | None]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def __contains__(self, word: object) -> bool:
        return word in self.directions


def table_rows(path: PathLike, separators: str) -> list[Row]:
    """Of a table, without blank ones and lines that begin with #. `separators`: of them the first that its first row
    has; cells between tabs are not quoted. Raises ResultError."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            lines = ["\n" if line.startswith("#") else line for line in file]
        first = next((line for line in lines if line.strip()), "")
        separator = next((sign for sign in separators if sign in first), separators[-1])
        plain = separator == "\t"
        reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL)
        return [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ResultError(f"'{path}' cannot be read as a table in UTF-8: {error}") from error


def _told(path: PathLike, faults: list[Fault]) -> list[str]:
    return [f"'{path}' line {number}: {text}" for number, text in faults]


def _words(rows: list[Row], names: list[str], faults: list[Fault]) -> Iterator[tuple[int, str, dict[str, str]]]:
    """(line, word in lower case, {column: cell}) of each row; the word stands in the column that names it."""
    for number, cells in rows:
        row = dict(zip(names, cells, strict=False))
        word = row.get(PUBLISHED_WORD, row.get("word", "")).lower()
        if len(cells) != len(names):
            faults.append((number, f"{len(cells)} columns, not {len(names)}"))
        elif not word:
            faults.append((number, "the word is empty"))
        else:
            yield number, word, row


def _number(text: str) -> str:
    """ "1.0" as "1"."""
    return text.lower().removesuffix(".0")


def _read_own(rows: list[Row], names: list[str], faults: list[Fault]) -> Dictionary:
    found = Dictionary()
    first: dict[tuple[str, str], int] = {}
    for number, word, row in _words(rows, names, faults):
        dimension, direction = row["dimension"], row["direction"]
        if not dimension:
            faults.append((number, "the dimension is empty"))
        elif direction not in DIRECTIONS and direction.lower() not in MISSING[1:]:
            faults.append((number, f"direction '{direction}' is none of -1, 0, 1, NA"))
        elif (line := first.setdefault((word, dimension), number)) != number:
            faults.append((number, f"'{word}' stands under {dimension} twice, first in line {line}"))
        else:
            found.directions.setdefault(word, {})[dimension] = DIRECTIONS.get(direction)
    found.dimensions = list(dict.fromkeys(dimension for _, dimension in first))
    return found


def _belongs(number: int, row: dict[str, str], dimensions: Iterable[str], faults: list[Fault]) -> dict[str, int | None]:
    """{dimension: direction} of one row of the published table; faults: its cells that cannot be read."""
    belongs = {}
    for dimension in dimensions:
        member, direction = (row.get(dimension + ending, "") for ending in (MEMBER_ENDING, DIRECTION_ENDING))
        if _number(member) not in ("0", "1", *MISSING):
            faults.append((number, f"'{member}' under '{dimension}{MEMBER_ENDING}' is none of 0, 1, NA"))
        if _number(member) != "1":
            continue
        if _number(direction) not in (*DIRECTIONS, *MISSING):
            faults.append((number, f"'{direction}' under '{dimension}{DIRECTION_ENDING}' is none of -1, 0, 1, NA"))
        belongs[dimension] = DIRECTIONS.get(_number(direction))
    return belongs


def _read_published(rows: list[Row], names: list[str], faults: list[Fault]) -> Dictionary:
    """Raises ResultError with what is wrong with the columns."""
    members, directions = ([name.removesuffix(ending) for name in names if name.endswith(ending)]
                           for ending in (MEMBER_ENDING, DIRECTION_ENDING))  # fmt: skip
    if not members:
        raise ResultError(f"no column is called '<Dimension>{MEMBER_ENDING}'; it has {names}")
    if lost := [dimension for dimension in directions if dimension not in members]:
        raise ResultError(f"a direction without '<Dimension>{MEMBER_ENDING}' beside it: {', '.join(lost)}")
    found: dict[str, dict[str, int | None]] = {}
    first: dict[str, int] = {}
    for number, word, row in _words(rows, names, faults):
        belongs = _belongs(number, row, members, faults)
        if found.setdefault(word, belongs) != belongs:
            faults.append((number, f"'{word}' differs from its row in line {first[word]}"))
        first.setdefault(word, number)
    return Dictionary(members, {word: belongs for word, belongs in found.items() if belongs})


def read_dictionary(path: PathLike, malformed: str = "refuse") -> Dictionary:
    """Our table (tabs; word, dimension, direction; lines that begin with # are comments), or the published one of
    Nicolas, Bai and Fiske (2021), "Full Dictionaries.csv": "original word", "<Dimension> dictionary" (1: belongs),
    "<Dimension> direction" (-1, 0, 1, NA); its other columns are not read. Words are lower-cased.

    A cell that is none of these, or a word with two different rows, is a fault. Raises ResultError with all of them and
    their lines; with `malformed="skip"` such a direction of the published table is NA, such a membership is none, and
    the first row of a word counts.
    """
    (line, names), *rows = table_rows(path, "\t,") or [(1, [])]
    is_published = PUBLISHED_WORD in names
    faults: list[Fault] = []
    try:
        if not is_published and sorted(names) != sorted(OWN_COLUMNS):
            raise ResultError(
                f"columns {names}; a dictionary has {', '.join(OWN_COLUMNS)}, or '{PUBLISHED_WORD}' and"
                f" '<Dimension>{MEMBER_ENDING}'"
            )
        found = (_read_published if is_published else _read_own)(rows, names, faults)
    except ResultError as error:
        raise ResultError(*_told(path, [(line, str(error))])) from None
    found.skipped = _told(path, faults)
    if faults and not (is_published and malformed == "skip"):
        more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
        advice = [f"--malformed skip leaves these {len(faults)} out"] if is_published else []
        raise ResultError("\n".join([*found.skipped[:MAX_FAULTS], *more, *advice]))
    if not found.directions:
        raise ResultError(f"'{path}' holds no word")
    return found


def read_mapping(path: PathLike) -> dict[str, str]:
    """{word: word} of the user's own table with tabs: two columns, no header; lines that begin with # are comments.
    Lower case. Raises ResultError with all faults and their lines."""
    mapping: dict[str, str] = {}
    first: dict[str, int] = {}
    faults: list[Fault] = []
    for number, row in table_rows(path, "\t"):
        cells = [" ".join(cell.lower().split()) for cell in row]
        if len(cells) != 2 or not all(cells):
            faults.append((number, "a word, a tab and a word are expected"))
        elif (line := first.setdefault(cells[0], number)) != number:
            faults.append((number, f"'{cells[0]}' is mapped twice, first in line {line}"))
        else:
            mapping[cells[0]] = cells[1]
    if faults:
        raise ResultError("\n".join(_told(path, faults)[:MAX_FAULTS]))
    return mapping
