"""What was run, on what, when: the settings that a report shows."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Mapping

from langgraph_prefetch.suites.contract import SuiteContext

LIBRARIES = ("langgraph-prefetch", "langgraph", "langchain", "langchain-core", "scipy", "numpy")


def versions() -> dict[str, str]:
    """Of Python and of the libraries that have a say in what is measured."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def title_shown(context: SuiteContext) -> str:
    """Of the report: a smoke run, and an agent of the user's own, say so where nobody can miss it."""
    said = "".join(
        (" (smoke run)" if context.smoke else "", " (your own agent)" if context.make_agent is not None else "")
    )
    return f"{context.settings['title']}{said}"


def settings_shown(context: SuiteContext, described: Mapping[str, str]) -> dict[str, str]:
    """For the report of any suite. ``described``: what its runs were made on."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **described,
        "seed": str(context.seed),
        "sizes": ", ".join(f"{name} {value}" for name, value in context.settings.get("runs", {}).items()) or "default",
        "machine": f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}",
        "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
        **({"smoke run": "yes: small, and its figures mean nothing"} if context.smoke else {}),
        **({"resumed": "yes"} if context.resume else {}),
    }
