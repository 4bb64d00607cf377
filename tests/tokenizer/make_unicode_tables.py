#!/usr/bin/env python3
"""Writes src/tokenizer/unicode/UnicodeTables.hpp: what the `tokenizers` wheel does to each code point.

Its parts use tables of different Unicode versions (8.0, 9.0 and Rust's own), so no single library has them all; the
facts are read off the wheel's behaviour, one code point at a time. Kept is where they differ from what Debian's utf8proc
(Unicode 15) says; what normal forms are is the same in every version that knows the character (Unicode's stability
policy). Run with the pinned wheel (env/requirements.txt):
    python tests/tokenizer/make_unicode_tables.py src/tokenizer/unicode/UnicodeTables.hpp
"""
import ctypes
import sys
import textwrap
import unicodedata
from pathlib import Path

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

POINTS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)


class Property(ctypes.Structure):
    """The first fields of utf8proc_property_t."""
    _fields_ = [("category", ctypes.c_int16), ("combining_class", ctypes.c_int16), ("bidi_class", ctypes.c_int16),
                ("decomp_type", ctypes.c_int16), ("decomp_seqindex", ctypes.c_uint16)]


UTF8PROC = ctypes.CDLL("libutf8proc.so.2")
UTF8PROC.utf8proc_category_string.restype = ctypes.c_char_p
UTF8PROC.utf8proc_get_property.restype = ctypes.POINTER(Property)
UTF8PROC.utf8proc_version.restype = ctypes.c_char_p
assert UTF8PROC.utf8proc_version() == b"2.8.0"


def utf8proc_classes(point):
    """What `classes_in_utf8proc` of Unicode.cpp says of a code point."""
    category = UTF8PROC.utf8proc_category_string(point).decode()
    known = {"L": {"word"}, "M": {"combining_mark", "word"}, "N": {"numeric"},
             "P": {"punctuation"}, "Z": {"white_space", "cleaned_to_space"}}.get(category[0], set())
    known = known | {"Mn": {"nonspacing_mark"}, "Nd": {"word"}, "Nl": {"word"}, "Pc": {"word"},
                     "Cc": {"removed_by_cleaning"}, "Cf": {"removed_by_cleaning"},
                     "Co": {"removed_by_cleaning"}}.get(category, set())
    facts = UTF8PROC.utf8proc_get_property(point).contents
    if facts.combining_class:
        known.add("reordered")
    if facts.decomp_seqindex != 0xFFFF:
        known.add("has_compatible" if facts.decomp_type else "has_canonical")
    if UTF8PROC.utf8proc_tolower(point) != point:
        known.add("has_lowercase")
    return known


def class_tests():
    """Name of each class and the test whether a character belongs to it."""
    clean = normalizers.BertNormalizer(True, False, False, False).normalize_str
    accents = normalizers.BertNormalizer(False, False, True, False).normalize_str
    chinese = normalizers.BertNormalizer(False, True, False, False).normalize_str
    strip = normalizers.StripAccents().normalize_str
    white = pre_tokenizers.WhitespaceSplit().pre_tokenize_str
    punctuation = pre_tokenizers.Punctuation().pre_tokenize_str
    digits = pre_tokenizers.Digits(True).pre_tokenize_str
    words = pre_tokenizers.Whitespace().pre_tokenize_str
    return [
        ("white_space", lambda c: not white(c)),
        ("punctuation", lambda c: len(punctuation("a" + c)) == 2),
        ("removed_by_cleaning", lambda c: not clean(c)),
        ("cleaned_to_space", lambda c: clean(c) == " "),
        ("nonspacing_mark", lambda c: not accents(c)),
        ("chinese", lambda c: len(chinese(c)) == 3),
        ("combining_mark", lambda c: not strip(c)),
        ("numeric", lambda c: len(digits("a" + c)) == 2),
        ("word", lambda c: len(words("a" + c)) == 1 and bool(words(c))),
    ]


def reordered(nfd):
    """The characters that the wheel reorders, as their combining classes say; checked against all pairs of classes."""
    candidates = [c for c in POINTS if unicodedata.combining(c) and nfd(c) == c]
    moves = [c for c in candidates if nfd("\u0334" + c) != "\u0334" + c or nfd(c + "\u0334") != c + "\u0334"
             or nfd("\u0345" + c) != "\u0345" + c]
    classes = {c: unicodedata.combining(c) for c in moves}
    heads = {}
    for c, value in classes.items():
        heads.setdefault(value, c)
    for c, value in classes.items():
        for other, head in heads.items():
            assert (nfd(head + c) == c + head) == (value < other) or c == head, (hex(ord(c)), value, other)
    unknown = [c for c in POINTS if c not in classes and nfd(c) == c and nfd("\u0345" + c) != "\u0345" + c]
    assert not unknown, unknown
    return classes


CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf",
              "Po", "Sm", "Sc", "Sk", "So", "Zs", "Cf"]


