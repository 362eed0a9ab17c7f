"""Run by tests, in a process of its own: `eval` of a user's agent where only the extra `eval` is in sight."""

import sys
from pathlib import Path

from scripts.bare_install import HideExtras

sys.meta_path.insert(0, HideExtras("eval"))

from langgraph_prefetch.cli import main  # noqa: E402 - what is hidden must be hidden first


def planned(folder: Path, *suites: str) -> None:
    """What would be asked is told, before the library that the statistics need is loaded."""
    for suite in suites:
        assert main(["eval", suite, *own(folder), "--smoke", "--dry-run"]) == 0
    late = [name for name in ("scipy.stats", "matplotlib") if name in sys.modules]
    assert not late, f"plans waited for {late}"


def asked(folder: Path) -> None:
    """The agent is asked and its rows are priced, with a report each."""
    assert main(["eval", "speed", *own(folder), "--smoke", "--out", str(folder / "speed")]) == 0
    assert main(["eval", "cost", "--rows", str(folder / "speed"), "--smoke", "--out", str(folder / "cost")]) == 0


def own(folder: Path) -> list[str]:
    questions = ["--questions", str(folder / "questions.jsonl")]
    return ["--agent", "tests.suites.plain_agent:make", "--tools", "find", *questions]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    planned(place, "speed", "study", "quality", "cost")
    if "--ask" in sys.argv:
        asked(place)
    main(["eval", "speed", "--smoke", "--dry-run"])  # says what the suite's own agent needs
