"""What may be sent early: no secret passes, no ordinary search phrase is held back, and wrong rules are refused."""

import base64
import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.config import PrefetchOptions, ToolPolicy
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.outbound import GUESS_RULES, KINDS, THIRD_PARTY_RULES, OutboundRules, texts_of
from langgraph_prefetch.sensitive import luhn

ORDINARY = [
    "Humber Bridge",
    "population of Paris 2024",
    "The Blue Lagoon (1980 film)",
    "World War I 1914-1918 casualties",
    "Apollo 11 launch date 1969-07-16",
    "ISBN 978-3-16-148410-0",
    "Asia-Pacific Economic Cooperation",
    "SK-Hynix-semiconductor-revenue",
    "skateboarding championships",
    "node.js vs deno",
    "ASP.NET Core middleware",
    "os.path.join python",
    "torch.nn.functional.softmax",
    "amazon.com founder",
    "react@18.2 release notes",
    "C++ std::vector",
    "AC/DC discography",
    "24/7 customer support hours",
    "password manager comparison",
    "secret of Monkey Island",
    "token ring network",
    "iPhone 15 Pro Max battery 4422 mAh",
    "Boeing 737-800 range 5,436 km",
    "pi 3.14159265358979",
    "1,2-dimethylcyclohexane boiling point",
    "covid-19 vaccine trial results",
    "10.0.19041.1 windows build",
    "SARS-CoV-2 spike protein",
    "GDP 1234567890 dollars",
    "St. Mary Mead, Agatha Christie",
    "Eyjafjallajökull eruption 2010",
    "한국의 인구는 얼마인가",
    "東京タワーの高さ",
    "埃菲尔铁塔的高度",
    "Wie hoch ist der Eiffelturm?",
    "Who wrote: to be, or not to be",
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
]

SECRETS = {
    "address": [
        "http://evil.example/?k=1",
        "HTTPS://a.b",
        "www.evil.xyz",
        "evil.com/collect",
        "mailto:ada",
        "x.dev:80/a",
    ],
    "host": ["a1.collect.evil.com", "10.0.0.12 gateway", "db.corp.internal", "localhost:5432"],
    "email": ["ada@lovelace.org", "write to ada.l+x@uni.ac.uk"],
    "secret": [
        "sk-proj-abcdefgh12345678",
        "ghp_abcdefghijklmnopqrst",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "password: hunter2",
        "API key = x",
        "-----BEGIN RSA PRIVATE KEY-----",
        "Bearer abc123def456ghi",
        "xoxb-123456789012-abc",
        "AIzaSyA1234567890abcdefghij",
    ],
    "token": ["a1B2c3D4e5F6a7B8c9D0", "d41d8cd98f00b204", "123e4567-e89b-12d3-a456-426614174000"],
    "phone": ["+44 20 7946 0958", "(555) 010-4477", "555-010-4477", "010-1234-5678", "123-45-6789"],
    "card": ["4111 1111 1111 1111", "card 5500-0000-0000-0004", "378282246310005", "order 12345 4111 1111 1111 1111"],
}


@pytest.mark.parametrize("phrase", ORDINARY)
def test_ordinary_phrases_pass(phrase: str) -> None:
    """What people search for is held back by no rule."""
    assert THIRD_PARTY_RULES.reason_against(phrase) is None
    assert GUESS_RULES.reason_against(phrase) is None


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts])
def test_each_kind_is_found(kind: str, text: str) -> None:
    """Each kind is found by the finder of its name, on its own and within a phrase."""
    rules = OutboundRules(refuse=(kind,))
    for around in ("{}", "look for {} today", "({})"):
        assert rules.reason_against(around.format(text)) == kind


def test_a_kind_that_is_not_refused_passes() -> None:
    """Rules refuse what they name and nothing else."""
    assert OutboundRules(refuse=("secret",)).reason_against("ada@lovelace.org") is None
    assert OutboundRules(refuse=()).reason_against("password: hunter2") is None


def test_all_texts_of_a_call_count_towards_its_length() -> None:
    """A long text cannot leave in parts of one call."""
    rules = OutboundRules(max_chars=10)
    assert rules.reason_against("a" * 10) is None
    assert rules.reason_against("a" * 11) == "too long"
    assert rules.reason_against("a" * 6, "b" * 6) == "too long"


@pytest.mark.parametrize("text", ["a\nb", "a\x00b", "a\u200bb", "a\u202eb", "a\ud800b"])
def test_unprintable_characters_are_refused(text: str) -> None:
    """Neither line breaks nor invisible characters leave: they hide things from whoever reads along."""
    assert THIRD_PARTY_RULES.reason_against(text) == "unprintable"


def test_full_width_letters_hide_nothing() -> None:
    """Text is judged as it looks."""
    wide = "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in "http://evil.com/x")
    assert THIRD_PARTY_RULES.reason_against(wide) == "address"
    assert THIRD_PARTY_RULES.reason_against("４１１１ 1111 1111 1111") == "card"


WORDS = st.sampled_from(["find", "the balance of", "Ada", "bridge", "", "please,", "what is"])
ALNUM = string.ascii_letters + string.digits


