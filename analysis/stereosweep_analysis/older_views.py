"""Views of statistics whose arrays do not declare theirs: {first array: [view]}, in the form of a file's own."""


from collections.abc import Sequence
from typing import Any

View = dict[str, Any]


def _view(
    title: str, columns: str, by: str = "", each: Sequence[str] = ("measure",), note: str = "",
) -> View:  # fmt: skip
    """`columns`: "array or label=head; ..."; the head says the role: low, high, n, p ..., adjusted p."""
    parts = [column.strip().partition("=") for column in columns.split(";")]
    heads = [[name, head or name] for name, _, head in parts]
    roles = {name: _role(head) for name, head in heads}
    return {
        "title": title, "columns": heads, "by": by, "each": list(each), "roles": roles, "note": note,
    }  # fmt: skip


def _role(head: str) -> str:
    if head in ("low", "high", "n"):
        return head
    return "adjusted" if head.startswith("adjusted") else "p" if head.split(" ")[0] == "p" else "value"


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
}  # fmt: skip
