"""A corpus that every machine has: the documentation strings of the Python standard library.

Read from the living modules, since half of what is asked for is written in C and has no source file to read.
"""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from langchain_core.documents import Document

MAX_CHARS = 400
MIN_CHARS = 30

MODULES = (
    *("abc", "argparse", "array", "ast", "asyncio", "atexit", "base64", "bdb", "binascii", "bisect", "builtins", "bz2"),
    *("calendar", "cmath", "cmd", "code", "codecs", "collections", "collections.abc", "colorsys", "compileall"),
    *("concurrent.futures", "configparser", "contextlib", "contextvars", "copy", "copyreg", "csv", "dataclasses"),
    *("datetime", "decimal", "difflib", "dis", "doctest", "email.message", "email.utils", "enum", "errno", "filecmp"),
    *("fileinput", "fnmatch", "fractions", "ftplib", "functools", "gc", "getpass", "gettext", "glob", "graphlib"),
    *("gzip", "hashlib", "heapq", "hmac", "html", "html.parser", "http.client", "http.cookies", "http.server"),
    *("imaplib", "importlib.metadata", "importlib.resources", "inspect", "io", "ipaddress", "itertools", "json"),
    *("keyword", "linecache", "locale", "logging", "logging.config", "logging.handlers", "lzma", "mailbox", "math"),
    *("mimetypes", "multiprocessing", "multiprocessing.pool", "netrc", "numbers", "operator", "optparse", "os"),
    *("os.path", "pathlib", "pdb", "pickle", "pickletools", "pkgutil", "platform", "plistlib", "poplib", "posixpath"),
    *("pprint", "profile", "pstats", "queue", "quopri", "random", "re", "reprlib", "runpy", "sched", "secrets"),
    *("select", "selectors", "shelve", "shlex", "shutil", "signal", "site", "smtplib", "socket", "socketserver"),
    *("sqlite3", "ssl", "stat", "statistics", "string", "stringprep", "struct", "subprocess", "symtable", "sys"),
    *("sysconfig", "tarfile", "tempfile", "textwrap", "threading", "time", "timeit", "tokenize", "trace"),
    *("traceback", "tracemalloc", "types", "typing", "unicodedata", "unittest", "unittest.mock", "urllib.parse"),
    *("urllib.request", "urllib.robotparser", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser"),
    *("xml.dom.minidom", "xml.etree.ElementTree", "xml.sax", "xmlrpc.client", "zipfile", "zipimport", "zoneinfo"),
)
"""Documented public modules; one that an installation lacks (say, built without SQLite) is left out."""


def passages(modules: Iterable[str] = MODULES) -> tuple[Document, ...]:
    """Every public documentation string of ``modules``, by name; the same on every run of one installation.

    A text begins with the name, a colon and a space; behind them are at most ``MAX_CHARS``. The name is also the source
    in the metadata.

    Empty where Python runs with ``-OO``, which strips them.
    """
    found: dict[str, str] = {}
    said: set[str] = set()
    for name in modules:
        module = _imported(name)
        for qualified, member in _documented(name, module) if module is not None else ():
            text = _shortened(member)
            # What several classes inherit, or several modules offer, is said once.
            if len(text) >= MIN_CHARS and text not in said:
                said.add(text)
                found.setdefault(qualified, text)
    return tuple(Document(f"{name}: {found[name]}", metadata={"source": name}) for name in sorted(found))


def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _documented(name: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    yield name, module
    for attribute in getattr(module, "__all__", None) or sorted(vars(module)):
        member = getattr(module, attribute, None)
        if attribute.startswith("_") or not (inspect.isroutine(member) or inspect.isclass(member)):
            continue
        yield f"{name}.{attribute}", member
        if inspect.isclass(member):
            for inner in sorted(vars(member)):
                if not inner.startswith("_"):
                    yield f"{name}.{attribute}.{inner}", vars(member)[inner]


def _shortened(member: Any) -> str:
    doc = getattr(member, "__doc__", None)
    if not isinstance(doc, str) or isinstance(member, str | int | float | tuple):
        return ""
    return textwrap.shorten(doc, MAX_CHARS, placeholder=" ...")
