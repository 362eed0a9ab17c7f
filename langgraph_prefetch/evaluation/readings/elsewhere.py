"""Read with weights that never saw the file: each recording with cues weighed on the others alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langgraph_prefetch.evaluation.fit import weights
from langgraph_prefetch.evaluation.fit_reading import Directive, directives
from langgraph_prefetch.evaluation.readings.forecasts import Heard
from langgraph_prefetch.intent.cues import CueSet

NEUTRAL = 0.5
"""Where every weight starts, so that nothing of what the shipped ones were chosen on is left in them."""


def weighed_elsewhere(recordings: Sequence[Heard], cues: CueSet) -> Mapping[str, CueSet | None]:
    """For each file the cues with weights fitted to the other files of its languages; None where there are none.

    Intent and search cues all start from `NEUTRAL`. Cues against a search are never fitted, and so stay as they are
    shipped, as do the phrases themselves: what was chosen while looking at these files stays in both.
    """
    said = {each.file: [found for step in each.steps for found in directives(step, cues)] for each in recordings}
    flat = cues.reweigh({cue.name: NEUTRAL for cue in cues.cues if cue.role in ("intent", "search")})
    return {each.file: _fitted(each, recordings, said, flat) for each in recordings}


def _fitted(
    own: Heard, recordings: Sequence[Heard], said: Mapping[str, Sequence[Directive]], flat: CueSet
) -> CueSet | None:
    others = [each for each in recordings if each.file != own.file and each.languages & own.languages]
    found = weights((found for each in others for found in said[each.file]), flat)
    return flat.reweigh(found) if found else None
