"""Agreement of score tables with people: `stats` with statistics.people, and scipy on the table `score`."""

import csv
import itertools
import math
import random
import subprocess
import sys
import warnings

import numpy
import pytest
import runs
import xarray
from scipy import stats

PAIRS = ["powerless - powerful", "low-status - high-status", "poor - wealthy", "dominated - dominant",
         "untrustworthy - trustworthy", "dishonest - sincere", "cold - warm", "repellent - likable"]  # fmt: skip
GROUPS = ["women", "men", "Black people", "elderly people", "people with disabilities"]
TEMPLATES = ["one_of_them", "kind_of_people", "the_word", "next_door", "in_town"]
JOB = [f"axes.groups={{file: abc_groups, only: [{', '.join(GROUPS)}]}}", "axes.intersections=none",
       f"axes.traits={{file: abc_traits, only: [{', '.join(PAIRS)}]}}",
       f"axes.templates={{file: abc_templates, only: [{', '.join(TEMPLATES)}]}}"]  # fmt: skip
REASONS = ["ok", "no_values", "too_few", "constant", "not_finite"]
PUBLISHED = runs.ROOT / ".." / "shared" / "data" / "cao2022-abc"


def program(*arguments, code=0):
    done = runs.program(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def write_table(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([columns, *rows])
    return path


def opened(run, probe="association"):
    with xarray.open_dataset(run / f"{probe}.stats.h5", engine="netcdf4") as data:
        return data.load()


def model_means(data, measure, templates=slice(None)):
    """[subject, item], over templates, rephrasings and replicates."""
    scores = data["score"].sel(measure=measure).transpose("subject", "item", "template", "rephrasing", "replicate").values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        cells = numpy.nanmean(scores[:, :, templates], axis=-1)
        return numpy.nanmean(cells.reshape(*cells.shape[:2], -1), axis=-1)


def people_means(data, rows):
    """[subject, item] of rows (subject, item, rating)."""
    answers = {}
    for subject, item, rating in rows:
        answers.setdefault((subject, item), []).append(rating)
    return numpy.array([[numpy.mean(answers[subject, item]) if (subject, item) in answers else math.nan
                         for item in data["item"].values] for subject in data["subject"].values])


def precision(scores, ratings, middle=50):
    """At 3, with its chance; equal scores: the earlier item first."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])[:3]
    top = sum(ratings[place] > middle for place in order) / 3
    order = sorted(range(len(scores)), key=lambda place: scores[place])[:3]
    bottom = sum(ratings[place] < middle for place in order) / 3
    return (top + bottom) / 2, sum(rating != middle for rating in ratings) / len(ratings) / 2, top, bottom


def expected(scores, ratings):
    """What scipy says of one list of cells."""
    both = ~(numpy.isnan(scores) | numpy.isnan(ratings))
    x, y = scores[both], ratings[both]
    status = ("no_values" if len(x) == 0 else "too_few" if len(x) == 1
              else "constant" if numpy.ptp(x) == 0 or numpy.ptp(y) == 0 else "ok")
    row = {"n": len(x), "status": REASONS.index(status)}
    names = ("tau", "tau_p_cells", "pearson", "pearson_p_cells", "spearman", "spearman_p_cells")
    if status != "ok":
        return row | dict.fromkeys(names, math.nan)
    found = (*stats.kendalltau(x, y), *stats.pearsonr(x, y), *stats.spearmanr(x, y))
    row |= dict(zip(names, found))
    if len(x) == 2:  # scipy: t with no degrees of freedom; any two points lie on a line
        row |= {"pearson_p_cells": 1, "spearman_p_cells": 1}
    return row


def rows_of(data):
    """(label, subjects, items) of every row of the file's axis people_row."""
    dimensions = data["item_dimension"].values if "item_dimension" in data else None
    for label, kind, name in zip(data["people_row"].values, data["people_row_kind"].values, data["people_row_name"].values):
        subjects = data["subject"].values == name if kind == "subject" else numpy.ones(data.sizes["subject"], bool)
        items = dimensions == name if kind == "dimension" else numpy.ones(data.sizes["item"], bool)
        yield label, kind, subjects, items


def check_against_scipy(data, rows_of_group):
    """Every measure, group and row; how many of each status."""
    seen = dict.fromkeys(REASONS, 0)
    axes = ("measure", "people_group", "people_row")
    # plain arrays: labels are looked up too slowly for so many rows
    found = {name: data[name].transpose(*axes).values for name in data if set(axes) == set(data[name].dims)}
    ratings_of = [people_means(data, rows_of_group(group)) for group in data["people_group"].values]
    numpy.testing.assert_allclose(data["people_mean"].transpose("people_group", ...), ratings_of, rtol=1e-12)
    scores_of = [model_means(data, measure) for measure in data["measure"].values]
    for (i, scores), (j, ratings) in itertools.product(enumerate(scores_of), enumerate(ratings_of)):
        for k, (label, kind, subjects, items) in enumerate(rows_of(data)):
            x, y = scores[subjects][:, items], ratings[subjects][:, items]
            want = expected(x.ravel(), y.ravel())
            for name, value in want.items():
                # where all cells lie on one line, rounding of r in its last digit moves p by its root
                on_line = name.endswith("p_cells") and abs(want[name.split("_")[0]]) > 1 - 1e-9
                numpy.testing.assert_allclose(found["people_" + name][i, j, k], value, rtol=1e-10,
                                              atol=1e-6 if on_line else 1e-12, err_msg=f"{i} {j} {label} {name}")
            both = [~(numpy.isnan(a) | numpy.isnan(b)) for a, b in zip(x, y)]
            precisions = [precision(a[here], b[here]) for a, b, here in zip(x, y, both) if here.sum() >= 3]
            for name, values in zip(("precision_at_3", "precision_at_3_chance", "precision_top_3", "precision_bottom_3"),
                                    zip(*precisions)):
                numpy.testing.assert_allclose(found["people_" + name][i, j, k], numpy.mean(values), rtol=1e-12)
            assert precisions or math.isnan(found["people_precision_at_3"][i, j, k])
            assert kind != "subject" or math.isnan(found["people_tau_p_subjects"][i, j, k])
            taus = [one["tau"] for one in itertools.starmap(expected, zip(x, y)) if one["status"] == 0]
            wanted = numpy.mean(taus) if taus and kind != "subject" else math.nan
            numpy.testing.assert_allclose(found["people_tau_mean"][i, j, k], wanted, rtol=1e-10, atol=1e-12)
            p = [found[f"people_tau_p_{name}"][i, j, k] for name in ("items", "dimensions", "subjects", "domains")]
            sides = [narrow if not math.isnan(narrow) else wide for wide, narrow in (p[:2], p[2:])]
            numpy.testing.assert_equal(found["people_tau_p_cite"][i, j, k], numpy.fmax(*sides))
            seen[REASONS[want["status"]]] += 1
    return seen


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    output = tmp_path_factory.mktemp("people") / "run"
    code, _, err = runs.run(runs.SMOKE, output, *JOB)
    assert code == 0, err
    return output


def random_rows(seed, items, subjects):
    """Answers of one subgroup: any numbers, ties, one number; few or many cells."""
    draw = random.Random(seed)
    cells = list(itertools.product(subjects, items))
    cells = draw.sample(cells, draw.choice([1, 2, 3, 5, 12, 30, len(cells)]))
    value = draw.choice([lambda: draw.randint(0, 100), lambda: draw.choice([20, 50, 80]), lambda: 50, draw.random])
    return [(f"{seed}-{annotator}", subject, item, value(), f"kind{seed}")
            for subject, item in cells for annotator in range(draw.choice([1, 1, 3]))]


def test_random_tables_against_scipy(run, tmp_path):
    rows = [row for seed in range(20) for row in random_rows(seed, PAIRS, GROUPS)]
    table = write_table(tmp_path / "answers.tsv", ["annotator", "group", "pair", "rating", "part"], rows)
    text = program("stats", run, "statistics.inference={draws: 100, replicates: 100}",
                   f"statistics.people={{ratings: {table}, subgroups: part}}")
    assert "Agreement with people, tau-b over 5 subjects x 8 items" in text
    data = opened(run)
    assert data.sizes["people_group"] == 21

    def of_group(group):
        return [row[1:4] for row in rows if group in ("all", "part: " + row[4])]

    seen = check_against_scipy(data, of_group)
    assert all(seen[reason] > 10 for reason in ("ok", "no_values", "too_few", "constant")), seen
    assert (numpy.diff(data["people_num_answers"].values[1:]) != 0).any()
    for group, count in zip(data["people_group"].values, data["people_num_answers"].values):
        assert count == len(of_group(group))


def test_ties_on_both_sides(tmp_path):
    """A coreference job: accuracies are shares of few sentences, items have no poles."""
    output = tmp_path / "run"
    code, _, err = runs.run(runs.ROOT / "jobs/41_crossed_markers.yaml", output, "execution.engine=fake")
    assert code == 0, err
    program("stats", output)
    data = opened(output, "coreference")
    draw = random.Random(8)
    rows = [(subject, item, draw.randint(1, 5)) for subject in data["subject"].values for item in data["item"].values]
    table = write_table(tmp_path / "means.tsv", ["subject", "item", "mean"], rows)
    program("stats", output, "statistics.inference={draws: 100, replicates: 100}",
            f"statistics.people={{ratings: {table}, scale: [1, 5], over: [rephrasing]}}")
    data = opened(output, "coreference")
    seen = check_against_scipy(data, lambda _: [(subject, item, 25 * (rating - 1)) for subject, item, rating in rows])
    assert seen["ok"] > 10
    accuracy = next(name for name in data["measure"].values if name.startswith("accuracy"))
    scores = model_means(data, accuracy)
    scores = scores[~numpy.isnan(scores)]
    assert len(numpy.unique(scores)) < len(scores) / 2


def test_the_older_key_asks_the_same(run, tmp_path):
    draw = random.Random(3)
    rows = [(group, pair, draw.randint(0, 100)) for group in GROUPS[1:] for pair in PAIRS[1:]]
    table = write_table(tmp_path / "means.tsv", ["group", "pair", "mean"], rows)
    found = []
    for settings in (f"statistics.people={{ratings: {table}}}", f"statistics.human_ratings={table}"):
        program("stats", run, settings, "statistics.inference.draws=1000", "statistics.inference.replicates=100")
        found.append(opened(run))
        found[-1].attrs.clear()
    xarray.testing.assert_identical(*found)
    spelt = [({"women": "woman", "elderly people": "Elderly person"}.get(group, group), *row) for group, *row in rows]
    program("stats", run, f"statistics.human_ratings={write_table(table, ['group', 'pair', 'mean'], spelt)}",
            "statistics.inference={draws: 1000, replicates: 100}")
    numpy.testing.assert_array_equal(opened(run)["people_mean"], found[0]["people_mean"])


def test_chosen_templates_are_those_of_everything(run, tmp_path):
    rows = [(group, pair, 7 * place % 101) for place, (group, pair) in enumerate(itertools.product(GROUPS, PAIRS))]
    table = write_table(tmp_path / "means.tsv", ["group", "pair", "mean"], rows)
    program("stats", run, f"statistics.people={{ratings: {table}}}", f"statistics.templates=[{TEMPLATES[3]}, {TEMPLATES[1]}]",
            "statistics.inference={draws: 100, replicates: 100}")
    data = opened(run)
    places = [place for place, name in enumerate(data["template"].values) if name in (TEMPLATES[3], TEMPLATES[1])]
    assert len(places) == 2 and list(data["chosen_template"].values) == list(data["template"].values[places])
    ratings = people_means(data, rows)
    for measure in data["measure"].values:
        here = data.sel(measure=measure, people_group="all")
        means = model_means(data, measure, places)
        numpy.testing.assert_allclose(here["mean_score"].transpose("subject", "item"), means, rtol=1e-11)
        want = expected(means.ravel(), ratings.ravel())
        numpy.testing.assert_allclose(here["people_tau"].sel(people_row="pooled"), want["tau"], rtol=1e-11)
        for place in places:
            alone = expected(model_means(data, measure, [place]).ravel(), ratings.ravel())
            found = here.sel(chosen_template=data["template"].values[place])
            numpy.testing.assert_allclose(found["people_template_tau"], alone["tau"], rtol=1e-11)
            assert found["people_template_n"] == alone["n"]
    said = program("stats", run, "statistics.templates=[nowhere]", code=2)
    assert "unknown template 'nowhere'" in said


def mix(value):
    mask = (1 << 64) - 1
    value = (value + 0x9E3779B97F4A7C15) & mask
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & mask
    return value ^ value >> 31


def drawn(count, seed, stream):
    return [mix(mix(mix(seed) ^ stream) ^ draw) * count >> 64 for draw in range(count)]


def answers_table(answers):
    """[annotator, subject, item]; NaN: no answer."""
    table = numpy.full((max(map(len, answers)), len(answers), answers[0].shape[1]), math.nan)
    for place, one in enumerate(answers):
        table[: len(one), place] = one
    return table


def answer_noise(answers):
    """[subject, item]: variance of each mean over other annotators, and by what a draw's deviation is multiplied."""
    noise, expansion = numpy.zeros((2, len(answers), answers[0].shape[1]))
    for place, one in enumerate(answers):
        counts = (~numpy.isnan(one)).sum(axis=0)
        some = counts > 1
        noise[place, some] = numpy.nanvar(one[:, some], axis=0, ddof=1) / counts[some]
        expansion[place] = math.sqrt(len(one) / (len(one) - 1))
    return noise, expansion


def score_noise(scores, axes):
    """The same of [template, rephrasing, subject, item], without missing scores: two-way analysis of variance."""
    shape = scores.shape[:2]
    mean = scores.mean(axis=(0, 1))
    by_axis = [((scores.mean(axis=1 - axis) - mean) ** 2).sum(axis=0) / (shape[axis] - 1) / shape[axis] for axis in (0, 1)]
    residual = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0, keepdims=True) + mean
    rest = (residual**2).sum(axis=(0, 1)) / ((shape[0] - 1) * (shape[1] - 1)) / (shape[0] * shape[1])
    noise = numpy.zeros_like(mean)
    if len(axes) == 2:
        noise = numpy.maximum(by_axis[0] + by_axis[1] - rest, rest)
    elif axes:
        noise = by_axis[axes[0]]
    smallest = min((shape[axis] for axis in axes), default=math.inf)
    return noise, numpy.full_like(mean, math.sqrt(smallest / (smallest - 1)) if axes else 1)


def level(count, stream):
    """[replicate]: how much noise its draws leave."""
    times = numpy.array([numpy.bincount(drawn(count, 1, stream ^ replicate), minlength=count) for replicate in range(100)])
    return ((times - 1) ** 2).sum(axis=1) / (count - 1)


def matched(replicate, means, noise, expansion):
    """A replicate that varies as the means do, on a grid fine enough that only what is equal ties."""
    deviation = means.std(ddof=1)
    shrinkage = math.sqrt(max(1e-3, 1 - noise.mean() / deviation**2))
    return numpy.round((expansion * replicate + (shrinkage - expansion) * means) / deviation * 2.0**40)


@pytest.mark.parametrize("over", [["annotator"], ["template", "rephrasing"], ["annotator", "template", "rephrasing"]])
def test_intervals_are_of_the_declared_draws(run, tmp_path, over):
    draw = random.Random(5)
    rows = [(f"a{annotator}", group, pair, draw.choice([draw.randint(0, 100), 50]))
            for group in GROUPS for annotator in draw.sample(range(12), draw.randint(3, 6)) for pair in PAIRS
            if draw.random() < 0.9]
    table = write_table(tmp_path / "answers.tsv", ["annotator", "group", "pair", "rating"], rows)
    program("stats", run, "statistics.inference={draws: 100, replicates: 100, confidence: 0.9}",
            f"statistics.people={{ratings: {table}, over: [{', '.join(over)}]}}")
    data = opened(run)
    measure = data["measure"].values[0]
    scores = data["score"].sel(measure=measure).transpose("template", "rephrasing", "replicate", "subject", "item").values[:, :, 0]
    subjects, items = list(data["subject"].values), list(data["item"].values)
    answers = []
    for subject in subjects:
        names = sorted({row[0] for row in rows if row[1] == subject})
        of_subject = numpy.full((len(names), len(items)), math.nan)
        for annotator, group, pair, rating in rows:
            if group == subject:
                of_subject[names.index(annotator), items.index(pair)] = rating
        answers.append(of_subject)
    sides = {"people": (numpy.nanmean(answers_table(answers), axis=0), *answer_noise(answers))}
    axes = tuple(axis for axis, name in enumerate(["template", "rephrasing"]) if name in over)
    model_means = numpy.nanmean(scores, axis=(0, 1))
    sides["model"] = (model_means, *score_noise(scores, axes))
    taus = {label: [] for label in data["people_row"].values}
    for replicate in range(100):
        chosen = [drawn(scores.shape[axis], 1, stream << 40 ^ replicate) if name in over else range(scores.shape[axis])
                  for axis, (name, stream) in enumerate([("template", 1), ("rephrasing", 2)])]
        model = numpy.nanmean(scores[numpy.ix_(*chosen)].reshape(-1, *scores.shape[2:]), axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            people = numpy.array([
                numpy.nanmean(one[drawn(len(one), 1, (16 << 40) + (place << 20) ^ replicate)] if "annotator" in over else one,
                              axis=0) for place, one in enumerate(answers)])
        for label, _, rows_here, items_here in rows_of(data):
            part = numpy.ix_(rows_here, items_here)
            model_part = matched(model[part], *(values[part] for values in sides["model"])) if axes else model[part]
            people_part = matched(people[part], *(values[part] for values in sides["people"])) if "annotator" in over else people[part]
            taus[label].append(expected(model_part.ravel(), people_part.ravel())["tau"])
    for label, values in taus.items():
        row = data.sel(measure=measure, people_group="all", people_row=label)
        rated = [place for name, _, rows_here, _ in rows_of(data) if name == label for place in map(int, numpy.flatnonzero(rows_here))]
        degrees = [scores.shape[axis] - 1 for axis in axes]
        degrees += [sum(len(answers[place]) - 1 for place in rated)] if "annotator" in over else []
        widening = stats.t.ppf(0.95, min(degrees)) / stats.norm.ppf(0.95)
        levels = [level(scores.shape[axis], stream << 40) for axis, stream in ((0, 1), (1, 2)) if axis in axes]
        levels += [sum(level(len(answers[place]), (16 << 40) + (place << 20)) for place in rated)] if "annotator" in over else []
        here = ~numpy.isnan(values)
        values = numpy.array(values)[here]
        design = numpy.column_stack([one[here] - one[here].mean() for one in levels])
        values = values - design @ numpy.linalg.lstsq(design, values, rcond=None)[0]
        assert len(values) >= 90 and row["people_interval_status"] == 0
        ends = row["people_tau"].item() + widening * (numpy.quantile(values, [0.05, 0.95]) - values.mean())
        numpy.testing.assert_allclose([row["people_tau_low"], row["people_tau_high"]], numpy.clip(ends, -1, 1), rtol=1e-10,
                                      atol=1e-12, err_msg=label)
        numpy.testing.assert_allclose(row["people_tau_bias"], values.mean() - row["people_tau"], atol=1e-10)


def test_templates_are_chosen_on_the_pilot_and_judged_on_the_rest(run, tmp_path):
    draw = random.Random(6)
    names = [f"a{place:02}" for place in range(10)]
    rows = [(name, group, pair, draw.randint(0, 100)) for name in names for group in GROUPS for pair in PAIRS]
    table = write_table(tmp_path / "answers.tsv", ["annotator", "group", "pair", "rating"], rows)
    pilot_subjects, pilot_names = ["women", "men"], names[:3]
    text = program("stats", run, "--all", "statistics.inference={draws: 100, replicates: 100}",
                   f"statistics.people={{ratings: {table}, selection: {{pilot_subjects: [women, men], "
                   f"pilot_annotators: [{', '.join(pilot_names)}]}}}}")
    assert "Templates chosen on a pilot (3 annotators about 2 subjects)" in text
    data = opened(run)
    parts = {"pilot": [row[1:] for row in rows if row[0] in pilot_names and row[1] in pilot_subjects],
             "held out": [row[1:] for row in rows if row[0] not in pilot_names and row[1] not in pilot_subjects]}
    ratings = {part: people_means(data, chosen) for part, chosen in parts.items()}
    for measure in data["measure"].values:
        by_template = [model_means(data, measure, [place]) for place in range(len(TEMPLATES))]
        offers = [(place,) for place in range(len(TEMPLATES))] + list(itertools.combinations(range(len(TEMPLATES)), 2))

        def tau(places, part):
            return expected(numpy.mean([by_template[place] for place in places], axis=0).ravel(), ratings[part].ravel())["tau"]

        best = max(offers, key=lambda places: tau(places, "pilot"))
        found = data.sel(measure=measure)
        assert tuple(numpy.flatnonzero(found["people_selected"].values)) == best
        for part in parts:
            numpy.testing.assert_allclose(found["people_selection_tau"].sel(people_choice="chosen", people_part=part),
                                          tau(best, part), rtol=1e-11)
            numpy.testing.assert_allclose(
                found["people_selection_tau"].sel(people_choice="all", people_part=part),
                expected(model_means(data, measure).ravel(), ratings[part].ravel())["tau"], rtol=1e-11)
        assert (found["people_selection_n"].sel(people_choice="chosen").values == [16, 24]).all()
    share = f"{{ratings: {table}, selection: {{pilot_annotators: {{share: 0.4, seed: 7}}, most: 1}}}}"
    first = program("stats", run, "--all", "statistics.inference={draws: 100, replicates: 100}", f"statistics.people={share}")
    assert "(4 annotators about all subjects)" in first
    assert (opened(run)["people_selected"].sum("template") == 1).all()
    assert program("stats", run, "--all", "statistics.inference={draws: 100, replicates: 100}", f"statistics.people={share}") == first


def test_scales_aliases_turned_pairs_and_chosen_rows(run, tmp_path):
    draw = random.Random(9)
    rows = [(f"a{annotator}", draw.choice(["woman", "man"]), group, pair, draw.randint(1, 7))
            for annotator in range(6) for group in GROUPS for pair in PAIRS]
    spelt = [(name, gender, {"women": "ladies"}.get(group, group.upper()), " - ".join(reversed(pair.split(" - "))), 8 - rating)
             for name, gender, group, pair, rating in rows]
    table = write_table(tmp_path / "answers.tsv", ["annotator", "gender", "group", "pair", "rating"], spelt)
    text = program("stats", run, "--all", "statistics.inference={draws: 100, replicates: 100}",
                   f"statistics.people={{ratings: {table}, scale: [1, 7], aliases: {{ladies: women}}, only: {{gender: woman}}}}")
    assert "turned round" in text
    wanted = [(group, pair, 100 * (rating - 1) / 6) for _, gender, group, pair, rating in rows if gender == "woman"]
    data = opened(run)
    assert data["people_num_answers"].item() == len(wanted)
    numpy.testing.assert_allclose(data["people_mean"].sel(people_group="all"), people_means(data, wanted), rtol=1e-12)


def test_faults_are_named_and_leave_the_old_file(run, tmp_path):
    program("stats", run)
    before = (run / "association.stats.h5").read_bytes()
    answers = write_table(tmp_path / "answers.tsv", ["annotator", "sex", "group", "pair", "rating"],
                          [("a", "f", "women", "cold - warm", 3), ("b", "m", "men", "cold - warm", 4)])
    twice = write_table(tmp_path / "twice.tsv", ["annotator", "group", "pair", "rating"],
                        [("a", "women", "cold - warm", 3), ("a", "women", "cold - warm", 101), ("", "men", "cold - warm", 1),
                         ("a", "women", "warm - cold", 3)])
    means = write_table(tmp_path / "means.tsv", ["group", "pair", "mean"], [("women", "cold - warm", 3)])
    others = write_table(tmp_path / "others.tsv", ["group", "pair", "mean"], [("womens", "cold - warm", 3)])
    for settings, faults in {
        f"{{ratings: {answers}, only: {{gender: f}}}}": ["the column 'gender' is missing"],
        f"{{ratings: {answers}, only: {{sex: female}}}}": ["no row has 'female'"],
        f"{{ratings: {answers}, measures: [nothing]}}": ["no measure 'nothing'"],
        f"{{ratings: {answers}, scale: [7, 1]}}": ["no ends of a scale"],
        f"{{ratings: {answers}, over: [annotators]}}": ["Did you mean 'annotator'"],
        f"{{ratings: {answers}, selection: {{most: 3}}}}": ["selection.most: a whole number from 1 to 2", "3"],
        f"{{ratings: {answers}, selection: {{most: 1}}}}": ["no pilot is named"],
        f"{{ratings: {answers}, selection: {{pilot_annotators: [c]}}}}": ["no annotator 'c'"],
        f"{{ratings: {answers}, selection: {{pilot_subjects: [woman]}}}}": ["no subject 'woman'"],
        f"{{ratings: {answers}, selection: {{pilot_subjects: [women, men]}}}}": ["leaves nothing"],
        f"{{ratings: {twice}}}": [":3:rating: '101' is no rating", "an answer of nobody", "rated twice on 'cold - warm' by one"],
        f"{{ratings: {means}, over: [annotator]}}": ["annotators cannot be drawn"],
        f"{{ratings: {means}, selection: {{pilot_annotators: {{share: 0.5}}}}}}": ["no annotators to choose by"],
        f"{{ratings: {others}}}": ["none of their subjects and items", "Did you mean 'women'"],
        f"{{ratings: {tmp_path}/nobody.tsv}}": ["nobody.tsv"],
        "{rating: x}": ["the key 'ratings' is missing", "rating"],
    }.items():
        said = program("stats", run, f"statistics.people={settings}", code=2)
        for fault in faults:
            assert fault in said, said
    assert (run / "association.stats.h5").read_bytes() == before
    said = program("validate", runs.SMOKE, "statistics.people={ratings: nobody.tsv}", code=2)
    assert "statistics.people: nobody.tsv: the table cannot be read" in said


def test_lines_fit_a_terminal(run, tmp_path):
    rows = [(f"a{place}", group, pair, place * 7 % 100, "a long name of a kind of people" * (1 + place % 2))
            for place, (group, pair) in enumerate(itertools.product(GROUPS, PAIRS))]
    table = write_table(tmp_path / "answers.tsv", ["annotator", "group", "pair", "rating", "kind"], rows)
    text = program("stats", run, "--all", "statistics.inference={draws: 100, replicates: 100}",
                   f"statistics.people={{ratings: {table}, subgroups: kind, selection: {{pilot_subjects: [women]}}}}")
    wide = [line for line in text.splitlines() if len(line) > 100 and not line.startswith("written: ")]
    assert not wide


def test_published_answers(tmp_path):
    """133 annotators of Cao et al.: means of the table that the script makes, and scipy on them."""
    if not PUBLISHED.exists():
        pytest.skip(f"the published data set is not at {PUBLISHED} (optional)")
    table = tmp_path / "answers.tsv"
    subprocess.run([sys.executable, "-m", "stereosweep_analysis", "answers", str(PUBLISHED / "data_full.json"), str(table)],
                   check=True, cwd=runs.ROOT, env={**runs.os.environ, "PYTHONPATH": str(runs.ROOT / "analysis")})
    output = tmp_path / "run"
    code, _, err = runs.run(runs.SMOKE, output, "axes.groups=abc_groups", "axes.intersections=none", "axes.traits=abc_traits",
                            "measures=[ilps]")
    assert code == 0, err
    aliases = ("{Blacks/African Americans: Black people, transgender people: trans people, Christian people: Christians, "
               "Mormon people: Mormons, Buddhist people: Buddhists}")
    text = program("stats", output, "statistics.inference={draws: 1000, replicates: 500}",
                   f"statistics.people={{ratings: {table}, aliases: {aliases}}}")
    assert "25 subjects x 16 items" in text and "133 annotators" in text and "average people" in text
    data = opened(output)
    with open(PUBLISHED / "human_means.tsv", newline="", encoding="utf-8") as file:
        means = {(row["group_in_groups_tsv_plural"], row["pair"]): float(row["mean_recomputed"])
                 for row in csv.DictReader(file, delimiter="\t")}
    spelling = {"egotistic - altruistic": "egoistic - altruistic", "low-status - high-status": "low status - high status"}
    found = data["people_mean"].sel(people_group="all")
    rated = [subject for subject in data["subject"].values if not numpy.isnan(found.sel(subject=subject)).any()]
    assert len(rated) == 25
    for subject, item in itertools.product(rated, data["item"].values):
        assert abs(found.sel(subject=subject, item=item) - means[subject, spelling.get(item, item)]) < 0.006
    scores = model_means(data, data["measure"].values[0])
    want = expected(scores.ravel(), found.transpose("subject", "item").values.ravel())
    row = data.isel(measure=0).sel(people_group="all", people_row="pooled")
    assert row["people_n"] == want["n"] == 400
    numpy.testing.assert_allclose(row["people_tau"], want["tau"], rtol=1e-12)
    assert row["people_tau_low"] < row["people_tau_high"]
