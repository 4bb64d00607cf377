"""Views of statistics whose arrays do not declare theirs: {first array: [view]}, in the form of a file's own."""


from collections.abc import Sequence
from typing import Any

View = dict[str, Any]


def _view(
    title: str, columns: str, by: str = "", each: Sequence[str] = ("measure",), note: str = "",
    chosen: dict[str, str] | None = None, **fixed: str,
) -> View:  # fmt: skip
    """`columns`: "array or label=head; ..."; the head says the role: low, high, n, p ..., adjusted p."""
    parts = [column.strip().partition("=") for column in columns.split(";")]
    heads = [[name, head or name] for name, _, head in parts]
    roles = {name: _role(head) for name, head in heads}
    return {
        "title": title, "columns": heads, "by": by, "each": list(each), "roles": roles, "note": note,
        "chosen": chosen or {}, "fixed": fixed,
    }  # fmt: skip


def _role(head: str) -> str:
    if head in ("low", "high", "n"):
        return head
    return "adjusted" if head.startswith("adjusted") else "p" if head.split(" ")[0] == "p" else "value"


CONTEXTS = {"variance": "paper", "estimator": "dersimonian_laird", "adjustment": "max_t"}
OLDER_VIEWS: dict[str, list[View]] = {
    "tau_pooled": [_view(
        "Agreement with people",
        "variant=measure; prior; tau_pooled=tau-b; tau_pooled_n=n; tau_pooled_p_items=p items; "
        "tau_pooled_p_groups=p groups; precision_at_3_mean=P@3; precision_at_3_chance=P@3 by chance",
        note="Of both p cite the larger one.",
    )],
    "people_tau": [_view(
        "Agreement with a table of people: ",
        "people_group=people; people_row=cells; people_tau=tau-b; people_tau_low=low; people_tau_high=high; "
        "people_n=n; "
        "people_tau_p_items=p items; people_tau_p_subjects=p subjects",
        note="Of both p cite the larger one.",
    )],
    "combined_effect": [_view(
        "Tests of word sets",
        "test; title=names; combined_effect=d; low; high; effect_deviation=sd; p_cite=p; "
        "adjusted_p_cite=adjusted p; permutation_p_two_sided=p targets; "
        "attribute_permutation_p_two_sided=p attributes; "
        "p_least=least p; test_family=family; family_size=tests",
        "adjusted_p_cite",
        note="d: combined effect size, above 0 X is nearer to A and Y to B. low, high: Monte Carlo error over samples, "
        "nothing about chance. p: the larger of relabelling target words and relabelling attribute words, two-sided: "
        "cite it; "
        "adjusted by max-T in the test's family. least p: the smallest p that so many words can have.",
        chosen={"test_kind": "weat"}, **CONTEXTS,
    )],
    "word_effect": [_view(
        "Words of tests with one set",
        "word; test; a; b; word_effect=d; word_effect_deviation=sd; word_permutation_p_two_sided=p; "
        "adjusted_word_p_cite=adjusted p",
        "adjusted_word_p_cite",
        note="d: mean effect over samples, above 0 nearer to A than to B. p: attribute words relabelled, two-sided; "
        "adjusted by max-T in its family.",
        chosen={"test_kind": "wefat"}, **CONTEXTS,
    )],
    "best_threshold": [_view(
        "Detection of words",
        "detection=group; detection_kind=kind; best_threshold=threshold; best_accuracy=accuracy; chance",
    )],
}  # fmt: skip
