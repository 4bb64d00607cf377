"""Tables of Cao et al. (NAACL 2022): agreement with people (5, 6, A11 to A19), intersections (A8 to A10)."""

import numpy as np

from .layout import Layout
from .printed import Ours
from .table import PaperTable

TITLE = "Cao et al. (2022)"
MODELS = {"RoBERTa": ("roberta-large",), "BERT": ("bert-large-cased",)}
BY_COLUMN = True
NOTE = "A9: correlation of domain A less that of B. SeT: as in the paper's code."
PRINTED_MEASURES = {
    "ilps_first prior_word": "ILPS", "ilps_star prior_word": "ILPS*", "set_code_augmented prior_word": "SeT",
    "effect_size": "CEAT",
}  # fmt: skip
CROSSED_BY = "set_code_augmented prior_word"  # the paper's intersections are by SeT

DEMOGRAPHIC_GROUPS = ("women", "men", "White people", "Black people")  # of tables A14 to A17
MOST_EMERGENT = 50


def _texts(statistics, name):
    return [str(label) for label in statistics[name].values]


def _of_all(statistics, name):
    """[measure, row] of all annotators, and the measures' labels."""
    axis = statistics[name].dims[0]
    values = statistics[name].sel(people_group="all").transpose(axis, "people_row").values
    return values, _texts(statistics, axis)


def _overall(statistics, _):
    names = ("tau", "precision_at_3", "precision_at_3_chance", "tau_p_items", "tau_p_subjects", "tau_p_cite")
    pooled = _texts(statistics, "people_row").index("pooled")
    measures = _of_all(statistics, "people_tau")[1]
    columns = [_of_all(statistics, f"people_{name}")[0][:, pooled] for name in names]
    rows = [(measure, *map(float, values)) for measure, *values in zip(measures, *columns, strict=True)]
    head = ("measure", "tau-b", "P@3", "chance", "p items", "p subjects", "p cite")
    note = "tau-b over all subjects and items; p by shuffled items and subjects, two-sided, not adjusted. Cite p cite."
    return [PaperTable("6", "Agreement with people over all groups", head, rows, note, paper_columns=2)]


def _by_subject(number, title, name, mean):
    """`name`: of the subjects' rows; `mean`: of the row of all cells."""

    def make(statistics, _):
        values, measures = _of_all(statistics, f"people_{name}")
        means = _of_all(statistics, f"people_{mean}")[0]
        kinds, names = _texts(statistics, "people_row_kind"), _texts(statistics, "people_row_name")
        rows = [
            (names[row], *map(float, values[:, row]))
            for row, kind in enumerate(kinds)
            if kind == "subject" and np.isfinite(values[:, row]).any()
        ]
        if not rows:
            return []
        rows.append(("mean", *map(float, means[:, kinds.index("pooled")])))
        return [PaperTable(number, title, ("group", *measures), rows, "mean: over groups.")]

    return make


def _selection(statistics, _):
    """Tables 5 and A19: the templates that a pilot chose, and how they agree with people outside of it."""
    templates = np.array(_texts(statistics, str(statistics["people_selected"].dims[1])))
    axis = str(statistics["people_selection_tau"].dims[0])
    measures = _texts(statistics, axis)
    selected = {measure: statistics["people_selected"].sel({axis: measure}).values == 1 for measure in measures}
    of_chosen = statistics.sel(people_choice="chosen")

    def number(name, measure, part="held out"):
        return float(of_chosen[f"people_selection_{name}"].sel({axis: measure, "people_part": part}))

    pilot = [(name, "; ".join(templates[selected[name]]), number("tau", name, "pilot")) for name in measures]
    held_out = [
        (name, number("tau", name), number("precision_at_3", name), int(number("n", name))) for name in measures
    ]
    head = ("measure", "tau-b", "P@3", "n")
    note = "Without the pilot's groups and annotators, with the templates of table 5."
    return [
        PaperTable("5", "Templates that the pilot chose", ("measure", "templates", "tau-b"), pilot, labels=1),
        PaperTable("A19", "Agreement with people in test groups", head, held_out, note, paper_columns=2),
    ]


