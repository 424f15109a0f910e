"""Conversion of the facts of a report into a document in one language, section by section."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

from touchstone.services.selection.report.document import ReportDocument, Section
from touchstone.services.selection.report.fact_types import ReportContent
from touchstone.services.selection.report.language import ReportLanguage
from touchstone.services.selection.report.sections.changes import changes_section
from touchstone.services.selection.report.sections.choice import choice_section
from touchstone.services.selection.report.sections.evidence import evidence_section
from touchstone.services.selection.report.sections.law import law_section
from touchstone.services.selection.report.sections.model_comparison import model_comparison_section
from touchstone.services.selection.report.sections.need import need_section
from touchstone.services.selection.report.sections.ranking import ranking_section
from touchstone.services.selection.report.sections.summary import summary_section
from touchstone.services.selection.report.sections.trials import limitations_section, trials_section
from touchstone.services.selection.report.sections.verification import verification_section

SECTIONS: Final[tuple[Callable[[ReportContent, ReportLanguage], Section | None], ...]] = (
    summary_section,
    need_section,
    ranking_section,
    choice_section,
    changes_section,
    evidence_section,
    law_section,
    model_comparison_section,
    trials_section,
    limitations_section,
    verification_section,
)
"""The functions that create the sections of a report, in their order, or return None for an empty section."""


def build_document(content: ReportContent, locale: str) -> ReportDocument:
    """Return a report in one language, ready for a template."""
    language = ReportLanguage(locale)
    state_at = find_latest_time(content)
    sections = [create_section(content, language) for create_section in SECTIONS]
    return ReportDocument(
        language=locale,
        kind=language.text("title"),
        title=content.project.name,
        description=language.text("description_of_document"),
        state=language.text("state", date=language.day(state_at)),
        state_date=(state_at.year, state_at.month, state_at.day),
        sections=[section for section in sections if section is not None],
        digest=content.digest(),
        digest_label=language.text("digest"),
        digest_hint=language.text("digest_hint"),
        imprint=language.text("imprint", version=version("touchstone"), formula=content.formula_version),
        page_label=language.text("page"),
    )


def find_latest_time(content: ReportContent) -> datetime:
    """Return the time of the latest dated fact in a report, in UTC.

    The withdrawal of a dataset does not count, since its time is not stored.
    """
    return max(_times_of_facts(content)).astimezone(UTC)


def _times_of_facts(content: ReportContent) -> Iterator[datetime]:
    """Yield the times of all dated facts in a report, in no particular order."""
    yield content.project.updated_at
    if content.catalog_changed_at is not None:
        yield content.catalog_changed_at

    if content.evidence is not None:
        for attribute in content.evidence.attributes:
            for claim in attribute.claims:
                if claim.at is not None:
                    yield claim.at
                if claim.review is not None:
                    yield claim.review.at

    yield from (decision.at for decision in content.history)

    finish_times = [training.finished_at for training in content.trainings]
    finish_times += [explanation.finished_at for explanation in content.explanations]
    if content.model_comparison is not None:
        finish_times.append(content.model_comparison.finished_at)
    yield from (finished_at for finished_at in finish_times if finished_at is not None)
