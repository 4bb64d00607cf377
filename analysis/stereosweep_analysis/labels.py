"""Names from a file as text of a figure."""

import json

import xarray as xr


def literal(text: object, longest: int = 60) -> str:
    """The text as it stands, cut to `longest` characters: matplotlib reads what stands between two dollar signs as a
    formula, and gives up on figures whose labels are wider than themselves."""
    text = str(text)
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return text.replace("$", r"\$")


def source_name(statistics: xr.Dataset) -> str:
    """The checkpoint's own name, or where the numbers come from without one; and whether some are missing."""
    without = "static vectors" if str(statistics.attrs.get("schema", "")).endswith("/contexts") else ""
    path = str(statistics.attrs.get("model", "")) or without or str(statistics.attrs.get("title", ""))
    model = path.rstrip("/").rsplit("/", 1)[-1]
    is_complete = int(statistics.attrs.get("source_complete", 1)) == 1
    return literal(model) if is_complete else f"{literal(model)} · NOT complete: a run that has not ended"


def words_of(statistics: xr.Dataset, role: str) -> dict[str, list[str]]:
    """{test: words of its set `role` (x, y, a, b) that took part}; of a contexts job."""
    texts = statistics[f"test_{role}_words"].values
    return {str(test): json.loads(str(text)) for test, text in zip(statistics["test"].values, texts, strict=True)}
