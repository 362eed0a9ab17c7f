"""Files stay small enough to be read in one sitting."""

from collections.abc import Mapping
from pathlib import Path
from statistics import median

import langgraph_prefetch

PACKAGE = Path(langgraph_prefetch.__file__).parent
MOST_LINES = 400
MEDIAN_LINES = 120
# file, from the package's folder: the reason why it may be longer
EXCUSED: dict[str, str] = {}


def lines(package: Path) -> dict[str, int]:
    """Counts the lines of each Python file; empty `__init__.py` files would only flatter the median."""
    counts = {
        file.relative_to(package).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in sorted(package.rglob("*.py"))
    }
    return {name: count for name, count in counts.items() if count > 1 or not name.endswith("__init__.py")}


def too_long(counts: Mapping[str, int], excused: Mapping[str, str]) -> list[str]:
    return [f"{name}: {count} lines" for name, count in counts.items() if count > MOST_LINES and name not in excused]


def test_no_file_is_too_long() -> None:
    """No file has more lines than a person keeps in mind, unless a reason is written above."""
    assert too_long(lines(PACKAGE), EXCUSED) == []


def test_most_files_are_short() -> None:
    """The median file is read in a few minutes."""
    counts = lines(PACKAGE)
    longest = sorted(counts.items(), key=lambda each: -each[1])[:10]
    assert median(counts.values()) <= MEDIAN_LINES, f"the longest are {longest}"


def test_an_excuse_is_still_needed() -> None:
    """An excuse goes when its file has become short, or is gone."""
    counts = lines(PACKAGE)
    assert [name for name in EXCUSED if counts.get(name, 0) <= MOST_LINES] == []


def test_offenders_are_named(tmp_path: Path) -> None:
    """The failure says which file is too long and by how much; one line less passes, and so does a reason."""
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "god.py").write_text("x = 1\n" * (MOST_LINES + 1))
    (tmp_path / "room" / "small.py").write_text("x = 1\n" * MOST_LINES)
    assert too_long(lines(tmp_path), {}) == ["room/god.py: 401 lines"]
    assert too_long(lines(tmp_path), {"room/god.py": "one table"}) == []
