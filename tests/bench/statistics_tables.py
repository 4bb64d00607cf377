"""Random score tables, what `bench_statistics` concludes of them, and the report of a comparison: for compare_statistics.py."""

import json
import os
import pathlib
import subprocess

import h5py
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("STEREOSWEEP_BUILD_DIR", ROOT / "build/release"))
AXES = ("measure", "subject", "template", "rephrasing", "replicate", "item")
OK, NO_VALUES, TOO_FEW, CONSTANT = 0, 1, 2, 3  # stats::Reason
NOT_APPLICABLE = 5  # results::ScoreStatus


class ScoreTable:
    """Axes with labels and coordinates, `values` over them (NaN: no score), `statuses`."""

    def __init__(self, lengths):
        self.labels = [[f"{axis}{place}" for place in range(length)] for axis, length in zip(AXES, lengths)]
        self.coordinates = [{} for _ in AXES]
        self.values = numpy.full(lengths, numpy.nan)
        self.statuses = numpy.zeros(lengths, int)

    def length(self, axis):
        return len(self.labels[AXES.index(axis)])

    def named(self, name):
        """Labels of `subject`, or the coordinate of `subject.side`."""
        axis, _, coordinate = name.partition(".")
        place = AXES.index(axis)
        return numpy.array(self.coordinates[place][coordinate] if coordinate else self.labels[place])

    def document(self):
        axes = [{"name": axis, "labels": labels, "coordinates": coordinates}
                for axis, labels, coordinates in zip(AXES, self.labels, self.coordinates)]
        values = [None if numpy.isnan(value) else value for value in self.values.ravel().tolist()]
        return {"axes": axes, "values": values, "statuses": self.statuses.ravel().tolist()}


def random_values(random, shape):
    """Of one measure: continuous, with ties, constant, tiny, or far from zero; with effects of all axes, or none."""
    kind = random.choice(["normal", "ties", "binary", "constant", "tiny", "far", "positive", "effects"])
    normal = random.normal(size=shape)
    if kind == "constant":
        return numpy.full(shape, random.choice([0.0, 0.1, -1e9, 1e-12]))
    if kind == "effects":
        for axis in range(len(shape)):
            normal += random.normal(size=[length if place == axis else 1 for place, length in enumerate(shape)])
        return normal
    return {"normal": normal, "ties": 1.5 * numpy.round(2 * normal), "binary": 1.5 * (normal > 0.5), "tiny": 1e-12 * normal,
            "far": 1e9 + normal, "positive": numpy.exp(-10 * numpy.abs(normal))}[kind]


def crossed_subjects(random):
    """Label, kind, domain, first, second of groups of two or three domains, of some intersections, perhaps of a baseline."""
    groups = [(f"{domain}{place}", domain) for domain in ("age", "race", "work")[: random.integers(2, 4)]
              for place in range(random.integers(1, 4))]
    subjects = [(name, "group", domain, name, "") for name, domain in groups if random.random() < 0.95]
    pairs = [(first, second) for first in groups for second in groups if first[1] != second[1]]
    for place in random.permutation(len(pairs))[: random.integers(1, 7)]:
        first, second = pairs[place]
        subjects.append((f"{first[0]} x {second[0]}", "intersection", f"{first[1]} x {second[1]}", first[0], second[0]))
    return subjects + [("nobody", "baseline", "", "", "")] * int(random.random() < 0.4)


def random_table(random, lengths, subjects=None):
    """Every measure has its own kind of values and its own share of missing cells. `subjects`: as crossed_subjects gives them."""
    table = ScoreTable([lengths[0], len(subjects) if subjects else lengths[1], *lengths[2:]])
    lengths = table.values.shape
    for measure in range(lengths[0]):
        table.values[measure] = random_values(random, lengths[1:])
        share = random.choice([0, 0, 0.05, 0.3, 0.8, 1], p=[0.3, 0.2, 0.15, 0.15, 0.15, 0.05])
        missing = random.random(lengths[1:]) < share
        if random.random() < 0.2:  # whole templates of a subject
            missing |= random.random((lengths[1], lengths[2], 1, 1, 1)) < 0.3
        table.values[measure][missing] = numpy.nan
        table.statuses[measure] = numpy.where(missing, random.integers(2, 6, size=missing.shape), 0)
    num_subjects, num_templates, num_items = lengths[1], lengths[2], lengths[5]
    if subjects:
        table.labels[1] = [subject[0] for subject in subjects]
    subjects = subjects or [(label, "group", "", label, "") for label in table.labels[1]]
    table.coordinates[1] = {name: [subject[place] for subject in subjects]
                            for place, name in enumerate(("kind", "domain", "first", "second"), 1)}
    table.coordinates[1]["side"] = random.choice(["a", "b"], num_subjects).tolist()
    table.coordinates[2] = {"stereotype": [["pro", "anti"][place % 2] for place in range(num_templates)],
                            "pair": [f"pair{place // 2}" for place in range(num_templates)]}
    table.coordinates[5] = {"dimension": random.choice(["warmth", "competence", ""], num_items, p=[0.5, 0.4, 0.1]).tolist()}
    return table


