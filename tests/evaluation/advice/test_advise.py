"""From traces to advice: what the serve modes bring, our own event files, and what is never done."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.advice.advise import AdviceSettings, advise
from langgraph_prefetch.evaluation.advice.as_json import as_json
from langgraph_prefetch.evaluation.advice.near_misses import Corpus
from langgraph_prefetch.evaluation.advice.report import report_of
from langgraph_prefetch.evaluation.advice.text import as_text
from langgraph_prefetch.evaluation.advice.values import AS_IT_RAN, BOUNDED, REASONING, REUSE, SEALED, VERIFIED, Verdict
from langgraph_prefetch.evaluation.importers.values import Trace, TracedRun
from langgraph_prefetch.evaluation.reporting.checks import check
from langgraph_prefetch.events import DRY_RUN, Event, SpeculationIgnored, SpeculationStarted
from langgraph_prefetch.values import Source
from tests.evaluation.advice.made import call, run, step, trace
from tests.evaluation.importers.test_read import answered

SAID = "I need to search {}, and find out which machine she wrote her program for and in which year. "


def runs(number: int = 12, **fields: Any) -> list[TracedRun]:
    """Two searches each, one of them readable early."""
    return [
        run(
            step(SAID.format("Ada Lovelace"), call("Ada Lovelace", result="A page.", **fields)),
            step("No. ", call(f"notes {at}", result="Another page.", **fields)),
            step("She wrote it for the Analytical Engine."),
            question=f"Question {at}?",
        )
        for at in range(number)
    ]


def advised(traced: Sequence[TracedRun], **settings: Any) -> Any:
    return advise([trace(traced)], AdviceSettings(**settings))


def test_every_mode_is_tried() -> None:
    """Closed arguments hide a token, reasoning a search in two; near misses need a corpus, and say so."""
    found = advised(runs())
    (search,) = found.advice
    modes = search.evidence.modes
    assert list(modes) == [SEALED, REASONING, REUSE, BOUNDED, VERIFIED]
    assert modes[SEALED].hidden.value == pytest.approx(0.022, abs=0.001)
    assert modes[REASONING].guessed.value == 0.5
    assert modes[REASONING].hidden.value > 0.2
    assert "--corpus" in modes[BOUNDED].why_not
    assert search.verdict is Verdict.RECOMMENDED
    assert search.evidence.readable.early.value == 0.5
    assert found.timing == {"recorded": 0, "spread": 0, "assumed": 36}


def test_reuse_saves_calls() -> None:
    """The same query asked again in a run is answered from before, and the backend is called less."""
    again = [
        run(step("No. ", call("x", result="r")), step("No. ", call("x", result="r")), question=f"{n}")
        for n in range(12)
    ]
    (search,) = advised(again).advice
    reuse = search.evidence.modes[REUSE]
    assert reuse.sources == {"sealed": 0.5, "reuse": 0.5}
    assert reuse.extra.value == -0.5
    assert search.reuse


def test_verified_serving_hides_what_comes_again() -> None:
    """A result that comes again lets the next model call begin; where nothing was recorded it cannot be told."""
    words = "Let me think about that for a while, since it is not easy to say. " * 3
    again = [run(*[step(words, call("x", result="r"))] * 8, step(words)) for _ in range(9)]
    (search,) = advised(again).advice
    verified = search.evidence.modes[VERIFIED]
    assert verified.hidden.value > search.evidence.modes[SEALED].hidden.value
    assert "cancelled model calls" in verified.note
    silent = [run(*[step(words, call("x"))] * 8, step(words)) for _ in range(9)]
    (search,) = advised(silent).advice
    assert "do not hold what the tool returned" in search.evidence.modes[VERIFIED].why_not


def test_near_misses_with_a_corpus(tmp_path: Path) -> None:
    """With what the tool searches, the share of calls that passages around the thought would answer."""
    pytest.importorskip("numpy")
    passages = tmp_path / "passages.jsonl"
    lines = [
        json.dumps({"title": f"notes {n}", "text": f"passage number {n} about machine {n % 7}"}) for n in range(40)
    ]
    passages.write_text("\n".join(lines), encoding="utf-8")
    (search,) = advised(runs(), corpus=Corpus(files=(str(passages),), k=2)).advice
    bounded = search.evidence.modes[BOUNDED]
    assert not bounded.why_not
    assert "fetches a call" in bounded.note
    assert bounded.extra.value > 0


def test_a_local_index_is_too_fast_to_hide() -> None:
    """Half a millisecond, as a local HNSW search takes: do not turn this on, whatever stands in the thought."""
    (search,) = advised(runs(seconds=0.0005)).advice
    assert search.verdict is Verdict.NOT_WORTH_IT
    assert "nothing to hide" in search.reasons[0]
    assert "do not turn this on" in as_text(advised(runs(seconds=0.0005)))


def test_a_price_above_the_worth_turns_guesses_off() -> None:
    """With prices the gate of a live graph weighs each guess, and the verdict is in money."""
    from langgraph_prefetch.evaluation.advice.figures import Prices

    found = advised(runs(), prices=Prices(call=100.0, second=0.01, unit="USD"))
    (search,) = found.advice
    assert not search.guess
    assert found.code == ""
    assert "USD" in as_text(found)


def test_tools_that_act_are_played_as_tools_that_act() -> None:
    """A suspected writer is not measured until the user gives their word; then it is."""
    traced = [
        run(*each.steps, step("No. ", call({"text": f"{n}"}, name="send_mail"))) for n, each in enumerate(runs(24))
    ]
    by_tool = {each.tool: each for each in advised(traced).advice}
    assert by_tool["send_mail"].verdict is Verdict.CANNOT_TELL
    assert by_tool["send_mail"].evidence.modes == {}
    (mail,) = advised(traced, tools=("send_mail",)).advice
    assert mail.evidence.modes


def test_many_tools_are_not_all_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes a pass over all runs; the others say how to have them measured. What helps stands first."""
    monkeypatch.setattr("langgraph_prefetch.evaluation.advice.advise.MAX_MEASURED", 1)
    other = step("No. ", call("x", name="look_up"))
    found = advised([run(other, other, other, *each.steps) for each in runs()])
    assert [(each.tool, each.verdict) for each in found.advice] == [
        ("look_up", Verdict.NOT_WORTH_IT),
        ("search", Verdict.CANNOT_TELL),
    ]
    monkeypatch.undo()
    found = advised([run(other, other, other, *each.steps) for each in runs()])
    assert [each.tool for each in found.advice] == ["search", "look_up"]


