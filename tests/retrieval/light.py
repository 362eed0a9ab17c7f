"""For programs that a test starts in a process of their own."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LIGHT = f"""
import sys
from types import ModuleType
sys.path.insert(0, {str(ROOT)!r})
for name in ("langgraph_prefetch", "langgraph_prefetch.retrieval"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [{str(ROOT)!r} + "/" + name.replace(".", "/")]
"""
"""What such a program begins with. It imports rooms without the package's front door, which takes as long again."""
