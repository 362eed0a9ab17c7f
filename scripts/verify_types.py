"""Fails when a user's type checker would see an unknown type in the package's public symbols.

pyright's own verdict also counts attributes without an annotation whose type is plain (`self.name = name`);
those stay readable to every checker and are let through.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGE = "langgraph_prefetch"


def completeness() -> dict[str, Any]:
    """Returns pyright's report. It finds the environment through PATH only; its --pythonpath does nothing here."""
    scripts = str(Path(sys.executable).parent)
    command = ["basedpyright", "--verifytypes", PACKAGE, "--ignoreexternal", "--outputjson"]
    environment = {**os.environ, "PATH": os.pathsep.join([scripts, os.environ["PATH"]])}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    report: dict[str, Any] = json.loads(run.stdout)["typeCompleteness"]
    return report


def unknown(report: dict[str, Any]) -> list[str]:
    """Returns one line for each public symbol whose type is not known, with the reason."""
    return [
        f"{symbol['name']}: {'; '.join(diagnostic['message'] for diagnostic in symbol['diagnostics'])}"
        for symbol in report["symbols"]
        if symbol["isExported"] and not symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"]
    ]


def main() -> int:
    report = completeness()
    if not report["modules"]:
        print(f"pyright did not find {PACKAGE} with its py.typed")
        return 1
    lines = unknown(report)
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"public types: {len(lines)} unknown, completeness {report['completenessScore']:.1%}")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
