"""Run where nothing but the package's own dependencies is installed, or where the rest is hidden (`--hide-extras`).

Every module must either import, or say exactly which extra to install. The rooms that a user of the plain
package needs must import. Depends on nothing but the standard library and the package.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from types import ModuleType

PACKAGE = "langgraph_prefetch"
# A module of these may ask for an extra; any other must import.
MAY_NEED_EXTRA = (
    *("aws", "breaker", "demo", "evaluation.ab", "evaluation.judging", "evaluation.near", "evaluation.readings"),
    *("evaluation.reporting", "evaluation.statistics", "graph.middleware", "graph.near", "graph.variants.agents"),
    *("ingest", "near", "observe", "retrieval", "serving", "suites", "testing"),
)
HINT = re.compile(r'pip install "langgraph-prefetch\[[a-z,-]+\]"')


def core_distributions(root: str = "langgraph-prefetch", extras: frozenset[str] = frozenset()) -> set[str]:
    """Returns the package and all that a `pip install` of it with these extras brings, by normalised name."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [(root, extras)]
    while waiting:
        wanted = (normalised(waiting[-1][0]), waiting.pop()[1])
        if wanted in found:
            continue
        found.add(wanted)
        try:
            needed = requires(wanted[0]) or []
        except PackageNotFoundError:  # another platform's, or another Python's
            continue
        for each in needed:
            asked_by = re.search(r"""extra == ['"]([^'"]+)""", each)
            if asked_by is None or asked_by[1] in wanted[1]:
                name, _, brings = each.partition(";")[0].partition("[")
                chosen = brings.partition("]")[0].split(",") if brings else []
                waiting.append((re.split(r"[^A-Za-z0-9._-]", name, maxsplit=1)[0], frozenset(map(str.strip, chosen))))
    return {name for name, _ in found}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class HideExtras(MetaPathFinder):
    """Makes this interpreter look as if only the core had been installed, or the core with some extras."""

    def __init__(self, *extras: str) -> None:
        core = core_distributions(extras=frozenset(extras))
        self.hidden = {
            module
            for module, names in packages_distributions().items()
            if not core & {normalised(name) for name in names}
        }

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> None:
        """Refuses a hidden module with the error that a missing one gives."""
        if name.partition(".")[0] in self.hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def modules() -> Iterator[str]:
    package = importlib.import_module(PACKAGE)
    yield PACKAGE
    for each in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.", onerror=lambda name: None):
        if not each.name.endswith("__main__"):
            yield each.name


def complaint(name: str) -> str | None:
    """Imports one module. Returns what is wrong with how it takes the absence of the extras, or None."""
    room = name.removeprefix(f"{PACKAGE}.")
    try:
        importlib.import_module(name)
    except ImportError as error:
        if not any(room == each or room.startswith(f"{each}.") for each in MAY_NEED_EXTRA):
            return f"{name} must import without extras: {error}"
        if not HINT.search(str(error)):
            return f"{name} does not say which extra it needs: {error}"
    return None


def main() -> int:
    if "--hide-extras" in sys.argv:
        sys.meta_path.insert(0, HideExtras())
    names = list(modules())
    problems = [line for name in names if (line := complaint(name))]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(names)} modules without extras: {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
