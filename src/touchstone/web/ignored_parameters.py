"""Sentences about misspelt parameters and invalid values in the address of a page, which ignores or replaces them."""

from collections.abc import Iterable, Sequence
from typing import Final

from touchstone.client import TouchstoneError
from touchstone.http.spelling_suggestions import suggestion_facts
from touchstone.web.flash_messages import FLASH_PARAMETER
from touchstone.web.localizer import Localizer
from touchstone.web.page_context import PageContext
from touchstone.web.rank_gates import GATE_PREFIX
from touchstone.web.rank_state import (
    TRACKING_PREFIX,
    WEIGHT_PREFIX,
    InvalidSetting,
    invalid_settings,
    known_parameters,
    parse_small_integer,
    unknown_parameters,
)
from touchstone.web.readable_errors import localize_error

_MAX_SENTENCES: Final = 5  # one more sentence counts the rest
_MAX_VALUE_LENGTH: Final = 40  # longer invalid values are cut off in sentences


async def describe_ignored_settings(ctx: PageContext, other_names: Sequence[str] = ()) -> tuple[str, ...]:
    """Return a sentence about each unknown parameter and each invalid value in the address of a ranking.

    A sentence suggests similar names or accepted values. If there are too many sentences, the last one counts the rest.

    Args:
        ctx: the request, whose address describes a ranking.
        other_names: the names of parameters that do not belong to the ranking.
    """
    weight_profiles = await ctx.weight_profiles()
    known_names = known_parameters(weight_profiles)
    page_names = (*other_names, FLASH_PARAMETER)

    sentences = [
        _describe_unknown_name(name, known_names, ctx.localizer)
        for name in unknown_parameters(ctx.query_pairs, weight_profiles)
        if name not in page_names
    ]
    sentences += [
        _describe_invalid_setting(setting, ctx.localizer)
        for setting in invalid_settings(ctx.query_pairs, weight_profiles)
    ]
    return _shorten(sentences, ctx.localizer)


def describe_ignored_parameters(
    ctx: PageContext, *, numbers: Sequence[str], names: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return a sentence about each unknown parameter and each invalid number in the address of another page.

    Args:
        ctx: the request.
        numbers: the names of the parameters that are positive integers, such as `page`.
        names: the names of the other parameters.
    """
    known_names = (*numbers, *names)
    non_empty_pairs = [(name, text) for name, text in ctx.query_pairs if text]

    sentences = []
    for name, text in non_empty_pairs:
        is_known = name in (*known_names, FLASH_PARAMETER) or name.startswith(TRACKING_PREFIX)
        if not is_known:
            sentences.append(_describe_unknown_name(name, known_names, ctx.localizer))
        elif name in numbers and not parse_small_integer(text):
            sentences.append(_describe_invalid_setting(InvalidSetting(name, text), ctx.localizer))
    return _shorten(sentences, ctx.localizer)


def describe_refused_filter(error: TouchstoneError, localizer: Localizer) -> str:
    """Return a sentence about a filter or a gate in the address that the API has refused."""
    problem = localize_error(error, localizer).detail
    return localizer.text("field_problem", name=localizer.text("rank_problem"), problem=problem)


def _describe_unknown_name(name: str, known_names: Iterable[str], localizer: Localizer) -> str:
    """Return the sentence about an unknown parameter, which suggests known names."""
    # The names of a gate and a filter may differ only in the prefix, so neither is suggested in place of the other.
    is_gate = name.startswith(GATE_PREFIX)
    candidates = (known_name for known_name in known_names if known_name.startswith(GATE_PREFIX) == is_gate)
    facts = suggestion_facts(name, candidates)

    key = "parameter_ignored_near" if facts["is_near"] else "parameter_ignored"
    return localizer.text(key, name=facts["name"], known=facts["known"])


def _describe_invalid_setting(setting: InvalidSetting, localizer: Localizer) -> str:
    """Return the sentence about an invalid value in the address, which names the accepted values."""
    value = setting.value[:_MAX_VALUE_LENGTH]
    if setting.accepted:
        accepted = ", ".join(setting.accepted)
        return localizer.text("parameter_replaced", name=setting.name, value=value, accepted=accepted)

    key = "parameter_no_position" if setting.name.startswith(WEIGHT_PREFIX) else "parameter_no_number"
    return localizer.text(key, name=setting.name, value=value)


def _shorten(sentences: Sequence[str], localizer: Localizer) -> tuple[str, ...]:
    """Return the first sentences, followed by one that counts the others if there are too many."""
    other_count = len(sentences) - _MAX_SENTENCES
    if other_count <= 0:
        return tuple(sentences)
    return (*sentences[:_MAX_SENTENCES], localizer.text("parameters_ignored_more", count=other_count))
