"""What each probe asks, how its scores are read and what to cite; the one place of the report that names a probe."""

from typing import NamedTuple


class ProbeWords(NamedTuple):
    question: str
    reading: str
    citations: tuple[str, ...]  # keys of citing.bib
    of_contrasts: str = ""  # how differences are read, where the page shows some


PROBES = {
    "association": ProbeWords(
        "Which traits does the model expect of a group?",
        "A trait's word stands in a sentence about the group. Its score is how much likelier the word becomes when the "
        "group takes the place of a generic word or of a mask (the prior). Of a trait pair it is the right pole minus "
        "the left one: above 0 the model leans to the right pole, below 0 to the left one.",
        ("cao-etal-2022-theory", "kurita-etal-2019-measuring"),
    ),
    "contexts": ProbeWords(
        "Are the words for X nearer to A than the words for Y?",
        "Every word has a vector in each of its sentences. An effect above 0 says that X is nearer to A and Y to B "
        "(of single words: that the word is nearer to A than to B).",
        ("guo-caliskan-2021", "caliskan-etal-2017-semantics"),
    ),
    "coreference": ProbeWords(
        "Whom does the model take a pronoun for, with and without a demographic marker?",
        "A sentence names two occupations and a pronoun; the model is asked whom the pronoun means. A share above 0.5 "
        "says that it holds the right occupation for the likelier one.",
        ("khan-etal-2025-winoidentity", "zhao-etal-2018-gender"),
        "Contrasts set markers, or sentences for and against a stereotype, against each other.",
    ),
    "interview": ProbeWords(
        "What does the model say of a group in a conversation?",
        "The model answers questions about each group; the answers are sampled several times and read by stated rules. "
        "Ratings of negative items are turned round: more is always higher on the dimension.",
        ("jeoung-etal-2023-stereomap", "zhu-etal-2018-texygen"),
    ),
    "rating": ProbeWords(
        "How does the model rate a group, for example in warmth and competence?",
        "The model chooses among the options of a scale. A rating is the options' values weighted with their "
        "probabilities, or the mean of sampled answers. Ratings of negative traits are turned round: more is always "
        "higher on the dimension.",
        ("khan-etal-2025-winoidentity", "fiske-etal-2002-model"),
    ),
}
OTHER = ProbeWords("What does the model answer?", "", ())


def words_of_probe(probe):
    return PROBES.get(probe, OTHER)
