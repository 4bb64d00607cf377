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

Columns = dict[str, tuple[int, int | None]]  # {dimension: places of membership and direction}


@dataclass
class Dictionary:
    """`directions[word][dimension]` is -1, 0, 1, or None where the word belongs to the dimension without a direction
    of its own (NA). `dimensions` in the file's order. `skipped`: cells and rows that were passed over, in words."""

    dimensions: list[str] = field(default_factory=list)
    directions: dict[str, dict[str, int | None]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def __contains__(self, word: object) -> bool:
        return word in self.directions


def _number(text: str) -> str:
    """ "1.0" as "1"."""
    text = text.strip().lower()
    return text[:-2] if text.endswith(".0") else text


def _read_own(path: PathLike, reader: "_Rows", names: list[str], faults: list[str]) -> Dictionary:
    found = Dictionary()
    known: dict[tuple[str, str], int] = {}
    for row in reader:
        if not row or (len(row) == 1 and not row[0].strip()):
            continue
        if len(row) != len(OWN_COLUMNS):
            faults.append(f"'{path}' line {reader.line_num}: {len(row)} columns, not {len(OWN_COLUMNS)}")
            continue
        word, dimension, direction = (row[names.index(name)].strip() for name in OWN_COLUMNS)
        word = word.lower()
        if not word or not dimension:
            faults.append(f"'{path}' line {reader.line_num}: the {'dimension' if word else 'word'} is empty")
        elif direction not in DIRECTIONS and direction.lower() not in MISSING[1:]:
            faults.append(f"'{path}' line {reader.line_num}: direction '{direction}' is none of -1, 0, 1, NA")
        elif (word, dimension) in known:
            faults.append(
                f"'{path}' line {reader.line_num}: '{word}' stands under {dimension} twice,"
                f" first in line {known[word, dimension]}"
            )
        else:
            known[word, dimension] = reader.line_num
            if dimension not in found.dimensions:
                found.dimensions.append(dimension)
            found.directions.setdefault(word, {})[dimension] = DIRECTIONS.get(direction)
    return found


def _published_row(row: list[str], columns: Columns, place: str, faults: list[str]) -> dict[str, int | None]:
    """{dimension: direction} of one row; faults: its cells that cannot be read."""
    belongs = {}
    for dimension, (member_column, direction_column) in columns.items():
        member = _number(row[member_column])
        if member not in ("0", "1", *MISSING):
            faults.append(f"{place}: '{row[member_column]}' under '{dimension}{MEMBER_ENDING}' is none of 0, 1, NA")
        if member != "1":
            continue
        cell = row[direction_column] if direction_column is not None else ""
        direction = _number(cell)
        if direction not in DIRECTIONS and direction not in MISSING:
            faults.append(f"{place}: '{cell}' under '{dimension}{DIRECTION_ENDING}' is none of -1, 0, 1, NA")
        belongs[dimension] = DIRECTIONS.get(direction)
    return belongs


def _read_published(path: PathLike, reader: "_Rows", names: list[str], faults: list[str]) -> Dictionary:
    word_column = names.index(PUBLISHED_WORD)
    members = {name[: -len(MEMBER_ENDING)]: place for place, name in enumerate(names) if name.endswith(MEMBER_ENDING)}
    directions = {
        name[: -len(DIRECTION_ENDING)]: place for place, name in enumerate(names) if name.endswith(DIRECTION_ENDING)
    }
    if not members:
        raise ResultError(f"'{path}' line 1: no column is called '<Dimension>{MEMBER_ENDING}'; it has {names}")
    lost = [dimension for dimension in directions if dimension not in members]
    if lost:
        raise ResultError(
            f"'{path}' line 1: a direction without '<Dimension>{MEMBER_ENDING}' beside it: {', '.join(lost)}"
        )
    columns = {dimension: (place, directions.get(dimension)) for dimension, place in members.items()}
    found = Dictionary(dimensions=list(columns))
    first_line: dict[str, int] = {}
    for row in reader:
        place = f"'{path}' line {reader.line_num}"
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(names):
            faults.append(f"{place}: {len(row)} columns, not {len(names)}")
            continue
        word = row[word_column].strip().lower()
        if not word:
            faults.append(f"{place}: no word")
            continue
        belongs = _published_row(row, columns, place, faults)
        if word in found.directions:
            if found.directions[word] != belongs:
                faults.append(f"{place}: '{word}' differs from its row in line {first_line[word]}")
            continue
        first_line[word] = reader.line_num
        found.directions[word] = belongs
    found.directions = {word: belongs for word, belongs in found.directions.items() if belongs}
    return found


def read_dictionary(path: PathLike, malformed: str = "refuse") -> Dictionary:
    """Our table (tabs; word, dimension, direction; lines that begin with # are comments), or the published one of
    Nicolas, Bai and Fiske (2021), "Full Dictionaries.csv": "original word", "<Dimension> dictionary" (1: belongs),
    "<Dimension> direction" (-1, 0, 1, NA); its other columns are not read. Words are lower-cased.

    A cell that is none of these, or a word with two different rows, is a fault. Raises ResultError with all of them and
    their lines; with `malformed="skip"` such a direction of the published table is NA, such a membership is none, and
    the first row of a word counts.
    """
    faults: list[str] = []
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            comments = 0
            line = file.readline()
            while line.startswith("#"):
                comments += 1
                line = file.readline()
            separator = "\t" if "\t" in line else ","
            names = [name.strip() for name in next(csv.reader([line], delimiter=separator), [])]
            lines = _Lines(file, comments + 1)
            if set(names) == set(OWN_COLUMNS) and len(names) == len(OWN_COLUMNS):
                found = _read_own(path, _Rows(lines, separator), names, faults)
                malformed = "refuse"
            elif PUBLISHED_WORD in names:
                found = _read_published(path, _Rows(lines, separator), names, faults)
            else:
                raise ResultError(
                    f"'{path}' line {comments + 1}: columns {names}; a dictionary has {', '.join(OWN_COLUMNS)}, or"
                    f" '{PUBLISHED_WORD}' and '<Dimension>{MEMBER_ENDING}'"
                )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ResultError(f"'{path}' cannot be read as a table in UTF-8: {error}") from error
    if faults and malformed == "refuse":
        shown = faults[:MAX_FAULTS] + ([f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else [])
        advice = f"\n--malformed skip leaves these {len(faults)} out" if PUBLISHED_WORD in names else ""
        raise ResultError("\n".join(shown) + advice)
    if not found.directions:
        raise ResultError(f"'{path}' holds no word")
    found.skipped = faults
    return found


class _Lines:
    """Lines without comments; `number` is that of the last one in the file."""

    def __init__(self, file: Iterable[str], number: int) -> None:
        self.file, self.number = file, number

    def __iter__(self) -> Iterator[str]:
        for line in self.file:
            self.number += 1
            if not line.startswith("#"):
                yield line


class _Rows:
    """Rows of a table and the line in which the last one ends."""

    def __init__(self, lines: _Lines, separator: str) -> None:
        self.lines = lines
        self.reader = csv.reader(
            lines, delimiter=separator, quoting=csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL
        )

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self.reader)

    @property
    def line_num(self) -> int:
        return self.lines.number


def read_mapping(path: PathLike) -> dict[str, str]:
    """{word: word} of the user's own table with tabs: two columns, no header; lines that begin with # are comments.
    Lower case. Raises ResultError with all faults and their lines."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"'{path}' cannot be read as a table in UTF-8: {error}") from error
    mapping: dict[str, str] = {}
    first_line: dict[str, int] = {}
    faults: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [" ".join(cell.lower().split()) for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            faults.append(f"'{path}' line {number}: a word, a tab and a word are expected")
        elif cells[0] in mapping:
            faults.append(f"'{path}' line {number}: '{cells[0]}' is mapped twice, first in line {first_line[cells[0]]}")
        else:
            mapping[cells[0]] = cells[1]
            first_line[cells[0]] = number
    if faults:
        raise ResultError("\n".join(faults[:MAX_FAULTS]))
    return mapping