def newer():
    """By an older character like them: characters that Debian's Oniguruma (Unicode 14, as Python 3.11) lacks."""
    assert unicodedata.unidata_version == "14.0.0"
    category = {name: pre_tokenizers.Split(Regex(rf"\p{{{name}}}"), "removed").pre_tokenize_str for name in CATEGORIES}
    han = pre_tokenizers.Split(Regex(r"\p{Han}"), "removed").pre_tokenize_str
    older = {}
    for c in POINTS:
        older.setdefault((unicodedata.category(c), len(c.encode()), not han(c)), c)
    found = {}
    for c in POINTS:
        if unicodedata.category(c) != "Cn":
            continue
        for name, test in category.items():
            if not test(c):
                like = older.get((name, len(c.encode()), not han(c))) or older[name, len(c.encode()), False]
                found.setdefault(ord(like), []).append(ord(c))
    return found


def mapping(function):
    found = {}
    for c in POINTS:
        if ord(c) not in HANGUL:
            changed = function(c)
            if changed != c:
                found[c] = changed
    return found


def lowercase_runs():
    """"first-last/step:target": the characters between keep the distance of the first to its target."""
    runs = []
    for c, lower in sorted(mapping(normalizers.Lowercase().normalize_str).items()):
        point, targets = ord(c), [ord(t) for t in lower]
        if targets == [UTF8PROC.utf8proc_tolower(point)]:
            continue
        if runs and len(targets) == 1:
            first, last, step, start = runs[-1]
            same = len(start) == 1 and targets[0] - point == start[0] - first
            if same and (point - last == step or (first == last and point - last <= 2)):
                runs[-1] = (first, point, point - last, start)
                continue
        runs.append((point, point, 1, targets))
    return [f"{first:X}" + (f"-{last:X}" if last > first else "") + (f"/{step}" if step > 1 else "") + ":" +
            ".".join(f"{t:X}" for t in start) for first, last, step, start in runs]


def ranges(points):
    found = []
    for point in sorted(points):
        if found and found[-1][1] + 1 == point:
            found[-1][1] = point
        else:
            found.append([point, point])
    return [f"{first:X}" + (f"-{last:X}" if last > first else "") for first, last in found]


def literal(words, indent):
    lines = textwrap.wrap(" ".join(words), 116 - indent, break_on_hyphens=False) or [""]
    return "\n".join(f'{" " * indent}"{line}{" " if i + 1 < len(lines) else ""}"' for i, line in enumerate(lines))


def row(name, parts):
    """In one line where it fits."""
    line = f"    {{{name}, " + ", ".join(f'"{" ".join(part)}"' for part in parts) + "},"
    return line if len(line) <= 120 else f"    {{{name},\n" + ",\n".join(literal(part, 5) for part in parts) + "},"


def rows(table):
    return "\n".join(row(name, parts) for name, parts in table)


def main(path):
    nfd, nfkd = normalizers.NFD().normalize_str, normalizers.NFKD().normalize_str
    canonical = mapping(nfd)
    members = {name: {ord(c) for c in POINTS if test(c)} for name, test in class_tests()}
    members["has_canonical"] = set(map(ord, canonical))
    members["has_compatible"] = {ord(c) for c, t in mapping(nfkd).items() if canonical.get(c) != t}
    members["reordered"] = set(map(ord, reordered(nfd)))
    members["has_lowercase"] = set(map(ord, mapping(normalizers.Lowercase().normalize_str)))
    known = {ord(c): utf8proc_classes(ord(c)) for c in POINTS}
    table = []
    for name, points in members.items():
        library = {point for point, names in known.items() if name in names}
        if points != library:
            table.append((f"classes::{name}", (ranges(points - library), ranges(library - points))))
    later = sorted(newer().items())
    Path(path).write_text(
        f"// Generated by tests/tokenizer/make_unicode_tables.py from the behaviour of tokenizers "
        f"""{tokenizers.__version__}. Do not edit.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "tokenizer/unicode/Unicode.hpp"

// clang-format off
namespace stereosweep::tokenizer::tables {{

/// A class, and where the wheel differs from utf8proc: code points that belong to it, and that do not. Hexadecimal,
/// "first-last" or one.
struct Difference {{
  Classes bits;
  std::string_view more, fewer;
}};
constexpr std::array<Difference, {len(table)}> differences = {{{{
{rows(table)}
}}}};

/// Code points assigned after Unicode 14, by an older one of the same category and UTF-8 length.
constexpr std::array<std::pair<char32_t, std::string_view>, {len(later)}> newer = {{{{
{rows([(f"0x{like:X}", (ranges(points),)) for like, points in later])}
}}}};

/// Where utf8proc differs. "first-last/step:target": the others keep the distance of the first to its target.
/// One becomes two characters.
constexpr std::string_view lowercase =
{literal(lowercase_runs(), 4)};

}}  // namespace stereosweep::tokenizer::tables
""")
    print(path, Path(path).read_text().count("\n"), "lines")


if __name__ == "__main__":
    main(sys.argv[1])
