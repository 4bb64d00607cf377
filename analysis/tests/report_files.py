"""A statistics file and a result with the axes and names that the program writes, of made-up numbers."""

import numpy as np
import xarray as xr

STATUSES = ("ok", "partial", "missing", "undefined", "not_scored", "not_applicable")
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


def add_contrasts(statistics, names, differences, p):
    """Contrasts of the first measure and item with an interval of one to either side."""
    axis = "contrast"
    count = len(names)
    numbers = {
        "left": differences, "right": np.zeros(count), "difference": differences,
        "low": np.asarray(differences) - 1, "high": np.asarray(differences) + 1,
        "effect": np.ones(count), "p": p, "p_max_t": np.full(count, np.nan),
        "p_holm": np.minimum(np.asarray(p) * count, 1),
    }  # fmt: skip
    made = statistics.assign(
        {f"contrast_{name}": (axis, np.asarray(values, dtype=float)) for name, values in numbers.items()}
    )
    made["contrast_num_templates"] = (axis, np.full(count, 7, dtype="i4"))
    made["contrast_low"].attrs["long_name"] = "lower end of the 95 % interval"
    made["contrast_p_holm"].attrs["long_name"] = "p after Holm, adjusted among all rows"
    return made.assign_coords(
        contrast=texts(names), contrast_name=(axis, texts(names)),
        contrast_measure=(axis, texts([str(statistics["measure"].values[0])] * count)),
        contrast_item=(axis, texts(["item 0"] * count)),
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
