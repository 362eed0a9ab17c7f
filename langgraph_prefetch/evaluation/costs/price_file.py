"""A price file: TOML, dated, with a source beside each price, and read strictly.

A key that is not known is an error, since a misspelt price would be a missing one. All decimal numbers are read as
decimals, never as binary floats.
"""

from __future__ import annotations

import dataclasses
import datetime
import tomllib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from langgraph_prefetch.errors import ConfigurationError, PriceFileError, did_you_mean
from langgraph_prefetch.evaluation.costs.prices import (
    CachePrice,
    EmbeddingPrice,
    ModelPrice,
    Prices,
    QueuePrice,
    RetrievalPrice,
    WorkerPrice,
)
from langgraph_prefetch.money import number

Kind = TypeVar("Kind")

STALE_AFTER_DAYS = 90
"""Prices that are older are flagged, where the file does not say otherwise."""
_MAX_BYTES = 1_000_000
_SINGLE = {"retrieval": RetrievalPrice, "queue": QueuePrice, "cache": CachePrice, "worker": WorkerPrice}
_NAMED = {"models": ModelPrice, "embeddings": EmbeddingPrice}
_TOP = ("date", "currency", "stale_after_days", "note", *_NAMED, *_SINGLE)


def load_prices(path: str | Path) -> Prices:
    """Read a price file.

    Raises:
        PriceFileError: the file cannot be opened or is no TOML; a key is unknown or missing; a price is negative, not
            finite or no number. The message names the key.
    """
    file = str(path)
    try:
        content = Path(path).read_bytes()
        if len(content) > _MAX_BYTES:
            raise PriceFileError(file, "larger than 1 MB, so not a price file")
        tables = tomllib.loads(content.decode("utf-8"), parse_float=Decimal)
    except OSError as error:
        raise PriceFileError(file, error.strerror or type(error).__name__) from error
    except UnicodeDecodeError as error:
        raise PriceFileError(file, "not UTF-8 text") from error
    except (tomllib.TOMLDecodeError, RecursionError, ArithmeticError) as error:
        raise PriceFileError(file, f"not TOML ({error})") from error
    try:
        return _prices(Path(file).name, tables)
    except ConfigurationError as error:
        raise PriceFileError(file, str(error)) from error


def _prices(file: str, top: Mapping[str, Any]) -> Prices:
    _known("", top, _TOP)
    _required("", top, ("date", "currency"))
    tables: dict[str, Any] = {name: _record(kind, name, top[name]) for name, kind in _SINGLE.items() if name in top}
    for name, kind in _NAMED.items():
        held = _table(name, top.get(name, {}))
        tables[name] = {own: _record(kind, f"{name}.{own}", values) for own, values in held.items()}
    return Prices(
        file=file,
        date=_date("date", top["date"]),
        currency=_text("currency", top["currency"]),
        stale_after_days=_whole("stale_after_days", top.get("stale_after_days", STALE_AFTER_DAYS)),
        note=_text("note", top["note"]) if "note" in top else "",
        **tables,
    )


def _record(kind: Callable[..., Kind], where: str, values: Any) -> Kind:
    """A table as the dataclass ``kind``, whose fields are its keys."""
    table = _table(where, values)
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]  # each kind is a dataclass
    _known(where, table, [each.name for each in fields])
    _required(where, table, [each.name for each in fields if each.default is dataclasses.MISSING])
    given = [each for each in fields if each.name in table]
    return kind(**{each.name: _READ[str(each.type)](f"{where}.{each.name}", table[each.name]) for each in given})


def _table(where: str, values: Any) -> Mapping[str, Any]:
    if not isinstance(values, dict):
        raise ConfigurationError(f"{where} must be a table, not {values!r}")
    return values


def _known(where: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
    keys = list(keys)
    for key in table:
        if key not in keys:
            name = f"{where}.{key}" if where else key
            raise ConfigurationError(f"{name} is not known; there are: {', '.join(keys)}.{did_you_mean(key, keys)}")


def _required(where: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
    for key in keys:
        if key not in table:
            raise ConfigurationError(f"{where}.{key} is missing" if where else f"{key} is missing")


def _date(name: str, value: Any) -> datetime.date:
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        raise ConfigurationError(f"{name} must be a date, such as 2026-11-29 without quotation marks, not {value!r}")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{name} must be a text that says something, not {value!r}")
    return value


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**12:
        raise ConfigurationError(f"{name} must be a whole number from 1 on, not {value!r}")
    return value


_READ: Mapping[str, Callable[[str, Any], Any]] = {
    "Decimal": number,
    "Decimal | None": number,
    "int": _whole,
    "str": _text,
}
"""How a field is read, by its annotation."""
