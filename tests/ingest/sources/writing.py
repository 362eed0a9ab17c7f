"""Files for tests, and what is read of them."""

from pathlib import Path
from typing import Any

from langgraph_prefetch.ingest.sources import Document, Skipped, Source, files


def write(folder: Path, contents: dict[str, str | bytes]) -> Path:
    for name, content in contents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(source: Source) -> tuple[list[Document], list[str]]:
    """The documents, and what was skipped, as it is told."""
    documents, skipped = [], []
    for part in source.parts():
        for found in [part] if isinstance(part, Skipped) else part.documents():
            if isinstance(found, Skipped):
                skipped.append(str(found))
            else:
                documents.append(found)
    return documents, skipped


def read_one(folder: Path, name: str, content: str | bytes, **options: Any) -> tuple[list[Document], list[str]]:
    return read(files(write(folder, {name: content}) / name, root=folder, **options))