def _demographic_means(statistics, _):
    """Tables A14 to A17: a block for each kind of annotators."""
    annotators = [name for name in _texts(statistics, "people_group") if name != "all"]
    if not annotators:
        return []
    mean = statistics["people_mean"].transpose("people_group", "item", "subject")
    rated = np.array(_texts(statistics, "subject"))[np.isfinite(mean.values).any(axis=(0, 1))]
    subjects = [name for name in DEMOGRAPHIC_GROUPS if name in rated] or list(rated)
    rows = [
        (name, item, *map(float, mean.sel(people_group=name, item=item, subject=subjects).values))
        for name in annotators
        for item in _texts(statistics, "item")
    ]
    note = "0: the left trait, 100: the right one. Groups of the paper; all others: people_mean."
    head = ("annotators", "trait pair", *subjects)
    return [PaperTable("A14 to A17", "People's mean ratings by kind of annotators", head, rows, note)]


def _demographic_agreement(statistics, _):
    annotators = [name for name in _texts(statistics, "people_group") if name != "all"]
    if not annotators:
        return []
    axis = str(statistics["people_tau"].dims[0])
    tau = statistics["people_tau"].transpose(axis, "people_row", "people_group")
    kinds, names = _texts(statistics, "people_row_kind"), _texts(statistics, "people_row_name")
    order = [place for kind in ("subject", "pooled") for place, of in enumerate(kinds) if of == kind]
    rows = [
        (measure, names[place], *map(float, tau.sel({axis: measure, "people_group": annotators}).values[place]))
        for measure in _texts(statistics, axis)
        for place in order
    ]
    head = ("measure", "group", *annotators)
    return [PaperTable("A18", "tau-b of the model with each kind of annotators", head, rows, "pooled: over all cells.")]


def _of_first_measure(statistics):
    """(statistics of one measure of intersections, its name)."""
    axis = statistics["dominance"].dims[0]  # of chosen measures, or of all
    measure = _texts(statistics, axis)[0]
    return statistics.sel({axis: measure}), measure


def _dominance(statistics, _):
    """Tables A8 and A9."""
    found, measure = _of_first_measure(statistics)
    pairs = list(zip(*(_texts(statistics, f"domain_pair_{part}") for part in ("first", "second")), strict=True))
    meanings = statistics["dominance"].attrs["flag_meanings"].split()
    winners = [meanings[int(flag)] for flag in found["dominance"].values]
    over = [
        pair if winner == "first" else pair[::-1]
        for pair, winner in zip(pairs, winners, strict=True)
        if winner in ("first", "second")
    ]
    rows = []
    for domain in dict.fromkeys(name for pair in pairs for name in pair):
        under, above = ([pair[1 - side] for pair in over if pair[side] == domain] for side in (0, 1))
        rows.append((domain, ", ".join(under) or "-", ", ".join(above) or "-", len(under), len(above)))
    rows.sort(key=lambda row: row[4] - row[3])
    head = ("domain", "dominates", "dominated by", "dominates (number)", "dominated by (number)")
    columns = ("tau_first", "tau_second", "difference", "low", "high")
    numbers = [found[f"dominance_{name}"].values for name in columns]
    counts = found["dominance_num_intersections"].values
    details = [
        (*pair, *(float(values[place]) for values in numbers), int(counts[place])) for place, pair in enumerate(pairs)
    ]
    head_of_details = ("domain A", "domain B", "tau-b A", "tau-b B", "A minus B", "low", "high", "n")
    note = f"By {measure}; n: intersections."
    return [
        PaperTable("A8", "Which domain dominates", head, rows, f"By {measure}, by the paper's rule; see A9.", labels=1),
        PaperTable("A9", "tau-b of intersections with their parts", head_of_details, details, note, paper_columns=2),
    ]


