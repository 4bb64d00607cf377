"""What each probe asks, how its scores are read and what to cite; the one place of the report that names a probe."""

from typing import NamedTuple


class ProbeWords(NamedTuple):
    question: str
    reading: str
    citation: str  # BibTeX of the paper whose measure it is


CAO = """@inproceedings{cao-etal-2022-theory,
  title = {Theory-Grounded Measurement of {U.S.} Social Stereotypes in {E}nglish Language Models},
  author = {Cao, Yang Trista and Sotnikova, Anna and {Daum\u00e9 III}, Hal and Rudinger, Rachel and Zou, Linda},
  booktitle = {Proceedings of NAACL},
  year = {2022}
}"""
GUO = """@inproceedings{guo-caliskan-2021,
  title = {Detecting Emergent Intersectional Biases: Contextualized Word Embeddings Contain a Distribution of
           Human-like Biases},
  author = {Guo, Wei and Caliskan, Aylin},
  booktitle = {Proceedings of the AAAI/ACM Conference on AI, Ethics, and Society},
  year = {2021}
}"""
STEREOMAP = """@inproceedings{jeoung-etal-2023-stereomap,
  title = {{S}tereo{M}ap: Quantifying the Awareness of Human-like Stereotypes in Large Language Models},
  author = {Jeoung, Sullam and Ge, Yubin and Diesner, Jana},
  booktitle = {Proceedings of EMNLP},
  year = {2023}
}"""

PROBES = {
    "association": ProbeWords(
        "Which traits does the model expect of a group?",
        "A trait's word stands in a sentence about the group. Its score is how much likelier the word becomes when the "
        "group takes the place of a generic word or of a mask (the prior). Of a trait pair it is the right pole minus "
        "the left one: above 0 the model leans to the right pole, below 0 to the left one.",
        CAO,
    ),
    "contexts": ProbeWords(
        "Are the words for X nearer to A than the words for Y?",
        "Every word has a vector in each of its sentences. An effect above 0 says that X is nearer to A and Y to B "
        "(of single words: that the word is nearer to A than to B).",
        GUO,
    ),
    "coreference": ProbeWords(
        "Whom does the model take a pronoun for, with and without a demographic marker?",
        "A sentence names two occupations and a pronoun; the model is asked whom the pronoun means. A share above 0.5 "
        "says that it holds the right occupation for the likelier one. Differences between markers, or between "
        "sentences for and against a stereotype, are what to look at.",
        "",
    ),
    "interview": ProbeWords(
        "What does the model say of a group in a conversation?",
        "The model answers questions about each group; the answers are sampled several times and read by stated rules. "
        "Ratings of negative items are turned round: more is always higher on the dimension.",
        STEREOMAP,
    ),
    "rating": ProbeWords(
        "How does the model rate a group, for example in warmth and competence?",
        "The model chooses among the options of a scale. A rating is the options' values weighted with their "
        "probabilities, or the mean of sampled answers. Ratings of negative traits are turned round: more is always "
        "higher on the dimension.",
        "",
    ),
}
OTHER = ProbeWords("What does the model answer?", "", "")


def words_of_probe(probe):
    return PROBES.get(probe, OTHER)
