"""Which of the package's extras are installed, by the metadata that pip goes by."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata

from langgraph_prefetch.cli.findings import Finding
from langgraph_prefetch.cli.version import text as version

PACKAGE = "langgraph-prefetch"
Installed = Callable[[str], str]
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_OWN_EXTRAS = re.compile(rf"{PACKAGE}\[([^\]]+)\]")


def look_at_installation(
    installed: Installed = metadata.version, requirements: Iterable[str] | None = None
) -> list[Finding]:
    """Python, the package and each of its extras.

    Args:
        installed: the version of a distribution, or ``PackageNotFoundError``.
        requirements: the package's; None for those that it was installed with.
    """
    findings = [
        Finding("Python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        Finding(PACKAGE, "ok", version()),
    ]
    extras = libraries_of_extras(_requirements() if requirements is None else requirements)
    return findings + [_extra(name, libraries, installed) for name, libraries in extras.items()]


def libraries_of_extras(requirements: Iterable[str]) -> dict[str, list[str]]:
    """The distributions that each extra needs, by the package's requirements; pure.

    An extra that names another one of ours (``langgraph-prefetch[near]``) needs what that one needs.
    """
    direct: dict[str, list[str]] = {}
    for requirement in requirements:
        marked = _EXTRA.search(requirement)
        if marked is not None:
            direct.setdefault(marked[1], []).append(requirement)
    return {extra: list(dict.fromkeys(_all_of(extra, direct, ()))) for extra in sorted(direct)}


def _all_of(extra: str, direct: dict[str, list[str]], above: tuple[str, ...]) -> Iterator[str]:
    if extra in above:
        return
    for requirement in direct.get(extra, ()):
        ours = _OWN_EXTRAS.match(requirement)
        if ours is not None:
            for other in ours[1].split(","):
                yield from _all_of(other.strip(), direct, (*above, extra))
        elif (name := _NAME.match(requirement)) is not None:
            yield name[0]


def _requirements() -> list[str]:
    try:
        return metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:  # a source tree
        return []


def _extra(name: str, libraries: Iterable[str], installed: Installed) -> Finding:
    found, missing = list[str](), list[str]()
    for library in libraries:
        try:
            found.append(f"{library} {installed(library)}")
        except metadata.PackageNotFoundError:
            missing.append(library)
    if not missing:
        return Finding(f"extra {name}", "ok", ", ".join(found))
    return Finding(f"extra {name}", "absent", f"without {', '.join(missing)}", f'pip install "{PACKAGE}[{name}]"')
