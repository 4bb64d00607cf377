"""Names from a file as text of a figure."""


def literal(text: object, longest: int = 60) -> str:
    """The text as it stands, cut to `longest` characters: matplotlib reads what stands between two dollar signs as a
    formula, and gives up on figures whose labels are wider than themselves."""
    text = str(text)
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return text.replace("$", r"\$")
