"""Agreement of a score table with people."""

import itertools
import pathlib
import warnings

import numpy
import scipy.stats
from statistics_draws import REPHRASINGS, TEMPLATES, below, crossed, mean_squares, quantiles, usable, weights
from statistics_means import mean
from statistics_tables import CONSTANT, NO_VALUES, OK, TOO_FEW

ANNOTATORS = 16 << 40
KINDS = {"tau": "kendalltau", "pearson": "pearsonr", "spearman": "spearmanr"}


def ask(random, table, folder):
    if random.random() < 0.5:
        return {}
    subjects = random.permutation(table.labels[1])[: random.integers(1, table.length("subject") + 1)]
    items = random.permutation(table.labels[5])[: random.integers(1, table.length("item") + 1)]
    annotators = [f"p{place}" for place in range(random.choice([1, 2, 5]))]
    levels = random.choice([1, 2, 7])
    lines = ["subject\titem\tannotator\trating\tgender"]
    for subject in subjects:
        for item in items:
            for place, annotator in enumerate(annotators):
                if random.random() < 0.8 or len(lines) == 1:
                    lines.append(f"{subject}\t{item}\t{annotator}\t{random.integers(levels) + 1}\t{'fm'[place % 2]}")
    path = pathlib.Path(folder) / f"ratings{random.integers(2**63)}.tsv"
    path.write_text("\n".join(lines) + "\n")
    rated = sorted({line.split("\t")[0] for line in lines[1:]})
    selection = {"pilot_subjects": rated[: random.integers(1, len(rated))], "most": int(random.integers(1, 3))} if len(rated) > 1 else None
    over = [name for name in ("annotator", "template", "rephrasing") if random.random() < 0.6]
    return {"people": {"ratings": str(path), "scale": ["1", "7"], "subgroups": "gender", **({"over": over} if over else {}),
                       **({"selection": selection} if selection and random.random() < 0.7 else {})}}


def tau_b(left, right):
    """From all pairs."""
    here = ~(numpy.isnan(left) | numpy.isnan(right))
    signs = [numpy.sign(values[here][:, None] - values[here]) for values in (left, right)]
    squares = [(values**2).sum() for values in signs]
    return (signs[0] * signs[1]).sum() / numpy.sqrt(squares[0]) / numpy.sqrt(squares[1]) if min(squares) > 0 else numpy.nan


class Answers:
    """The table of ratings by places of the score table."""

    def __init__(self, table, path, group):
        rows = [line.split("\t") for line in pathlib.Path(path).read_text().splitlines()[1:]]
        self.subjects = sorted({table.labels[1].index(row[0]) for row in rows})
        self.items = sorted({table.labels[5].index(row[1]) for row in rows})
        self.names = sorted({row[2] for row in rows})
        self.groups = ["all", *(f"gender: {name}" for name in sorted({row[4] for row in rows}))]
        some = [row for row in rows if group in ("all", f"gender: {row[4]}")]
        self.values = numpy.full((len(self.names), len(self.subjects), len(self.items)), numpy.nan)
        for subject, item, name, rating, _ in some:
            place = (self.names.index(name), self.subjects.index(table.labels[1].index(subject)), self.items.index(table.labels[5].index(item)))
            self.values[place] = float(rating)
        self.several = bool((self.annotators() > 1).any())

    def annotators(self):
        """[subject]: who said anything about it."""
        return (~numpy.isnan(self.values)).any(axis=2).sum(axis=0)

    def means(self):
        return 100 * (mean(self.values, axis=0) - 1) / 6

    def noise(self):
        """[subject, item]: variance of each mean over other annotators."""
        present = ~numpy.isnan(self.values)
        noise = numpy.zeros(self.values.shape[1:])
        for place in zip(*numpy.nonzero(present.sum(axis=0) > 1)):
            values = self.values[:, *place][present[:, *place]]
            noise[place] = values.var(ddof=1) / len(values)
        return noise

    def drawn(self, seed, replicates):
        """[replicate, subject, item]: annotators drawn within each subject."""
        drawn = numpy.full((replicates, *self.values.shape[1:]), numpy.nan)
        for place, count in enumerate(self.annotators()):
            if count:
                own = self.values[:, place][(~numpy.isnan(self.values[:, place])).any(axis=1)]
                times = weights(seed, ANNOTATORS + (place << 20), count, replicates)
                total = times @ numpy.where(numpy.isnan(own), 0, own)
                present = times @ (~numpy.isnan(own)).astype(int)
                drawn[:, place] = numpy.where(present > 0, total / numpy.maximum(present, 1), numpy.nan)
        return drawn


