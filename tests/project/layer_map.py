"""The map of the house: which room may import which. Read it top down, as the flow goes."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "langgraph_prefetch"
FRONT_DOOR = "__init__"

# A room may import the rooms of the layers below its own, and no neighbour on its own layer.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"cli", "__main__"}),
    frozenset({"suites"}),
    frozenset({"demo"}),
    frozenset({"testing"}),
    frozenset({FRONT_DOOR}),
    frozenset({"graph", "aws", "evaluation", "serving"}),
    frozenset({"prefetcher"}),
    frozenset({"speculation", "intent", "near", "retrieval", "ingest", "observe"}),
    frozenset(
        {
            *("ports", "events", "config", "keys", "key_digest", "jobs", "report", "outbound", "option_types"),
            *("guesses", "near_miss", "live_variants", "handing"),
        }
    ),
    frozenset(
        {
            *("values", "errors", "breaker", "locks", "money", "passages", "query_hash"),
            *("sensitive", "speculative", "experiments"),
        }
    ),
)
# The words everybody speaks lean on each other (an event holds a key), never in a circle.
FAMILIES: tuple[frozenset[str], ...] = LAYERS[-2:]
# These know ports and below, whatever their layer would let them see.
BACKENDS = frozenset({"retrieval", "ingest", "aws", "observe"})
PORTS_AND_BELOW = LAYERS[-2] | LAYERS[-1]

# Rooms below may not lean on the front door, or its order of imports would carry weight; its users above may.
NEVER_IMPORTED = frozenset({"testing", "cli", "__main__"})
# room, what it may import all the same: the reason
EXCUSED: dict[tuple[str, str], str] = {
    ("demo", "testing"): "without a key its model is the scripted one, which users' tests need as well",
    ("suites", "testing"): "offline, the agents' models and the judges are scripted ones",
}
# Modules of the host, and the only room that may import them; demo and suites stand for a user, who has an agent.
HOST = ("langgraph", "langchain.agents")
HOST_ROOM = "graph"
HOST_USERS = frozenset({HOST_ROOM, "demo", "suites"})


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement, lazy and `TYPE_CHECKING` ones included: each is an edge that a reader has to know."""

    file: Path
    line: int
    module: str

    @property
    def room(self) -> str | None:
        """The room of ours that is imported, or None for a module of somebody else's."""
        return room_of(self.module)


def room_of(module: str) -> str | None:
    head, *rest = module.split(".")
    if head != PACKAGE:
        return None
    return rest[0] if rest else FRONT_DOOR


def rooms(package: Path) -> dict[str, list[Path]]:
    """Returns the files of each top-level room of the package."""
    found: dict[str, list[Path]] = {}
    for file in sorted(package.rglob("*.py")):
        found.setdefault(file.relative_to(package).parts[0].removesuffix(".py"), []).append(file)
    return found


def imports(file: Path, package: Path) -> Iterator[Import]:
    """Yields every import in a file, at whatever depth, under the name of the module it really reaches."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, file, package)
            for alias in node.names:
                front_door = module == PACKAGE and alias.name not in rooms(package)
                yield Import(file, node.lineno, module if front_door else f"{module}.{alias.name}")


def _absolute(node: ast.ImportFrom, file: Path, package: Path) -> str:
    if not node.level:
        return node.module or ""
    parents = (PACKAGE, *file.relative_to(package).parent.parts)
    base = parents[: len(parents) - node.level + 1]
    return ".".join((*base, node.module) if node.module else base)


def allowed(importer: str) -> frozenset[str]:
    """Returns the rooms that a room may import, itself included."""
    depth = next(depth for depth, layer in enumerate(LAYERS) if importer in layer)
    below = frozenset[str]().union(*LAYERS[depth + 1 :])
    if importer in BACKENDS:
        below = PORTS_AND_BELOW
    if LAYERS[depth] in FAMILIES:
        below |= LAYERS[depth]
    own = {importer, "cli"} if importer == "__main__" else {importer}
    excused = {room for by, room in EXCUSED if by == importer}
    return (below - NEVER_IMPORTED) | own | excused


def broken_rules(package: Path) -> list[str]:
    """Returns one line, with file and line number, for every import or room that the map does not allow."""
    named = frozenset[str]().union(*LAYERS)
    problems = []
    edges: dict[str, set[str]] = {}
    for room, files in rooms(package).items():
        if room not in named:
            problems.append(f"{room}: not in the layer map; give it a place in tests/project/layer_map.py")
            continue
        for found in (found for file in files for found in imports(file, package)):
            where = f"{found.file.relative_to(package.parent)}:{found.line}"
            if found.room is None:
                if room not in HOST_USERS and _is_host(found.module):
                    problems.append(f"{where}: only {HOST_ROOM} may import {found.module}")
            elif found.room not in allowed(room):
                problems.append(f"{where}: {room} may not import {found.room}")
            elif found.room != room:
                edges.setdefault(room, set()).add(found.room)
    return problems + [f"import circle: {' -> '.join(circle)}" for circle in _circles(edges)]


def _is_host(module: str) -> bool:
    return any(module == host or module.startswith(f"{host}.") for host in HOST)


def _circles(edges: Mapping[str, set[str]]) -> Iterator[tuple[str, ...]]:
    """Yields each circle once, from its alphabetically first room."""

    def walk(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for following in sorted(edges.get(path[-1], ())):
            if following == path[0]:
                yield (*path, following)
            elif following > path[0] and following not in path:
                yield from walk((*path, following))

    for start in sorted(edges):
        yield from walk((start,))
