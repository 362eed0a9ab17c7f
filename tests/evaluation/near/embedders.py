"""Embedders that a command is given by their names."""

import numpy as np
from langchain_core.embeddings import Embeddings

from tests.near.stores import hashed


class Words(Embeddings):
    """Counts words."""

    identity = "words of the tests"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return hashed(texts).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class Constant(Words):
    """Makes no use of its text."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return np.ones((len(texts), 8)).tolist()


words, constant = Words(), Constant()