def matched(replicates, means, noise, expansion):
    """Replicates that vary as the means do: the means drawn together by the share of their variance that is no noise, and
    the deviations expanded."""
    here = ~numpy.isnan(means)
    deviation = numpy.std(means[here], ddof=1) if here.sum() > 1 else numpy.nan
    with numpy.errstate(divide="ignore", invalid="ignore"):
        own = 1 - noise[here].mean() / deviation**2 if here.any() else numpy.nan
    shrinkage = 1 if numpy.isnan(own) else numpy.sqrt(max(own, 1e-3))
    unit = deviation * 2.0**-40 if deviation > 0 else 1
    return numpy.round((expansion * replicates + (shrinkage - expansion) * means) / unit)


def without_levels(taus, levels):
    """Residuals of a regression on how much noise each replicate's draws leave; the mean stays."""
    finite = numpy.isfinite(taus)
    rest, taken = taus.astype(numpy.longdouble).copy(), []
    for level in levels:
        own = level[finite].astype(numpy.longdouble)
        own = own - own.mean() if own.size else own
        before = (own**2).sum()
        for other in taken:
            own = own - (own * other).sum() / (other**2).sum() * other
        if (own**2).sum() > 1e-9 * before:
            rest[finite] -= (own * rest[finite]).sum() / (own**2).sum() * own
            taken.append(own)
    return rest.astype(float)


def noise_level(seed, stream, count, replicates):
    return ((weights(seed, stream, count, replicates) - 1.0) ** 2).sum(axis=1) / (count - 1)


def check(report, number, data, table, statistics, seed):
    if "people" not in statistics:
        return
    asked, inference = statistics["people"], statistics["inference"]
    first = Answers(table, asked["ratings"], "all")
    assert data["people_group"].tolist() == first.groups
    for place, group in enumerate(first.groups):
        answers = Answers(table, asked["ratings"], group)
        whole = numpy.full((table.length("subject"), table.length("item")), numpy.nan)
        whole[numpy.ix_(answers.subjects, answers.items)] = answers.means()
        report.numbers("people: mean", number, data["people_mean"][place], whole, 1)
        report.same("people: annotators", number, data["people_num_annotators"][place], (~numpy.isnan(answers.values)).any(axis=(1, 2)).sum())
        for measure in range(table.length("measure")):
            if group == "all" and "selection" in asked:
                check_selection(report, number, data, measure, table, answers, asked["selection"])
            cells = mean(table.values[measure], axis=3)[answers.subjects][..., answers.items]
            over = asked.get("over", ["annotator", "template", "rephrasing"])
            draws = {"annotator": "annotator" in over and first.several, "template": "template" in over and table.length("template") > 1,
                     "rephrasing": "rephrasing" in over and table.length("rephrasing") > 1}
            check_rows(report, number, data, (measure, place), table, answers, cells, draws, inference, seed)


def rows_of(table, answers):
    """(label, subjects, items) of each row: places among the rated ones."""
    everybody, everything = range(len(answers.subjects)), range(len(answers.items))
    yield "pooled", everybody, everything
    dimensions = [table.coordinates[5]["dimension"][item] for item in answers.items]
    for name in dict.fromkeys(filter(None, dimensions)):
        yield f"dimension: {name}", everybody, [place for place in everything if dimensions[place] == name]
    for place in everybody:
        yield f"subject: {table.labels[1][answers.subjects[place]]}", [place], everything


def score_noise(cells, draws):
    """[subject, item]: variance of each mean over other templates, rephrasings or both."""
    noise = numpy.zeros((cells.shape[0], cells.shape[3]))
    for subject, item in numpy.ndindex(noise.shape):
        squares = mean_squares(cells[subject, :, :, item])
        rows, columns = (squares[name] if draws[name] else 0 for name in ("template", "rephrasing"))
        noise[subject, item] = max(squares["rest"], rows + columns - squares["rest"]) if rows > 0 and columns > 0 else rows + columns
    return noise


def drawn_scores(cells, draws, inference, seed):
    """[replicate, subject, item], or the means where nothing is drawn."""
    if not draws["template"] and not draws["rephrasing"]:
        return None
    replicates = inference["replicates"]
    times = [weights(seed, stream, length, replicates) if draws[name] else numpy.ones((replicates, length), int)
             for name, stream, length in (("template", TEMPLATES, cells.shape[1]), ("rephrasing", REPHRASINGS, cells.shape[2]))]
    return numpy.stack([[crossed(cells[subject, :, :, item], *times) for item in range(cells.shape[3])]
                        for subject in range(cells.shape[0])]).transpose(2, 0, 1)


