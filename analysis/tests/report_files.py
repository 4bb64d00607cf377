"""A statistics file and a result with the axes and names that the program writes, of made-up numbers."""

import json
import warnings

import numpy as np
import xarray as xr

STATUSES = ("ok", "partial", "missing", "undefined", "not_scored", "not_applicable", "infinite")
AXES = ("measure", "subject", "template", "rephrasing", "replicate", "item")


def texts(values):
    return np.array(list(values), dtype=object)


def statistics_dataset(values, subjects=None, title="made up", measure="ilps_star prior_word"):
    """`values`: [subject, template, rephrasing, replicate, item]; one measure."""
    values = np.asarray(values, dtype=float)
    names = {
        axis: [f"{axis} {place}" for place in range(length)]
        for axis, length in zip(AXES[1:], values.shape, strict=True)
    }
    names["subject"] = subjects or names["subject"]
    status = np.where(np.isfinite(values), 0, 2).astype("u1")
    flags = {"flag_values": np.arange(len(STATUSES), dtype="u1"), "flag_meanings": " ".join(STATUSES)}
    items = names["item"]
    return xr.Dataset(
        {"score": (AXES, values[None]), "score_status": (AXES, status[None], flags)},
        coords={
            "measure": texts([measure]), **{axis: texts(labels) for axis, labels in names.items()},
            "measure_units": ("measure", texts(["nat"])), "measure_description": ("measure", texts(["a number"])),
            "subject_kind": ("subject", texts(["group"] * len(names["subject"]))),
            "subject_domain": ("subject", texts(["domain"] * len(names["subject"]))),
            "item_left": ("item", texts(f"left of {item}" for item in items)),
            "item_right": ("item", texts(f"right of {item}" for item in items)),
        },
        attrs={
            "schema": "stereosweep-statistics/association", "schema_version": "1.0", "complete": 1, "title": title,
            "model": "models/made-up", "source_complete": 1, "software_version": "0.0.0", "job_sha256": "ab" * 32,
        },
    )  # fmt: skip


def view(title, columns, by="", each=("measure",)):
    return {"title": title, "columns": [list(column) for column in columns], "by": by, "each": list(each)}


def add_finding(statistics, axes, arrays, views, notes="", warnings=(), named=()):
    """`arrays`: {name: (values, role)}; the first one declares the views."""
    first = next(iter(arrays))
    made = statistics.copy()
    for name, (values, role) in arrays.items():
        own = {"role": role} if role == "value" else {"role": role, "of": first}
        made[name] = (axes, np.asarray(values), own | {"long_name": f"what {name} is"})
    made[first].attrs |= {"views": json.dumps(views), "notes": notes}
    made[first].attrs |= {"warnings": "\n".join(warnings)} if warnings else {}
    made[first].attrs |= {"named_measures": "\n".join(named)} if named else {}
    return made


def add_means(statistics, reach=0.5):
    """Means of every measure, made by hand: over all cells that have a number, with ends `reach` to either side."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean = statistics["score"].mean(("template", "rephrasing", "replicate")).values
    counts = np.isfinite(statistics["score"]).any(("replicate",)).sum(("template", "rephrasing")).values
    columns = (("subject", "subject"), ("item", "item"), ("mean_score", "mean"), ("mean_score_low", "low"),
               ("mean_score_high", "high"), ("mean_score_n", "cells"))  # fmt: skip
    made = add_finding(
        statistics, ("measure", "subject", "item"),
        {"mean_score": (mean, "value"), "mean_score_low": (mean - reach, "low"),
         "mean_score_high": (mean + reach, "high"), "mean_score_n": (counts.astype("i4"), "n")},
        [view("Means of ", columns, "-mean_score")], "How means are computed.",
    )  # fmt: skip
    made["mean_score_low"].attrs["long_name"] = "lower end of the 95 % interval"
    return made


def add_contrasts(statistics, names, differences, p, sides=()):
    """Contrasts of the first measure and item with an interval of one to either side. `sides`: of each the subjects of
    the left and of the right one."""
    axis = "contrast"
    differences, p = np.asarray(differences, dtype=float), np.asarray(p, dtype=float)
    columns = (("name", "contrast"), ("item", "item"), ("contrast_difference", "difference"), ("contrast_low", "low"),
               ("contrast_high", "high"), ("contrast_num_templates", "templates"), ("contrast_p", "p"),
               ("contrast_p_holm", "p adjusted"))  # fmt: skip
    made = add_finding(
        statistics, (axis,),
        {"contrast_difference": (differences, "value"), "contrast_low": (differences - 1, "low"),
         "contrast_high": (differences + 1, "high"), "contrast_p": (p, "p"),
         "contrast_p_holm": (np.minimum(p * len(names), 1), "adjusted"),
         "contrast_num_templates": (np.full(len(names), 7, dtype="i4"), "n")},
        [view("Contrasts in ", columns, "contrast_p")], "How contrasts are tested.", ["Few templates.", "Another."],
    )  # fmt: skip
    left, right = zip(*sides, strict=True) if sides else ((), ())
    subjects = {f"contrast_{side}_subjects": (axis, texts(of)) for side, of in (("left", left), ("right", right)) if of}
    return made.assign_coords(
        **subjects, contrast=texts(names), contrast_name=(axis, texts(names)),
        contrast_measure=(axis, texts([str(statistics["measure"].values[0])] * len(names))),
        contrast_item=(axis, texts(["item 0"] * len(names))),
    )  # fmt: skip


def result_dataset(prompts, num_subwords, status):
    """`prompts`: [group, template]; `num_subwords`, `status`: [group, template, word] (0 ok, 1 joins)."""
    num_subwords, status = np.asarray(num_subwords, dtype="i4"), np.asarray(status, dtype="u1")
    groups, templates, words = num_subwords.shape
    axes = ("group", "template", "rephrasing")
    flags = {"flag_values": np.arange(2, dtype="u1"), "flag_meanings": "ok joins"}
    return xr.Dataset(
        {
            "prompt": (axes, np.array(prompts, dtype=object)[:, :, None]),
            "num_subwords": ((*axes, "word"), num_subwords[:, :, None]),
            "status": ((*axes, "word"), status[:, :, None], flags),
        },
        coords={
            "group": texts(f"group {place}" for place in range(groups)), "rephrasing": texts(["none"]),
            "template": texts(f"template {place}" for place in range(templates)),
            "word": texts(f"word {place}" for place in range(words)),
            "word_pair": ("word", texts(f"pair {place}" for place in range(words))),
        },
        attrs={"schema": "stereosweep/association", "schema_version": "1.0", "complete": 1, "num_ranks": "2"},
    )  # fmt: skip


def write(folder, statistics, result=None):
    """association.stats.h5 (and association.h5) in the folder, which is returned."""
    folder.mkdir(exist_ok=True)
    statistics.to_netcdf(folder / "association.stats.h5", engine="h5netcdf")
    if result is not None:
        result.to_netcdf(folder / "association.h5", engine="h5netcdf")
    return folder
