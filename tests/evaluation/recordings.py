"""Small recordings of our own making."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Step = dict[str, Any]


def search(thought: str, query: Any, action: str = "search") -> Step:
    return {"thought": thought, "action": action, "query": query, "observation": "…"}


def finish(thought: str, answer: str = "done") -> Step:
    return {"thought": thought, "action": "finish", "query": answer}


def episode(*steps: Step, style: str = "react_text", question: str = "Who wrote the first program?") -> str:
    return json.dumps({"source": "own", "style": style, "question": question, "steps": list(steps)})


SAID = search(
    "I need to search Ada Lovelace, and find out which machine she wrote her program for and in which year.",
    "Ada Lovelace",
)
UNSAID = search("That is not clear yet. The machine matters most now.", "Analytical Engine")
CHANGED = search("I will note this down for later.", "a note", action="write_note")
ANSWERED = finish("She wrote it for the Analytical Engine, so that is the answer.")
FALSE_START = finish("I need to search Charles Babbage, and find out when he was born. But in fact I know it.")

RUNS = (
    episode(SAID, UNSAID, SAID, ANSWERED),
    episode(SAID, CHANGED, SAID, FALSE_START),
    episode(SAID, UNSAID, ANSWERED, style="think_tags"),
    episode(SAID, UNSAID, ANSWERED, style="tool_calls"),
)


def write(path: Path, lines: Iterable[str] = RUNS) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