def check_rows(report, number, data, place, table, answers, cells, draws, inference, seed):
    scores, ratings = mean(cells, axis=(1, 2)).astype(float), answers.means().astype(float)
    replicates = inference["replicates"]
    of_scores, of_ratings = drawn_scores(cells, draws, inference, seed), answers.drawn(seed, replicates) if draws["annotator"] else None
    for row, (label, subjects, items) in enumerate(rows_of(table, answers)):
        assert data["people_row"][row] == label
        part = numpy.ix_(subjects, items)
        found = {name[7:]: values[(*place, row)] for name, values in data.items() if name.startswith("people_") and values.ndim > 2
                 and not name.startswith(("people_mean", "people_sele"))}
        status = check_correlations(report, number, found, scores[part].ravel(), ratings[part].ravel())
        check_precision(report, number, found, scores[part], ratings[part])
        check_shuffles(report, number, found, scores[part], ratings[part], label, status, inference, seed)
        taus = numpy.array([])
        if any(draws.values()):
            pick = numpy.ix_(range(replicates), subjects, items)
            lefts, rights = (numpy.broadcast_to(drawn if drawn is not None else fixed, (replicates, *fixed.shape))[pick]
                             for drawn, fixed in ((of_scores, scores), (of_ratings, ratings)))
            counts = [cells.shape[axis] for axis, name in ((1, "template"), (2, "rephrasing")) if draws[name]]
            if counts:
                lefts = matched(lefts.astype(float), scores[part], score_noise(cells, draws)[part], numpy.sqrt(min(counts) / (min(counts) - 1)))
            degrees = [count - 1 for count in counts]
            levels = [noise_level(seed, stream, cells.shape[axis], replicates)
                      for axis, name, stream in ((1, "template", TEMPLATES), (2, "rephrasing", REPHRASINGS)) if draws[name]]
            if draws["annotator"]:
                annotators = answers.annotators()[subjects]
                expansion = numpy.sqrt(annotators / numpy.maximum(annotators - 1, 1), where=annotators > 1, out=numpy.ones(len(subjects)))
                rights = matched(rights.astype(float), 1 + ratings[part] * 6 / 100, answers.noise()[part], expansion[:, None])
                levels += [sum(noise_level(seed, ANNOTATORS + (subjects[place] << 20), count, replicates)
                               for place, count in enumerate(annotators) if count > 1)] if annotators.max() > 1 else []
                degrees += [(annotators[annotators > 0] - 1).sum()] if annotators.max() > 1 else []
            taus = numpy.array([tau_b(left.ravel().astype(float), right.ravel()) for left, right in zip(lefts, rights)])
            taus = without_levels(taus, levels)
        check_interval(report, number, found, taus, tau_b(scores[part].ravel(), ratings[part].ravel()), status, inference,
                       min(degrees, default=numpy.inf) if any(draws.values()) else numpy.inf)


def pooled_tau(scores, ratings):
    """And over how many cells."""
    here = ~(numpy.isnan(scores) | numpy.isnan(ratings))
    left, right = scores[here], ratings[here]
    exists = left.size > 1 and numpy.ptp(left) > 0 and numpy.ptp(right) > 0
    return scipy.stats.kendalltau(left, right).statistic if exists else numpy.nan, left.size


def check_selection(report, number, data, measure, table, answers, selection):
    """The template, or two, with the highest tau-b on the pilot; judged on it and on the rest."""
    cells = mean(table.values[measure], axis=3)[answers.subjects][..., answers.items]
    by_template = mean(cells, axis=2).astype(float).transpose(1, 0, 2)
    is_pilot = numpy.isin(numpy.array(table.labels[1])[answers.subjects], selection["pilot_subjects"])
    ratings = [numpy.where(part[:, None], answers.means().astype(float), numpy.nan) for part in (is_pilot, ~is_pilot)]
    offers = [(one,) for one in range(len(by_template))]
    offers += list(itertools.combinations(range(len(by_template)), 2)) if selection["most"] > 1 else []
    judged = [(offer, *pooled_tau(sum(by_template[one] for one in offer) / len(offer), ratings[0])) for offer in offers]
    judged = [one for one in judged if not numpy.isnan(one[1])]
    judged = [one for one in judged if 2 * one[2] >= max(n for _, _, n in judged)]
    best = max(judged, key=lambda one: one[1])[0] if judged else ()
    found = data["people_selected"][measure]
    report.same("people: selected templates", number, numpy.flatnonzero(found) if found.sum() == len(best) else -1, best or -1)
    tables = [sum(by_template[one] for one in best) / len(best) if best else None, mean(cells, axis=(1, 2)).astype(float)]
    for choice, scores in enumerate(tables):
        for part, of_part in enumerate(ratings):
            tau, n = pooled_tau(scores, of_part) if scores is not None else (numpy.nan, 0)
            several = numpy.array([precision(*row)[0] for row in zip(scores, of_part)]) if scores is not None else numpy.full(1, numpy.nan)
            place = (measure, choice, part)
            report.numbers("people: tau of selected templates", number, data["people_selection_tau"][place], tau, 1)
            report.same("people: n of selected templates", number, data["people_selection_n"][place], n)
            report.numbers("people: precision of selected templates", number, data["people_selection_precision_at_3"][place], mean(several))


