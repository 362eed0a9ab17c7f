"""A report to its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from langgraph_prefetch.errors import ReportError
from langgraph_prefetch.evaluation.reporting.checks import check
from langgraph_prefetch.evaluation.reporting.json_form import to_json
from langgraph_prefetch.evaluation.reporting.markdown import to_markdown
from langgraph_prefetch.evaluation.reporting.values import SuiteReport

Form = Literal["json", "markdown", "html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where a report stands; None: that form was not asked for."""

    json: Path | None = None
    markdown: Path | None = None
    html: Path | None = None


def write_report(
    report: SuiteReport, folder: str | Path, forms: Iterable[Form] = ("json", "markdown", "html")
) -> Written:
    """Write ``report.json``, ``report.md`` and ``report.html`` into ``folder``, which is made if need be.

    All is made before anything is written: after an error the files are as they were.

    Args:
        report: what to say.
        folder: where to; files of these names are replaced.
        forms: which; only the page needs the extra ``eval``.

    Raises:
        ReportError: the report holds what cannot be shown, such as NaN, or the folder cannot be written.
        MissingExtraError: the page was asked for, and what draws it is not installed.
    """
    check(report)
    made = {form: _form(form)(report) for form in forms}
    written = {form: Path(folder, f"report.{'md' if form == 'markdown' else form}") for form in made}
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for form, path in written.items():
            path.write_text(made[form], encoding="utf-8", newline="\n")
    except OSError as error:
        raise ReportError(str(folder), f"cannot be written: {error.strerror or type(error).__name__}") from error
    return Written(**written)


def _form(form: Form) -> Callable[[SuiteReport], str]:
    match form:
        case "json":
            return to_json
        case "markdown":
            return to_markdown
        case "html":
            from langgraph_prefetch.evaluation.reporting.page import to_page  # needs the extra

            return to_page
    raise ReportError("forms", f"{form!r} is none of json, markdown and html")
