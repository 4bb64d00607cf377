"""Clusters of subjects by one source of a statistics file."""

import numpy as np


def reference_source(statistics):
    """What the other sources are compared with: people where their ratings were given, else the first measure."""
    sources = [str(name) for name in statistics["cluster_source"].values]
    return "people" if "people" in sources else sources[0]


class Clusters:
    """`subjects`, `of_subject` (-1: none), `agrees_with_reference`: [subject]; `centres`: [place, dimension]."""

    def __init__(self, statistics, source):
        self._statistics = statistics.sel(cluster_source=source)
        self.source = source
        self.dimensions = [str(name) for name in statistics["cluster_dimension"].values]
        self.subjects = np.array([str(name) for name in statistics["subject"].values])
        self.number = int(self._statistics["cluster_number"])
        self.centres = self._statistics["cluster_centre"].transpose("cluster_place", "cluster_dimension").values
        self.of_subject = self._statistics["cluster_of_subject"].values
        self._side = self._statistics["cluster_side"].transpose("cluster_place", "cluster_dimension").values
        self._sides = statistics["cluster_side"].attrs["flag_meanings"].split()

    @property
    def agrees_with_reference(self):
        agreement = self._statistics["cluster_agreement"]
        return agreement.values == agreement.attrs["flag_meanings"].split().index("agrees")

    def side_text(self, place):
        """ "high, low", in the order of the dimensions; "-" for no cluster."""
        return ", ".join(self._sides[int(flag)].replace("_", " ") for flag in self._side[place]) if place >= 0 else "-"

    def members(self, place):
        return self.subjects[self.of_subject == place]

    def tests(self, *names):
        """{dimension pair: [place, name]} of the paired t within clusters; empty where there is none."""
        if "cluster_t" not in self._statistics:
            return {}
        parts = [self._statistics[name].transpose("cluster_place", "dimension_pair").values for name in names]
        pairs = [str(pair) for pair in self._statistics["dimension_pair"].values]
        return {pair: np.stack([part[:, place] for part in parts], axis=-1) for place, pair in enumerate(pairs)}
