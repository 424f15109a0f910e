"""The part of a result that describes the split and its reason."""

from collections.abc import Sequence
from enum import StrEnum

from touchstone.learning.localized_text import LOCALES, LocalizedText, localize
from touchstone.learning.request_choices import Duplicates, Strategy
from touchstone.learning.request_definitions import Split
from touchstone.learning.splits.folds import held_out_positions
from touchstone.learning.splits.split_decision import SplitDecision
from touchstone.learning.splits.split_effect import SplitEffect
from touchstone.learning.task_interface import Json
from touchstone.messages.narratives import NARRATIVE
from touchstone.messages.reason_phrases import enumeration
from touchstone.messages.splits import SPLIT_REASONS


class DuplicateTreatment(StrEnum):
    """The treatment of equal rows, with its reason."""

    TOGETHER = "together"  # Equal rows stay on the same side.
    COINCIDENCE = "coincidence"  # Equal rows are divided like all others, because chance explains them.
    KEEP = "keep"  # Equal rows are divided like all others, as requested.


def report_split(split: Split, decision: SplitDecision, effect: SplitEffect | None = None) -> Json:
    """Return the description of a split as documented by the API.

    `split` is the requested split. The effect is only known after a training.
    """
    plan = decision.plan
    is_cross_validated = plan.strategy is Strategy.KFOLD
    return {
        "requested": str(split.strategy),
        "strategy": str(plan.strategy),
        "reason": _reason(decision),
        "group_column": plan.group_column,
        "groups": None if plan.group_column is None else decision.rule.unit_count,
        "time_column": plan.time_columns[0] if plan.time_columns else None,
        "time_columns": list(plan.time_columns),
        "duplicates": {
            "rows": decision.duplicates.rows,
            "nearly_equal": decision.duplicates.is_approximate,
            "treatment": str(treatment_of_duplicates(decision)),
        },
        "test_size": None if is_cross_validated else plan.test_size,
        "folds": plan.folds if is_cross_validated else None,
        "training_rows": len(decision.folds[0].train),
        "test_rows": len(held_out_positions(decision.folds)),
        "effect": None if effect is None else effect.to_json(),
        "proposals": [
            {"column": group.name, "groups": group.groups, "likeness": round(group.similarity, 3)}
            for group in decision.group_columns
        ],
    }


def _reason(decision: SplitDecision) -> Json:
    """Return the reason for the split, with its code and a sentence in both languages."""
    plan = decision.plan
    time_columns = plan.time_columns
    names = _enumerate_names(time_columns) if time_columns else ""
    text = localize(
        SPLIT_REASONS[decision.reason], name=plan.group_column or "", names=names, columns=len(time_columns)
    )
    return {"code": decision.reason, "text": text}


def _enumerate_names(names: Sequence[str]) -> LocalizedText:
    """Return names in quotation marks, with the word for "and" before the last one."""
    quoted_names = [localize(NARRATIVE["named"], name=name) for name in names]
    return {locale: enumeration([name[locale] for name in quoted_names], locale) for locale in LOCALES}


def treatment_of_duplicates(decision: SplitDecision) -> DuplicateTreatment:
    """Return the treatment of equal rows."""
    if decision.plan.duplicates is Duplicates.TOGETHER:
        return DuplicateTreatment.TOGETHER
    return DuplicateTreatment.COINCIDENCE if decision.duplicates.is_coincidence else DuplicateTreatment.KEEP
