"""Several score tables as runs: means of what they share, paired differences, correlations."""

import warnings

import numpy
import scipy.stats
from statistics_contrasts import check_family, check_row
from statistics_means import condition, mean
from statistics_tables import AXES, CONSTANT, NO_VALUES, OK, TOO_FEW, ScoreTable, random_table
from statistics_variance import check_shares


def tables(random, lengths):
    """Two to six runs; the later ones are near the first, lack some labels, and have them in another order."""
    first = random_table(random, lengths)
    runs = [first]
    for _ in range(random.choice([1, 1, 2, 5])):
        other = random_table(random, lengths)
        keep = [numpy.arange(length) for length in lengths]
        if random.random() < 0.5:
            keep = [random.permutation(length)[: max(1, length - (random.random() < 0.4))] for length in lengths]
        near = random.random() < 0.5
        run = ScoreTable([len(some) for some in keep])
        for axis, some in enumerate(keep):
            run.labels[axis] = [first.labels[axis][place] for place in some]
            run.coordinates[axis] = {name: [values[place] for place in some] for name, values in first.coordinates[axis].items()}
        run.values = (first.values + other.values if near else other.values)[numpy.ix_(*keep)]
        runs.append(run)
    return runs


def shared_cells(runs):
    """Labels of the first run that all have; scores [run, measure, subject, template, rephrasing, replicate, item] of what all
    runs that have the measure have; measures of any run. None: an axis on which nothing is shared."""
    labels = [[label for label in runs[0].labels[axis] if all(label in run.labels[axis] for run in runs)] for axis in range(1, 6)]
    if not all(labels):
        return None
    measures = list(dict.fromkeys(label for run in runs for label in run.labels[0]))
    cells = numpy.full((len(runs), len(measures), *map(len, labels)), numpy.nan)
    for place, run in enumerate(runs):
        chosen = run.values[numpy.ix_(range(run.values.shape[0]), *([run.labels[axis].index(label) for label in labels[axis - 1]]
                                                                    for axis in range(1, 6)))]
        cells[place, [measures.index(label) for label in run.labels[0]]] = chosen
    has = numpy.array([[label in run.labels[0] for label in measures] for run in runs])
    missing = (numpy.isnan(cells) & has.reshape(*has.shape, *[1] * 5)).any(axis=0)
    some = (~numpy.isnan(cells)).any(axis=0)
    counts = ((some & ~missing).sum(axis=(1, 2, 3, 4, 5)), (some & missing).sum(axis=(1, 2, 3, 4, 5)))
    cells[:, missing] = numpy.nan
    return cells, has, measures, labels, counts


def check(report, number, data, runs, statistics, seed):
    cells, has, measures, labels, counts = shared_cells(runs)
    inference = statistics["inference"]
    assert data["measure"].tolist() == measures and data["subject"].tolist() == labels[0] and data["item"].tolist() == labels[4]
    report.same("runs: shared and dropped", number, (data["num_shared"], data["num_dropped"]), counts)
    in_sentences = mean(cells, axis=5)  # [run, measure, subject, template, rephrasing, item]
    means = mean(in_sentences, axis=(3, 4))
    units = numpy.array([numpy.abs(cells[:, place][~numpy.isnan(cells[:, place])]).max(initial=0) for place in range(len(measures))])
    report.numbers("runs: mean", number, data["run_mean"], means, units[:, None, None])
    report.same("runs: mean, n", number, data["run_mean_n"], (~numpy.isnan(in_sentences)).sum(axis=(3, 4)))
    if "run_variance_share" in data:
        for measure in range(len(measures)):
            found = {name[len("run_variance_"):]: values[measure] for name, values in data.items() if name.startswith("run_variance_")}
            some = cells[has[:, measure], measure] if has[:, measure].sum() > 1 else numpy.zeros((0, 1, 1, 1, 1, 1))
            check_shares(report, number, found, some.astype(numpy.longdouble), True)
    pairs = [(left, right) for right in range(len(runs)) for left in range(len(runs))
             if (left > right if len(runs) <= 4 else right == 0 and left > 0)]
    pairs = [pair for pair in pairs if (has[pair[0]] & has[pair[1]]).any()]
    families = {}
    for place, (left, right) in enumerate(pairs):
        assert (data["run_pair_left"][place], data["run_pair_right"][place]) == (f"run{left}", f"run{right}")
        for measure in range(len(measures)):
            if not (has[left, measure] and has[right, measure]):
                report.same("runs: status without the measure", number, data["run_status"][place, measure], NO_VALUES)
                continue
            scale = condition(cells[:, measure])
            for subject, item in numpy.ndindex(len(labels[0]), len(labels[4])):
                row = {name[4:]: values[place, measure, subject, item] for name, values in data.items()
                       if name.startswith("run_") and values.ndim == 4 and not name.startswith("run_mean")}
                row["p_subjects"] = numpy.nan
                sides = [in_sentences[run, measure, subject, :, :, item] for run in (left, right)]
                sums = check_row(report, number, row, sides, None, inference, seed, scale, units[measure])
                if sums is not None:
                    name = f"run{left} minus run{right} | {labels[0][subject]}"
                    key = {"contrast": (name, measure), "measure": measure, "all": 0}[inference["family"]]
                    families.setdefault(key, []).append((row, tuple(labels[1]), sums))
    for family in families.values():
        check_family(report, number, family, inference, seed)
    check_series(report, number, data, means, has, measures, runs[0], labels)


def check_series(report, number, data, means, has, measures, first, labels):
    dimensions = [first.coordinates[AXES.index("item")]["dimension"][first.labels[5].index(label)] for label in labels[4]]
    groups = ["all", *dict.fromkeys(filter(None, dimensions))]
    series = list(zip(*numpy.nonzero(has)))
    pairs = [(group, left, right) for group in groups for place, right in enumerate(series) for left in series[:place]
             if left[0] != right[0] and left[1] == right[1]]
    names = [f"run{run} | {measures[measure]}" for run, measure in series]
    for group, left, right in pairs if "series_pair" in data else []:
        inside = [group == "all" or group == dimension for dimension in dimensions]
        row, = numpy.flatnonzero((data["series_pair_items"] == group)
                                 & (data["series_pair_left"] == names[series.index(left)])
                                 & (data["series_pair_right"] == names[series.index(right)]))
        sides = [means[place].astype(float)[:, inside].ravel() for place in (left, right)]
        here = ~numpy.isnan(sum(sides))
        sides = [side[here] for side in sides]
        status = NO_VALUES if not here.any() else TOO_FEW if here.sum() < 2 else \
            CONSTANT if min(numpy.ptp(side) for side in sides) == 0 else OK
        found = {key: data["series_" + key][row] for key in ("tau_b", "pearson", "spearman", "n", "status")}
        report.same("runs: correlations, n", number, found["n"], here.sum())
        report.same("runs: correlations, status", number, found["status"], status)
        scale = max([1, *(numpy.abs(side).max() / side.std() for side in sides)]) if status == OK else 1
        for key, function in (("tau_b", "kendalltau"), ("pearson", "pearsonr"), ("spearman", "spearmanr")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = getattr(scipy.stats, function)(*sides).statistic if status == OK else numpy.nan
            report.numbers("runs: correlations", number, found[key], expected, 1, scale if key == "pearson" else 1, what=key)
    report.same("runs: correlations, pairs", number, len(data.get("series_pair", [])), len(pairs))
