"""A drawn figure as SVG that may stand inside a strict page: no styles, no foreign names, no metadata, no dates."""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

from matplotlib import style

from langgraph_prefetch.evaluation.reporting.plots.canvas import ROLES, Canvas

_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "langgraph-prefetch", "hatch.linewidth": 1.4}
_LOCK = threading.Lock()  # matplotlib's settings are the process's

_KEPT = frozenset(
    {
        *("clip-path", "d", "fill", "fill-opacity", "font-size", "font-weight", "height", "opacity", "patternUnits"),
        *("stroke", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-opacity"),
        *("stroke-width", "text-anchor", "transform", "width", "x", "y"),
    }
)
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")
_WEIGHT = re.compile(r"\b(bold|[1-9]00)\b")
_REFERENCE = re.compile(r"url\(#([\w-]+)\)")
_POINT = re.compile(r"M (\S+) (\S+) L \1 \2(?!\S)")
_HREF = "{http://www.w3.org/1999/xlink}href"
_LEFT_OUT = frozenset({"metadata", "style"})


def to_svg(draw: Callable[[], Canvas], *, name: str, title: str, description: str) -> str:
    """What ``draw`` draws as an ``svg`` element; ``name`` keeps its ids apart from those of others on the page."""
    with _LOCK, warnings.catch_warnings(), style.context(["default", _SETTINGS]):
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the browser's fonts will have it
        canvas, drawn = draw(), io.BytesIO()
        canvas.figure.savefig(drawn, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(drawn.getvalue())  # noqa: S314 - as above
    used = set(_references(root))
    for element in list(root.iter()):
        _clean(element, used, name)
        for child in [each for each in element if each.tag.rpartition("}")[2] in _LEFT_OUT]:
            element.remove(child)
    root.attrib.clear()
    root.attrib |= {
        "viewBox": f"0 0 {canvas.width} {canvas.height}",
        "role": "img",
        "aria-labelledby": f"{name}-t {name}-d",
        "stroke-linejoin": "round",
    }
    for tag, text in (("desc", description), ("title", title)):
        said = ElementTree.Element(tag, {"id": f"{name}-{tag[0]}"})
        said.text = text
        root.insert(0, said)
    return ElementTree.tostring(root, encoding="unicode")


def _references(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        for value in element.attrib.values():
            yield from _REFERENCE.findall(value)
        if _HREF in element.attrib:
            yield element.attrib[_HREF].removeprefix("#")


def _clean(element: ElementTree.Element, used: set[str], name: str) -> None:
    """Presentation by attributes and classes alone, which no page has to allow."""
    element.tag = element.tag.rpartition("}")[2]
    if element.text is not None and not element.text.strip():
        element.text = None
    element.tail = None
    found = dict(element.attrib)
    element.attrib.clear()
    classes = []
    for key, value in {**_styles(found.pop("style", "")), **found}.items():
        if key in ("fill", "stroke") and value.startswith("#"):
            classes.append(f"{key[0]}-{ROLES[value]}")  # a colour that is no role is a mistake of ours
        elif key == "id":
            if value in used:
                element.set("id", f"{name}-{value}")
        elif key == _HREF:
            element.set("href", f"#{name}-{value.removeprefix('#')}")
        elif key in _KEPT and not (key == "transform" and value.startswith("rotate(-0")):
            element.set(key, _short(_REFERENCE.sub(rf"url(#{name}-\1)", value.removesuffix("px"))))
    if classes:
        element.set("class", " ".join(classes))


def _styles(text: str) -> dict[str, str]:
    """A style's parts; of a font its size and weight."""
    found = {key.strip(): value.strip() for key, _, value in (each.partition(":") for each in text.split(";")) if value}
    font = found.pop("font", "")
    for key, pattern in (("font-size", _SIZE), ("font-weight", _WEIGHT)):
        if said := pattern.search(font):
            found[key] = said[1]
    return found


def _short(value: str) -> str:
    """Numbers to a hundredth of a pixel, and a line to where it begins as one without length."""
    text = _NUMBER.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
    return _POINT.sub(r"M\1 \2h0", " ".join(text.split()))
