"""What lies behind the rows of tables and the cells of heat maps: sentences with their scores, statuses and answers.

A page holds it once, as JSON that is compressed: "texts", to which all other places refer by number; "cells" of a run,
subject and item; "tables" and "pictures": the cells of each row. What a page leaves out is counted.
"""

import base64
import json
import re
import zlib
from functools import cached_property
from itertools import zip_longest

import numpy as np

from ..glossary import term
from ..tables import MOST_ROWS, Table, cut, number_text
from ..views import measure_label, recommended_measure, texts
from . import audit
from .blocks import Picture
from .scores import measure_means
from .shown import interval_words

MOST_CELLS = 3000  # of a page
MOST_BYTES = 700_000  # of a page, compressed and as letters
FIRST_ROWS = 40  # of a table: they come before the rest of any other
MOST_OF_ROW = 6  # cells that a row stands for
MOST_WORDINGS = 12  # of a cell, from its lowest to its highest score; also sentences of a word
MOST_ANSWERS = 4  # of one wording
LONGEST = 500  # letters of a text
ITEM_AXES = ("item", "trait")
READINGS = ("rating", "answer_rating")  # what was read from answers
STATUSES = ("rating_status", "answer_status")


class Evidence:
    """`packed`: what the page keeps (empty: nothing is behind any row); `note`: what it leaves out, a sentence."""

    def __init__(self, runs, blocks):
        """`blocks`: {name: (places of its runs, Table or Picture)} in the page's order."""
        self.behind = [_Run(run) for run in runs]
        tables, pictures = {}, {}
        for name, (of, block) in blocks.items():
            if isinstance(block, Table):
                labels = (row[: block.labels] for row in block.rows[:MOST_ROWS])
                tables[name] = [self._cells_of(of, list(map(str, row))) for row in labels]
            elif isinstance(block, Picture) and block.cells:
                pictures[name] = [[self._cells_of(of, cell) for cell in row] for row in block.cells]
        first = [row for rows in tables.values() for row in rows[:FIRST_ROWS]]
        drawn = [cell for rows in pictures.values() for row in rows for cell in row]
        rest = [row for rows in tables.values() for row in rows[FIRST_ROWS:]]
        wanted = list(dict.fromkeys(cell for row in [*first, *drawn, *rest] for cell in row))
        kept = wanted[:MOST_CELLS]
        self.packed = self._pack(kept, tables, pictures)
        while len(self.packed) > MOST_BYTES:
            kept = kept[: len(kept) // 2]
            self.packed = self._pack(kept, tables, pictures)
        has_means = all(behind.means for behind in self.behind)  # a run that stops when it knows has none
        of = "means (a subject and an item)" if has_means else "pairs of a subject and an item"
        self.note = (
            f"Sentences behind {len(kept):,} of {len(wanted):,} {of} are in this page: at most "
            f"{MOST_WORDINGS} wordings of each, from its lowest to its highest score, {MOST_ANSWERS} answers to a "
            f"wording, {LONGEST} letters of a text. All are in the result file."
        )  # fmt: skip

    def _cells_of(self, runs, labels):
        return [(run, *cell) for run in runs for cell in self.behind[run].cells_of(tuple(labels))]

    def _pack(self, kept, tables, pictures):
        if not kept:
            return ""
        numbers = {cell: number for number, cell in enumerate(kept)}
        known = {}

        def number(text):
            return known.setdefault(cut(str(text), LONGEST), len(known))

        def of(row):
            return [numbers[cell] for cell in row if cell in numbers]

        found = {
            "cells": [[number(self.behind[run].run.label), *self.behind[run].cell(subject, item, number)]
                      for run, subject, item in kept],
            "tables": {name: [of(row) for row in rows] for name, rows in tables.items()},
            "pictures": {name: [[of(cell) for cell in row] for row in rows] for name, rows in pictures.items()},
        }  # fmt: skip
        statuses = sorted(set().union(*(behind.statuses for behind in self.behind)))
        found["statuses"] = {name: entry.definition for name in statuses if (entry := term("status", name))}
        found["measures"] = {behind.run.label: behind.label for behind in self.behind}
        found["texts"] = list(known)
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


class _Run:
    """The scores of a run's recommended measure, and the texts of its result."""

    def __init__(self, run):
        self.run, statistics = run, run.statistics
        measure = recommended_measure(statistics)
        self.label = measure_label(statistics, measure)
        axes = ("subject", "item", "template", "rephrasing", "replicate")
        self.scores = statistics["score"].sel(measure=measure).transpose(*axes).values
        self.status = statistics["score_status"].sel(measure=measure).transpose(*axes).values
        self.meanings = audit.flag_names(statistics["score_status"])
        self.statuses = set()
        self.subjects, self.items, templates, rephrasings = (texts(statistics, axis, axis) for axis in axes[:4])
        self.wordings = [(template, rephrasing) for template in templates for rephrasing in rephrasings]
        self.means = measure_means(statistics, measure)
        counts = np.isfinite(self.scores).sum((2, 3, 4))
        size = np.abs(np.nan_to_num(self.scores)).sum((2, 3, 4)) / np.maximum(counts, 1)
        self.strength = np.where(counts > 0, size, -1.0)
        self.asked = ~np.isin(self.status, [flag for flag, name in self.meanings.items() if name in audit.NOT_ASKED])
        self.rows, self.variables = {}, {}

    @cached_property
    def place_of_subject(self):
        return {name: place for place, name in enumerate(self.subjects) if name}

    @cached_property
    def names(self):
        """Names of subjects inside of a label, long ones first."""
        every = sorted(self.place_of_subject, key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, every))})(?!\w)") if every else re.compile("(?!)")

    @cached_property
    def items_of(self):
        """{name of an item or of one of its poles: places}"""
        found = {}
        sides = [texts(self.run.statistics, f"item_{side}", "item") for side in ("left", "right")]
        for names in (self.items, *sides):
            for place, name in enumerate(names):
                found.setdefault(name, []).append(place)
        return {name: sorted(set(places)) for name, places in found.items() if name}

    @cached_property
    def sides(self):
        """{name of a contrast: the subjects of its two sides, in turn}"""
        coordinates = [f"contrast_{name}" for name in ("name", "left_subjects", "right_subjects")]
        if any(name not in self.run.statistics.coords for name in coordinates):
            return {}
        rows = zip(*(self.run.statistics[name].values.astype(str) for name in coordinates), strict=True)
        found = {name: [self.names.findall(side) for side in sides] for name, *sides in rows}
        in_turn = {name: [one for pair in zip_longest(*sides) for one in pair] for name, sides in found.items()}
        return {name: ", ".join(filter(None, subjects)) for name, subjects in in_turn.items()}

    def cells_of(self, labels):
        """[(subject, item)] that a row with these labels is about, at most MOST_OF_ROW: an intersection with its parts;
        where it names no subject (or no item), those with the strongest scores."""
        if labels in self.rows:
            return self.rows[labels]
        items = list(dict.fromkeys(place for label in labels for place in self.items_of.get(label, ())))
        others = [label for label in labels if label not in self.items_of or label in self.place_of_subject]
        others = [self.sides.get(label, label) for label in others]
        subjects = [self.place_of_subject[name] for label in others for name in self.names.findall(label)]
        first, second = (texts(self.run.statistics, f"subject_{part}", "subject") for part in ("first", "second"))
        parts = [name for place in subjects if second[place] for name in (first[place], second[place])]
        subjects += [self.place_of_subject[name] for name in parts if name in self.place_of_subject]
        whole = (range(len(self.subjects)), range(len(self.items))) if subjects or items else ((), ())
        every = ((s, i) for s in dict.fromkeys(subjects) or whole[0] for i in items or whole[1])
        cells = [cell for cell in every if self.asked[cell].any()]
        if not subjects or not items:
            cells.sort(key=lambda cell: -self.strength[cell])
        self.rows[labels] = cells[:MOST_OF_ROW]
        return self.rows[labels]

    def cell(self, subject, item, number):
        """[subject, item, mean, wordings, rows (wording, sentence, score, status, [[answer, status, reading]]),
        sentences of the word]"""
        scores = self.scores[subject, item].reshape(len(self.wordings), -1)
        asked = self.asked[subject, item].reshape(scores.shape)
        places = np.flatnonzero(asked.any(1))
        counts = np.isfinite(scores).sum(1)
        values = np.where(counts > 0, np.nan_to_num(scores).sum(1) / np.maximum(counts, 1), np.nan)
        ordered = places[np.argsort(values[places], kind="stable")]  # those without a score stand last
        chosen = ordered[np.linspace(0, len(ordered) - 1, min(len(ordered), MOST_WORDINGS)).round().astype(int)]
        flags = self.status[subject, item].reshape(scores.shape)
        rows = []
        for place in chosen:
            names = [self.meanings[int(flag)] for flag in flags[place][asked[place]]]
            status = "ok" if "ok" in names else names[0]
            self.statuses |= set(names)
            status += f", {counts[place]} of {len(names)} repetitions" if len(names) > 1 else ""
            where = (self.subjects[subject], self.items[item], *self.wordings[place])
            sentences = [text for text in self._at(self.sentence, where) if text]
            wording = ", ".join(part for part in self.wordings[place] if part not in ("", "none"))
            rows.append([number(wording), number(sentences[0] if sentences else ""), number(number_text(values[place])),
                         number(status), self._answers(where, number)])  # fmt: skip
        words = [number(text) for text in self._sentences(self.subjects[subject], self.items[item])]
        numbers = (self.means.mean, self.means.low, self.means.high) if self.means else ()
        mean = interval_words(*(float(array[subject, item]) for array in numbers)) if numbers else ""
        return [number(self.subjects[subject]), number(self.items[item]), number(mean), len(places), rows, words]

    def _answers(self, where, number):
        answers = self._at(self._texts("answer_text"), where)
        statuses, readings = (self._at(self._texts(*names), where) for names in (STATUSES, READINGS))
        found = []
        for place, text in enumerate(answers[:MOST_ANSWERS]):
            status = statuses[place] if place < len(statuses) else ""
            self.statuses |= {status} - {""}
            read = number_text(float(readings[place])) if place < len(readings) and np.isfinite(readings[place]) else ""
            found.append([number(text), number(status), number(read)])
        return found

    def _sentences(self, subject, item):
        """Of a word, or of both sets of words of a test, where the result keeps sentences by words."""
        vectors = self.vectors
        if vectors is None:
            return []
        known = {str(word): place for place, word in enumerate(vectors["word"].values)}
        tests = texts(self.run.statistics, "test", "test") if "test" in self.run.statistics.coords else []
        sets = [name for name in ("test_x_words", "test_y_words") if item in tests and name in self.run.statistics]
        words = [subject] if subject in known else [
            word for name in sets for word in json.loads(str(self.run.statistics[name].values[tests.index(item)]))
        ]  # fmt: skip
        each = max(MOST_WORDINGS // max(len(words), 1), 1)
        found = [
            str(text)
            for word in words if word in known
            for text in [text for text in vectors["sentence"].isel(word=known[word]).values.ravel() if text][:each]
        ]  # fmt: skip
        return found[:MOST_WORDINGS]

    @cached_property
    def vectors(self):
        return audit.kept_vectors(self.run) if self.run.raw is not None and self.sentence is None else None

    @cached_property
    def sentence(self):
        return self._texts(*audit.PROMPTS)

    def _texts(self, *names):
        """The first of these variables that the result has, as values of one group at a time; None: it has none."""
        raw = self.run.raw
        name = next((name for name in names if raw is not None and name in raw and raw[name].dims[0] == "group"), None)
        if name is not None and name not in self.variables:
            self.variables[name] = _OfGroup(raw, name)
        return self.variables.get(name)

    def _at(self, variable, where):
        return [] if variable is None else variable.at(*where)


class _OfGroup:
    """A variable of the result whose first axis is the group; the last group that was asked for stays in memory."""

    def __init__(self, raw, name):
        self.raw, self.variable = raw, raw[name]
        self.places = {
            axis: {str(label): place for place, label in enumerate(raw[axis].values)}
            for axis in map(str, self.variable.dims) if axis in raw.coords
        }  # fmt: skip
        self.meanings = audit.flag_names(self.variable) if "flag_meanings" in self.variable.attrs else None
        self.group, self.values = None, None

    def at(self, subject, item, template, rephrasing):
        """Values over the axes that no score has (turns of a dialogue that are not the item's, rounds, orders)."""
        group = self.places["group"].get(subject)
        if group is None:
            return []
        if group != self.group:
            self.group, self.values = group, self.variable.isel(group=group).values
        where = {"template": template, "rephrasing": rephrasing, **dict.fromkeys(ITEM_AXES, item), **self._turn(item)}
        place = tuple(
            self.places[axis].get(where[axis], slice(0)) if axis in where else slice(None)
            for axis in map(str, self.variable.dims[1:])
        )
        found = np.asarray(self.values[place]).ravel().tolist()
        return [self.meanings[int(flag)] for flag in found] if self.meanings else found

    def _turn(self, item):
        """The conversation and the turn that ask for the item, of an interview."""
        if "item_turn" not in self.raw.coords or item not in (items := texts(self.raw, "item", "item")):
            return {}
        place = items.index(item)
        conversation, turn = (texts(self.raw, f"item_{axis}", "item")[place] for axis in ("conversation", "turn"))
        turns = texts(self.raw, "conversation_turns", "conversation")[self.places["conversation"][conversation]]
        return {"conversation": conversation, "turn": str(turns.split(", ").index(turn))}