def check_correlations(report, number, found, left, right):
    here = ~(numpy.isnan(left) | numpy.isnan(right))
    left, right = left[here], right[here]
    status = NO_VALUES if not left.size else TOO_FEW if left.size < 2 else CONSTANT if numpy.ptp(left) == 0 or numpy.ptp(right) == 0 else OK
    report.same("people: n", number, found["n"], left.size)
    report.same("people: status", number, found["status"], status, what=f"{left} {right}")
    for name, function in KINDS.items():
        value, p = numpy.nan, numpy.nan
        if status == OK:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value, p = getattr(scipy.stats, function)(left, right)
            p = 1.0 if left.size == 2 else p
        scale = numpy.abs(left).max(initial=1e-300) / max(left.std(), 1e-300) if name == "pearson" and status == OK else 1
        report.numbers(f"people: {name}", number, found[name], value, 1, scale)
        near_one = name != "tau" and not abs(value) < 1 - 1e-4
        slope = left.size / (1 - value**2) if not near_one and name != "tau" else 1  # of ln p by the correlation, at most about
        if near_one and name == "pearson" and abs(value) < 1:
            slope = 1 / numpy.sqrt(1 - value**2)  # of p
        report.numbers(f"people: p of {name}", number, found[f"{name}_p_cells"], p, 1 if near_one else 0, slope * scale)
    return status


def precision(scores, ratings):
    """At 3, and by chance; the earlier of equal scores comes first."""
    here = ~(numpy.isnan(scores) | numpy.isnan(ratings))
    scores, ratings = scores[here], ratings[here]
    if scores.size < 3:
        return numpy.nan, numpy.nan
    top, bottom = (ratings[numpy.argsort(sign * scores, kind="stable")[:3]] for sign in (-1, 1))
    return ((top > 50).mean() + (bottom < 50).mean()) / 2, (ratings != 50).mean() / 2


def check_precision(report, number, found, scores, ratings):
    several = numpy.array([precision(*row) for row in zip(scores, ratings)])
    for place, name in enumerate(("precision_at_3", "precision_at_3_chance")):
        report.numbers(f"people: {name.replace('_', ' ')}", number, found[name], mean(several[:, place]))


def check_shuffles(report, number, found, scores, ratings, label, status, inference, seed):
    for name, axis in (("tau_p_items", 1), ("tau_p_subjects", 0)):
        p = numpy.nan
        length = scores.shape[axis]
        if status == OK and length > 1:
            observed = tau_b(scores.ravel(), ratings.ravel())
            draws = min(inference["draws"], 10000)
            order = numpy.tile(numpy.arange(length), (draws, 1))
            for left in range(length, 1, -1):
                other = below(left, seed, numpy.arange(draws, dtype=numpy.uint64), left)
                rows = numpy.arange(draws)
                order[rows, left - 1], order[rows, other] = order[rows, other], order[rows, left - 1].copy()
            taus = numpy.array([tau_b(numpy.take(scores, one, axis=axis).ravel(), ratings.ravel()) for one in order])
            above, under = (~(taus < observed - 1e-12)).sum(), (~(taus > observed + 1e-12)).sum()
            p = min(1, 2 * (min(above, under) + 1) / (draws + 1))
        report.numbers("people: p of shuffled " + name[6:], number, found[name], p)


def check_interval(report, number, found, taus, tau, status, inference, degrees):
    ends, bias, why = (numpy.nan, numpy.nan), numpy.nan, TOO_FEW
    finite = taus[numpy.isfinite(taus)]
    if taus.size and status != OK:
        why = status
    elif finite.size and numpy.ptp(finite) < 1e-12:
        why = CONSTANT
    elif taus.size and usable(taus) is not None:
        low, high = quantiles(finite, inference["confidence"])
        upper = (1 + inference["confidence"]) / 2
        widening = scipy.stats.t.ppf(upper, degrees) / scipy.stats.norm.ppf(upper)
        ends = [min(1, max(-1, tau + widening * (end - finite.mean()))) for end in (low, high)]
        bias, why = finite.mean() - tau, OK
    report.numbers("people: interval of tau", number, (found["tau_low"], found["tau_high"]), ends, 1)
    report.numbers("people: bias of tau", number, found["tau_bias"], bias, 1)
    report.same("people: interval status", number, found["interval_status"], why)
