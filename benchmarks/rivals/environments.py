"""A virtual environment for each rival, made by uv from pinned requirements and kept for the next time.

python -m benchmarks.rivals.environments [NAME ...] [--into FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements"
NAMES = tuple(sorted(file.stem for file in REQUIREMENTS.glob("*.txt")))
ROOT = Path(__file__).parents[2]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def home() -> Path:
    """Where the environments are kept unless told otherwise."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "langgraph-prefetch" / "rivals"


def interpreter(name: str, into: Path | None = None) -> Path:
    """The interpreter of an environment, whether it is made or not; other requirements are another environment."""
    told = hashlib.blake2b((REQUIREMENTS / f"{name}.txt").read_bytes(), digest_size=4).hexdigest()
    return (into or home()) / f"{name}-{PYTHON}-{told}" / "bin" / "python"


def made(name: str, into: Path | None = None) -> Path:
    """The interpreter of an environment, made if it is not there."""
    python = interpreter(name, into)
    if not python.exists():
        folder = python.parents[1]
        uv = [shutil.which("uv") or str(Path(sys.executable).with_name("uv"))]
        subprocess.run([*uv, "venv", "--quiet", "--python", PYTHON, folder], check=True)
        install = ["pip", "install", "--quiet", "--python", str(python), "-r", str(REQUIREMENTS / f"{name}.txt")]
        try:
            subprocess.run([*uv, *install], check=True)
        except BaseException:
            shutil.rmtree(folder)
            raise
    return python


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--into", type=Path)
    arguments = parser.parse_args()
    for each in arguments.names or NAMES:
        print(each, made(each, arguments.into))
