"""An interview's raw file and its statistics, with the axes and names that the program writes."""

import os
from pathlib import Path

import numpy as np
import xarray as xr

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STEREOSWEEP_BUILD", ROOT / "build" / "release"))
STATUSES = ("answered", "refused", "truncated", "not_asked")

# group: rounds of keywords; an empty list is a refusal
KEYWORDS = {
    "nurses": [["Caring", "hardworking", "helpful"], ["caring", "Risk takers", "teachers"]],
    "doctors": [["intelligent", "caring", "arrogant"], ["Doctors", "zany", "intelligent"]],
    "thieves": [["dishonest", "zanier", "poor"], []],
}
REASONS = {
    "nurses": [["Nurses care for sick people.", "A nurse works long hours.", ""], ["They help patients.", "", ""]],
    "doctors": [["Doctors earn a high income.", "The doctor studied at university.", ""],
                ["People respect doctors and their income.", "", ""]],
    "thieves": [["Thieves steal money.", "Nobody trusts a thief.", ""], ["", "", ""]],
}  # fmt: skip


def _texts(values):
    return np.array(values, dtype=object)


def interview_dataset(keywords=None, reasons=None):
    """[group, conversation (traits, structure), template (full), rephrasing (none), round, place]."""
    keywords, reasons = keywords or KEYWORDS, reasons or REASONS
    groups, places = list(keywords), 3
    rounds = len(keywords[groups[0]])
    outer = ("group", "conversation", "template", "rephrasing")
    shape = (len(groups), 2, 1, 1, rounds)
    said, why = np.full((*shape, places), "", dtype=object), np.full((*shape, places), "", dtype=object)
    status = np.full(shape, 3, dtype="u1")
    why_status = np.full((*shape, places), 3, dtype="u1")
    for group, label in enumerate(groups):
        for turn in range(rounds):
            words = keywords[label][turn]
            said[group, 0, 0, 0, turn, : len(words)] = words
            status[group, 0, 0, 0, turn] = 0 if words else 1
            texts = reasons[label][turn]
            why[group, 0, 0, 0, turn, : len(texts)] = texts
            why_status[group, 0, 0, 0, turn, : len(texts)] = [0 if text else 1 for text in texts]
    answers = np.full((*shape, 3), "", dtype=object)
    for group, label in enumerate(groups):
        answers[group, 1, 0, 0, :, 1] = [f"{label} have jobs, why.", f"No jobs of round {group}"][:rounds]
    flags = {"flag_values": np.arange(len(STATUSES), dtype="u1"), "flag_meanings": " ".join(STATUSES)}
    return xr.Dataset(
        {
            "answer_text": ((*outer, "round", "turn"), answers),
            "answer_status": ((*outer, "round", "turn"), np.where(answers == "", 1, 0).astype("u1"), flags),
            "keyword": ((*outer, "round", "place"), said),
            "keyword_status": ((*outer, "round"), status, flags),
            "reason": ((*outer, "round", "place"), why),
            "reason_status": ((*outer, "round", "place"), why_status, flags),
        },
        coords={
            "group": _texts(groups), "conversation": _texts(["traits", "structure"]), "template": _texts(["full"]),
            "rephrasing": _texts(["none"]), "group_plural": ("group", _texts(groups)),
            "conversation_kinds": ("conversation", _texts(["keywords, reasons, ratings", "rating, text"])),
            "conversation_turns": ("conversation", _texts(["words, why, scale", "rating, explanation"])),
        },
        attrs={"schema": "stereosweep/interview", "schema_version": "1.0", "complete": 1},
    )  # fmt: skip


def statistics_dataset(scores, clusters=None):
    """scores: {subject: [[item ...] by replicate]}, measure `rating`; clusters: {subject: place}."""
    subjects = list(scores)
    values = np.array([scores[subject] for subject in subjects], dtype=float)  # subject, replicate, item
    table = values[None, :, None, None]
    made = xr.Dataset(
        {"score": (("measure", "subject", "template", "rephrasing", "replicate", "item"), table)},
        coords={
            "measure": _texts(["rating"]), "subject": _texts(subjects), "template": _texts(["full"]),
            "rephrasing": _texts(["none"]), "replicate": _texts([str(place) for place in range(values.shape[1])]),
            "item": _texts([f"item {place}" for place in range(values.shape[2])]),
        },
        attrs={"schema": "stereosweep-statistics/interview", "schema_version": "1.0", "complete": 1},
    )  # fmt: skip
    if clusters:
        made["cluster_of_subject"] = (
            ("cluster_source", "subject"),
            np.array([[clusters[subject] for subject in subjects]], dtype="i4"),
        )
        made = made.assign_coords(cluster_source=_texts(["rating"]))
    return made


def write_interview(folder, clusters=None):
    """interview.h5, and interview.stats.h5 where clusters are given, in the folder."""
    interview_dataset().to_netcdf(folder / "interview.h5", engine="h5netcdf")
    if clusters:
        scores = {group: [[1.0], [2.0]] for group in KEYWORDS}
        statistics_dataset(scores, clusters).to_netcdf(folder / "interview.stats.h5", engine="h5netcdf")
    return folder
