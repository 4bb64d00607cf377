#!/usr/bin/env python3
"""Holds a run of jobs/70_stereomap.yaml over the planted chat model against planted.tsv.

    PYTHON recover_chat.py results/stereomap/interview.h5

Prints the share of answers that are what was planted, by status, and how far the shares of the two numbers that were planted
with 0.7 and 0.3 are from that.
"""

import collections
import csv
import pathlib
import sys

import h5py
import numpy

HERE = pathlib.Path(__file__).resolve().parent


def texts(dataset):
    values = [value.decode() if isinstance(value, bytes) else value for value in numpy.ravel(dataset[()])]
    return numpy.reshape(numpy.array(values, dtype=object), dataset.shape)


def truth():
    with open(HERE / "planted.tsv", newline="", encoding="utf-8") as table:
        yield from csv.DictReader(table, delimiter="\t")


class Found:
    """Cells of a result by group, conversation and item."""

    def __init__(self, path):
        with h5py.File(path) as file:
            names = {axis: list(texts(file[axis])) for axis in ("group", "conversation", "item", "template")}
            self.groups, self.conversations = names["group"], names["conversation"]
            self.items = list(zip(texts(file["item_conversation"]), texts(file["item_text"])))
            self.rating, self.status = file["rating"][()], file["rating_status"][()]
            self.statuses = file["rating_status"].attrs["flag_meanings"]
            self.statuses = (self.statuses.decode() if isinstance(self.statuses, bytes) else self.statuses).split()
            self.keyword = texts(file["keyword"])
            self.asks_keywords = ["keywords" in kinds for kinds in texts(file["conversation_kinds"])]

    def ratings(self, row):
        """[(status, value)] over prompt forms, rephrasings and rounds."""
        place = (self.groups.index(row["group"]), self.conversations.index(row["conversation"]))
        item = self.items.index((row["conversation"], row["item"]))
        status, value = self.status[place][..., item].ravel(), self.rating[place][..., item].ravel()
        return [(self.statuses[one], number) for one, number in zip(status, value)]

    def keywords(self, row):
        """Lists of keywords, where they were asked for."""
        cells = self.keyword[self.groups.index(row["group"]), self.conversations.index(row["conversation"])]
        return [[word for word in words if word] for words in cells.reshape(-1, cells.shape[-1]) if any(words)]


def compare(path):
    """{status: [right, all]} and the share of the first number over all cells with two."""
    found, right, firsts = Found(path), collections.defaultdict(lambda: [0, 0]), []
    for row in truth():
        if row["status"] == "keywords":
            for words in found.keywords(row):
                right["keywords"][0] += words == row["value"].split(", ")
                right["keywords"][1] += 1
            continue
        for status, value in found.ratings(row):
            numbers = [float(number) for number in (row["value"], row["other"]) if number]
            right[row["status"]][0] += status == row["status"] and (not numbers or value in numbers)
            right[row["status"]][1] += 1
            if row["other"]:
                firsts.append(value == numbers[0])
    return dict(right), float(numpy.mean(firsts)), len(firsts)


def main():
    right, first, count = compare(sys.argv[1])
    for status, (good, total) in right.items():
        print(f"{status:14} {good:6} of {total:6}  {100 * good / total:6.2f} %")
    print(f"first of two numbers in {100 * first:.1f} % of {count}, planted 70 %")


if __name__ == "__main__":
    main()