def test_a_tool_that_is_never_called_is_an_error() -> None:
    """With the name that was meant."""
    with pytest.raises(ConfigurationError, match="Did you mean 'search'"):
        advised(runs(), tools=("serch",))


@pytest.mark.parametrize(
    "settings",
    [
        {"tokens_per_second": 0},
        {"latency_seconds": -1},
        {"graph_step_seconds": math.nan},
        {"reuse_seconds": 0},
    ],
)
def test_settings_out_of_range(settings: dict[str, float]) -> None:
    """An error that names the setting."""
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        AdviceSettings(**settings)  # type: ignore[arg-type]


def events(*, dry: bool = False) -> tuple[Event, ...]:
    """Ten runs of four calls, half of them served, with one wasted start each."""
    made: list[Event] = []
    for number in range(10):
        common = {"run_id": f"r{number}", "step": 1, "at": 1.0, "tool": "search", "source": Source.REASONING}
        for at in range(4):
            hit = at % 2 == 0
            if dry:
                made.append(
                    answered(run_id=f"r{number}", **({"forgone": DRY_RUN, "forgone_seconds": 0.3} if hit else {}))
                )
            else:
                served = {
                    "source": Source.REASONING,
                    "hidden_seconds": 0.3,
                    "hideable_seconds": 0.4,
                    "waited_seconds": 0.2,
                }
                made.append(answered(run_id=f"r{number}", **(served if hit else {})))
        for _ in range(3):
            if dry:
                made.append(SpeculationIgnored(**common, reason=DRY_RUN))  # type: ignore[arg-type]
            else:
                made.append(SpeculationStarted(**common, speculation_id="s", probability=0.5, cue="c"))  # type: ignore[arg-type]
    return tuple(made)


@pytest.mark.parametrize("dry", [False, True])
def test_our_own_event_files_tell_what_was_done(*, dry: bool) -> None:
    """What prefetch hid while it was on, or would have under ``dry_run``."""
    found = advise([Trace(file="e.jsonl", format="events", events=events(dry=dry))], AdviceSettings())
    (search,) = found.advice
    ran = search.evidence.modes[AS_IT_RAN]
    assert (ran.calls, ran.coverage.value) == (40, 0.5)
    assert ran.hidden.value == pytest.approx(0.15)
    assert ran.extra.value == pytest.approx(0.25)
    assert search.verdict is Verdict.RECOMMENDED
    assert "leave it on" in as_text(found)
    assert found.code == ""


def test_runs_without_tools_say_so() -> None:
    """No tool was called: there is nothing to start early, and that is no error."""
    found = advised([run(step("Just words."))] * 3)
    assert found.advice == ()
    assert "No tool is called" in as_text(found)


def test_calls_without_text_are_never_readable_early() -> None:
    """Messages of calls alone: closed arguments are all there is."""
    (search,) = advised([run(step("", call(f"x{n}")), step("", call(f"y{n}"))) for n in range(12)]).advice
    assert search.evidence.readable.early.value == 0
    assert search.evidence.readable.in_text.value == 0
    assert search.verdict is Verdict.NOT_WORTH_IT


def test_what_is_written_is_whole_and_holds_no_query() -> None:
    """JSON without NaN, a report that its writer accepts, and no word of the traces in either."""
    found = advised(runs())
    plain = json.dumps(as_json(found), allow_nan=False)
    report = report_of(found)
    check(report)
    for text in (plain, repr(report), as_text(found)):
        assert "Lovelace" not in text
        assert "Analytical" not in text
        assert "A page" not in text
    shown = advised(runs(), show_queries=True)
    assert "notes 1" in as_text(shown)
