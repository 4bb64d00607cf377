"""What the file found, in the report's own forms: its tables, pictures of those with intervals, first rows in words."""

from ..pictures.dots import Dot, interval_dots
from ..tables import is_number, number_text, p_text
from .blocks import Paragraph, Points, picture_of
from .scores import interval_text

LEVEL = 0.05  # of adjusted p in words
MOST_POINTS = 5
MOST_SERIES = 3  # labels that share a row of a picture


def finding_blocks(finding, pictures=()):
    """What they come to, pictures, tables, each behind its own picture, warnings; below the first table how the numbers
    were computed."""
    blocks = [*([Points(finding.sentences)] if finding.sentences else []), *pictures]
    for table in finding.tables:
        blocks += [*([] if pictures else interval_picture(table)), table]
        blocks += [Paragraph(finding.notes)] if finding.notes and table is finding.tables[0] else []
    return [*blocks, *(Paragraph(text, "warning") for text in finding.warnings)]


def interval_picture(table):
    """Dots with their intervals, in the table's order; none where it has no interval, or a single row."""
    value, low, high = _places(table)
    rows = [row for row in table.rows if low is not None and is_number(row[value])]
    if len(rows) < 2 or not any(is_number(row[low]) for row in rows):
        return []
    dots = _dots(rows, table.labels, value, low, high)
    column = table.columns[value]
    is_signed = column.is_difference or any(is_number(row[at]) and row[at] < 0 for row in rows for at in (value, low))
    drawn = interval_dots(dots, f"{table.caption}: {column.title}", 0.0 if is_signed else None)
    lines = interval_text(table.columns[low].definition) or "the table's low and high"
    return [picture_of(drawn, table.caption, f"{table.caption}. Lines: {lines}.")]


def _places(table):
    """Columns of the first number that has an interval, and of its ends."""
    for place, column in enumerate(table.columns):
        if column.role == "low" and place + 1 < len(table.columns) and table.columns[place + 1].role == "high":
            values = [other for other in range(place - 1, -1, -1) if table.columns[other].role == "value"]
            owners = [other for other in values if table.columns[other].name in column.of]
            value = next(iter(owners or values), None)
            if value is not None:
                return value, place, place + 1
    return table.place_of("value"), None, None


def _dots(rows, labels, *places):
    """Labels that are alike in all rows are left out; few last ones share a row, many stand below their group."""
    varying = [place for place in range(labels) if len({row[place] for row in rows}) > 1] or [0]
    *first, last = varying
    is_series = bool(first) and len({row[last] for row in rows}) <= MOST_SERIES
    made = []
    for row in rows:
        numbers = [float(row[place]) for place in places]
        if is_series:
            made.append(Dot(", ".join(row[place] for place in first), *numbers, series=row[last]))
        else:
            group = row[first[0]] if first else ""
            made.append(Dot(", ".join(row[place] for place in [*first[1:], last]), *numbers, group=group))
    return made


def interval_words(value, low, high):
    """The number and its interval, where there is one: "0.5, 0.3 to 0.7"."""
    size = max((abs(number) for number in (value, low, high) if is_number(number)), default=0.0)
    words = (number_text(number, size) for number in (value, low, high))
    return "{}, {} to {}".format(*words) if is_number(low) else next(words)


def smallest_p_text(what, p):
    """Heads a list of what has the smallest adjusted p; says so where none of them is small."""
    if p <= LEVEL:
        return f"{what}, smallest p first:"
    return f"{what}, smallest p first, no adjusted one at most {LEVEL}:"


def points(table, most=MOST_POINTS):
    """The table's first rows in words: the number with its interval, n and adjusted p."""
    value, low, high = _places(table)
    adjusted = table.place_of("adjusted")
    counts = [place for place, column in enumerate(table.columns) if column.role == "n"]
    rows = [row for row in table.rows if is_number(row[value])][:most]
    if not rows:
        return []
    lines = []
    for row in rows:
        words = interval_words(row[value], *((row[low], row[high]) if low is not None else (None, None)))
        more = [f"n {number_text(row[counts[0]])}"] if counts else []
        more += [f"{table.columns[place].title} {number_text(row[place])}" for place in counts[1:] if row[place]]
        more += [f"adjusted p {p_text(row[adjusted])}"] if adjusted is not None and is_number(row[adjusted]) else []
        lines.append(f"{', '.join(row[: table.labels])}: {words}" + (f" ({', '.join(more)})" if more else ""))
    known = [row[adjusted] for row in rows if adjusted is not None and is_number(row[adjusted])]
    head = smallest_p_text(table.caption, min(known)) if known else f"{table.caption}, the first {len(rows)}:"
    return [Paragraph(head), Points(lines)]
