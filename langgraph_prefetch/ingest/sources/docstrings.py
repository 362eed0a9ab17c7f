"""Documentation strings of Python files, read without importing or running anything."""

from __future__ import annotations

import ast
import inspect
import os
import sys
import threading
import warnings
from collections.abc import Iterator

from langgraph_prefetch.errors import UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import encodable
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint
from langgraph_prefetch.ingest.sources.formats import Opened
from langgraph_prefetch.ingest.sources.shapes import Document

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_KINDS = {ast.Module: "module", ast.ClassDef: "class"}
_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
_WARNINGS = threading.Lock()  # filters belong to the process


def read_docstrings(opened: Opened) -> Iterator[Document]:
    """A document for each documented module, class, function and method, in the order of the file.

    Its text is the full name, a colon and the documentation; its metadata are ``name`` and ``kind``. A file without any
    gives none.
    """
    for name, node in _members(_parsed(opened.file.read()), module_name(opened.path)):
        text = inspect.cleandoc(ast.get_docstring(node, clean=False) or "").strip()
        if not text or "\0" in text or not encodable(text):
            continue
        text = f"{name}: {text}"
        kind = _KINDS.get(type(node), "function")
        yield Document(
            source=opened.source,
            text=text,
            metadata={"name": name, "kind": kind},
            fingerprint=fingerprint(text, kind),
        )


def module_name(path: str) -> str:
    """The dotted name by which a file would be imported, from the ``__init__.py`` of the folders around it."""
    folder, file = os.path.split(os.path.abspath(path))
    stem = os.path.splitext(file)[0]
    names = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder, name = os.path.split(folder)
        names.insert(0, name)
    return ".".join(names) or stem


def _parsed(data: bytes) -> ast.Module:
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an invalid escape in somebody's file, which is not our user's to mend
            return ast.parse(data)
    except SyntaxError as error:
        line = f" in line {error.lineno}" if error.lineno else ""
        raise UnreadableDocumentError(f"not Python {_VERSION}: {error.msg}{line}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableDocumentError(f"not readable as Python: {type(error).__name__}") from None


def _members(tree: ast.Module, module: str) -> Iterator[tuple[str, _Documented]]:
    """The module and what is defined in it, under conditions too, but not inside functions."""
    yield module, tree
    waiting: list[tuple[str, ast.AST]] = [(module, node) for node in reversed(tree.body)]
    while waiting:
        prefix, node = waiting.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}.{node.name}", node
        if isinstance(node, ast.ClassDef):
            waiting += [(f"{prefix}.{node.name}", child) for child in reversed(node.body)]
        elif isinstance(node, ast.If | ast.Try | ast.TryStar | ast.With | ast.ExceptHandler):
            waiting += [(prefix, child) for child in reversed(list(ast.iter_child_nodes(node)))]
