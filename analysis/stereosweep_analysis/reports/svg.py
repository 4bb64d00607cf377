"""A matplotlib figure as SVG that stands inside an HTML page."""

import io
import re
import warnings
from xml.etree import ElementTree

import matplotlib.pyplot as plt

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REFERENCE = re.compile(r"url\(#([^)]+)\)")


def inline_svg(figure, name, title, description):
    """SVG text with real letters, a title and a description; every id begins with `name`, which is unique in the page.

    Closes the figure.
    """
    buffer = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the reader's fonts draw the letters
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure)
    root = ElementTree.fromstring(NOT_XML.sub("\ufffd", buffer.getvalue()))  # comments are dropped
    for part in list(root):
        if part.tag == f"{{{SVG}}}metadata":
            root.remove(part)
    for style in root.iter(f"{{{SVG}}}style"):
        style.text = ""  # in the page's own style
    _rename(root, name)
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        part = ElementTree.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        part.text = NOT_XML.sub("\ufffd", text)
        root.insert(place, part)
    root.set("style", f"--width: {root.get('width')}")  # in points; style.css makes the width of it
    del root.attrib["width"], root.attrib["height"]
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _rename(root, name):
    """Ids and what refers to them: two pictures of one page must not share them."""
    for part in root.iter():
        for key, value in part.attrib.items():
            if key == "id":
                part.set(key, f"{name}-{value}")
            elif key == f"{{{XLINK}}}href" and value.startswith("#"):
                part.set(key, f"#{name}-{value[1:]}")
            elif "url(#" in value:
                part.set(key, REFERENCE.sub(rf"url(#{name}-\1)", value))