def as_yaml(value):
    """JSON is YAML."""
    return json.dumps(value)


def read(path):
    """Name -> array of every variable."""
    with h5py.File(path) as file:
        return {name: data.asstr()[()] if h5py.check_string_dtype(data.dtype) else data[()] for name, data in file.items()}


def conclude(questions, folder):
    """`questions`: (tables, statistics, seed); yields the variables that the program writes for each, in order."""
    folder = pathlib.Path(folder)
    lines = [json.dumps({"target": str(folder / f"{place}.h5"), "seed": seed, "statistics": as_yaml(statistics),
                         "tables": [table.document() for table in tables]})
             for place, (tables, statistics, seed) in enumerate(questions)]
    subprocess.run([BUILD / "bench/bench_statistics"], input="\n".join(lines) + "\n", text=True, check=True)
    for place in range(len(questions)):
        path = folder / f"{place}.h5"
        yield read(path)
        path.unlink()


class Report:
    """Largest differences and degenerate cases by statistic."""

    def __init__(self):
        self.rows = {}
        self.wrong = []

    def row(self, statistic):
        return self.rows.setdefault(statistic, {"tables": set(), "numbers": 0, "largest": 0.0, "degenerate": 0, "wrong": 0})

    def blame(self, statistic, table, found, expected, what):
        self.row(statistic)["wrong"] += 1
        if sum(statistic == one[0] for one in self.wrong) < 5:
            self.wrong.append((statistic, table, found, expected, what))

    def numbers(self, statistic, table, found, expected, unit=0.0, condition=1.0, what=""):
        """Relative to `expected`, or to `unit` where that is larger; divided by how ill-conditioned the table is. NaN: none."""
        row = self.row(statistic)
        row["tables"].add(table)
        arrays = numpy.broadcast_arrays(*(numpy.asarray(value, numpy.longdouble) for value in (found, expected, unit, condition)))
        for ours, theirs, least, factor in zip(*(array.ravel() for array in arrays)):
            if numpy.isnan(ours) or numpy.isnan(theirs):
                row["degenerate"] += 1
                if numpy.isnan(ours) != numpy.isnan(theirs):
                    self.blame(statistic, table, ours, theirs, what)
                continue
            row["numbers"] += 1
            if ours == theirs:
                continue
            size = max(abs(theirs), least)
            difference = float(abs(ours - theirs) / size / max(factor, 1)) if size > 0 else numpy.inf
            row["largest"] = max(row["largest"], difference)
            if not difference <= 1e-12:
                self.blame(statistic, table, ours, theirs, what)

    def same(self, statistic, table, found, expected, what=""):
        """Counts and statuses; anything but 0 (ok) of the latter is a degenerate case."""
        row = self.row(statistic)
        row["tables"].add(table)
        for ours, theirs in zip(*(array.ravel() for array in numpy.broadcast_arrays(found, expected))):
            row["degenerate"] += int(statistic.endswith("status") and theirs != 0)
            row["numbers"] += 1
            if ours != theirs:
                self.blame(statistic, table, ours, theirs, what)

    def text(self):
        lines = [f"{'statistic':42} {'tables':>7} {'numbers':>9} {'largest difference':>19} {'degenerate':>11} {'wrong':>6}"]
        for name, row in self.rows.items():
            lines.append(f"{name:42} {len(row['tables']):7} {row['numbers']:9} {row['largest']:19.1e} "
                         f"{row['degenerate']:11} {row['wrong']:6}")
        for statistic, table, found, expected, what in self.wrong:
            lines.append(f"WRONG {statistic}, table {table}: {found!s}, expected {expected!s}  {what}")
        return "\n".join(lines)