def _emergent(statistics, _):
    """Table A10: single traits whose score rises most above each part's."""
    found, measure = _of_first_measure(statistics)
    names = ("max", "score", "p", "p_holm")
    numbers = {name: found[f"pole_emerge_{name}"].transpose("intersection", "pole").values for name in names}
    increase = numbers["max"]
    order = [place for place in np.argsort(-increase, axis=None, kind="stable") if np.isfinite(increase.flat[place])]
    intersections, poles = _texts(statistics, "intersection"), _texts(statistics, "pole")
    rows = []
    for place in order[:MOST_EMERGENT]:
        score, p, adjusted = (float(numbers[name].flat[place]) for name in names[1:])
        of = (intersections[place // len(poles)], poles[place % len(poles)])
        rows.append((*of, float(increase.flat[place]), score - float(increase.flat[place]), p, adjusted))
    head = ("intersection", "trait", "increase", "larger part", "p", "adjusted p")
    note = (
        f"The {len(rows)} largest of {len(order):,}, by {measure}. A largest value is mostly noise where adjusted p "
        "(Holm over all rows) is not small."
    )
    return [PaperTable("A10", "Emergent traits of intersections", head, rows, note, paper_columns=2)]


def compared(statistics, _):
    """{(table, row, column) of the paper: Ours}."""
    return {**_people_compared(statistics), **_crossed_compared(statistics)}


def _people_compared(statistics):
    if "people_tau" not in statistics:
        return {}
    found = {}
    kinds, names = _texts(statistics, "people_row_kind"), _texts(statistics, "people_row_name")
    axis = str(statistics["people_tau"].dims[0])
    for measure in [name for name in PRINTED_MEASURES if name in _texts(statistics, axis)]:
        title, of_measure = PRINTED_MEASURES[measure], statistics.sel({axis: measure, "people_group": "all"})

        def ours(row, *names, of=of_measure, zero=0.5):
            return Ours(*(float(of[f"people_{name}"][row]) for name in names), zero=zero)

        for row, kind in enumerate(kinds):
            tau = ours(row, "tau", "tau_low", "tau_high", zero=0.0)
            if kind == "pooled":
                found["6", "all groups", f"tau-b {title}"] = tau
                found["6", "all groups", f"P@3 {title}"] = ours(row, "precision_at_3")
            elif kind == "subject":
                found["A11", names[row], f"tau-b {title}"] = tau
                found["A12", names[row], f"top 3 {title}"] = ours(row, "precision_top_3")
                found["A13", names[row], f"bottom 3 {title}"] = ours(row, "precision_bottom_3")
        if "people_selection_tau" in statistics:
            chosen = of_measure["people_selection_tau"].sel(people_choice="chosen")
            for table, row, part in (("5", "pilot groups", "pilot"), ("A19", "test groups", "held out")):
                found[table, row, f"tau-b {title}"] = Ours(float(chosen.sel(people_part=part)))
    return found


def _crossed_compared(statistics):
    if "dominance" not in statistics or CROSSED_BY not in _texts(statistics, axis := statistics["dominance"].dims[0]):
        return {}
    of_measure = statistics.sel({axis: CROSSED_BY})
    means = zip(_texts(statistics, "order_comparison"), of_measure["order_mean"].values, strict=True)
    found = {("text", name, "mean tau-b"): Ours(float(mean)) for name, mean in means}
    columns = [of_measure[f"dominance_{name}"].values for name in ("difference", "low", "high")]
    pairs = (_texts(statistics, f"domain_pair_{part}") for part in ("first", "second"))
    for first, second, value, low, high in zip(*pairs, *columns, strict=True):
        found["A9", f"{first} x {second}", "tau-b A"] = Ours(float(value), float(low), float(high))
        found["A9", f"{second} x {first}", "tau-b A"] = Ours(-float(value), -float(high), -float(low))
    return found


PEOPLE = "'stereosweep stats DIR statistics.people={ratings: TABLE}'"
SUBGROUPS = "statistics.people of single answers, with subgroups: a column of the annotators"
CROSSED = "axes.intersections of two groups, and statistics.intersections"
LAYOUTS = (
    Layout("5, A19", "people_selection_tau", _selection, "statistics.people with a selection"),
    Layout("6", "people_tau", _overall, PEOPLE),
    Layout("A8, A9", "dominance", _dominance, CROSSED),
    Layout("A10", "pole_emerge_max", _emergent, CROSSED),
    Layout("A11", "people_tau", _by_subject("A11", "Kendall's tau-b by group", "tau", "tau_mean"), PEOPLE),
    *(
        Layout(
            number, f"people_{name}",
            _by_subject(number, f"Precision of the three {which} scores by group", name, name), PEOPLE,
        )
        for number, which, name in (
            ("A12", "highest", "precision_top_3"), ("A13", "lowest", "precision_bottom_3"),
        )
    ),
    Layout("A14 to A17", "people_mean", _demographic_means, SUBGROUPS),
    Layout("A18", "people_tau", _demographic_agreement, SUBGROUPS),
)  # fmt: skip