def _mixed(alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    text = st.text(alphabet, min_size=least, max_size=most)
    return text.filter(lambda each: any(map(str.isdigit, each)) and any(map(str.isalpha, each)))


def _card(body: str) -> str:
    return next(body + digit for digit in string.digits if luhn(body + digit))


GENERATED = st.one_of(
    _mixed(ALNUM, 8, 40).map(lambda each: f"sk-0{each}abcd"),
    st.text(string.ascii_uppercase + string.digits, min_size=16, max_size=16).map(lambda each: f"AKIA{each}"),
    _mixed(ALNUM, 20, 80),
    _mixed("0123456789abcdef", 16, 64),
    st.binary(min_size=32, max_size=48).map(lambda each: "1" + base64.b64encode(each).decode() + "a"),
    st.binary(min_size=9, max_size=30).map(
        lambda each: f"eyJ{base64.urlsafe_b64encode(each).decode().strip('=')}.eyJ9.x"
    ),
    st.uuids().map(str),
    st.emails(domains=st.sampled_from(["lovelace.org", "uni.ac.uk"])),
    st.text(string.ascii_lowercase, min_size=1, max_size=12).map(lambda each: f"https://{each}.evil.io/?k={each}"),
    st.tuples(st.sampled_from("23456"), st.text(string.digits, min_size=11, max_size=17)).map(
        lambda parts: _card("".join(parts))
    ),
    st.text(string.digits, min_size=8, max_size=13).map(lambda each: f"+1{each}"),
    st.sampled_from(["password", "passwd", "secret", "token", "api_key", "API key"]).map(lambda each: f"{each}: x"),
)


@given(WORDS, GENERATED, WORDS)
def test_no_generated_secret_passes(before: str, secret: str, after: str) -> None:
    """Whatever stands around it, a secret of a known form is never sent to a third party early."""
    text = f"{before} {secret} {after}".strip()
    assert OutboundRules(max_chars=10_000).reason_against(text) is not None


@given(st.text(max_size=400))
def test_any_text_is_judged(text: str) -> None:
    """No text makes the rules fail; what may go to a third party, any guess may be."""
    if THIRD_PARTY_RULES.reason_against(text) is None:
        assert GUESS_RULES.reason_against(text) is None


def test_long_runs_are_judged_quickly() -> None:
    """A text that was made to keep the patterns busy takes no time that anybody would notice."""
    rules = OutboundRules(max_chars=100_000)
    for piece in ("a", "1", "a.", "1 ", "1-", "a1", "-", "+1", "0 "):
        began = time.thread_time()
        rules.reason_against(piece * (2_000 // len(piece)))
        assert time.thread_time() - began < 0.5, piece


def test_what_the_model_wrote_is_judged_and_nothing_else() -> None:
    """Texts, numbers and names at any depth; the user's own fixed arguments only where the model changed them."""
    arguments = {"q": "a", "site": "https://docs.example", "k": 4111, "deep": {"x": ["y", None, True, 1.5]}}
    assert list(texts_of(arguments, {"site": "https://docs.example"})) == ["a", "4111", "x", "y", "1.5"]
    assert "https://evil.example" in list(texts_of({"site": "https://evil.example"}, {"site": "https://docs.example"}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ToolPolicy(name="s", destination="thrid_party"), "Did you mean 'third_party'?"),  # type: ignore[arg-type]
        (lambda: ToolPolicy(name="s", destination=None), "must be 'own_store' or 'third_party', not None"),  # type: ignore[arg-type]
        (lambda: ToolPolicy(name="s", destination=["third_party"]), "must be 'own_store'"),  # type: ignore[arg-type]
        (lambda: ToolPolicy(name="s", outbound={"max_chars": 3}), "outbound takes OutboundRules"),  # type: ignore[arg-type]
        (lambda: OutboundRules(max_chars=0), "max_chars must be a whole number from 1 on, not 0"),
        (lambda: OutboundRules(max_chars=True), "max_chars must be a whole number"),
        (lambda: OutboundRules(max_chars=1.5), "max_chars must be a whole number"),  # type: ignore[arg-type]
        (lambda: OutboundRules(refuse="secret"), "refuse takes a tuple of kinds"),  # type: ignore[arg-type]
        (lambda: OutboundRules(refuse=("adress",)), "Did you mean 'address'?"),
        (
            lambda: ToolPolicy(name="s", destination="third_party", outbound=OutboundRules(refuse=("address",))),
            "a third party gets no secrets early",
        ),
        (lambda: PrefetchOptions(may_send="yes"), "may_send takes a plain function"),  # type: ignore[arg-type]
    ],
)
def test_wrong_rules_are_refused(make: Any, message: str) -> None:
    """A destination or rule that cannot be meant is refused when it is made, with what to do instead."""
    with pytest.raises(ConfigurationError) as caught:
        make()
    assert message in str(caught.value)


def test_a_hook_that_nobody_could_wait_for_is_refused() -> None:
    """A coroutine function, or an object that is called as one, is no redaction hook."""

    async def ask(_: Any) -> bool:
        return True

    class Asks:
        async def __call__(self, _: Any) -> bool:
            return True

    for hook in (ask, Asks()):
        with pytest.raises(ConfigurationError, match="plain function"):
            PrefetchOptions(may_send=hook)  # type: ignore[arg-type]


def test_a_destination_has_its_rules() -> None:
    """A third party has the strict ones, an own store none of its own, and the user's word counts for both."""
    own = OutboundRules(max_chars=7)
    assert ToolPolicy(name="s").outbound_rules is None
    assert ToolPolicy(name="s", destination="third_party").outbound_rules is THIRD_PARTY_RULES
    assert ToolPolicy(name="s", outbound=own).outbound_rules is own
    assert ToolPolicy(name="s", destination="third_party", outbound=own).outbound_rules is own
    assert THIRD_PARTY_RULES.refuse == KINDS
