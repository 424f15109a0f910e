"""Mark the invalid fields of a form in a rendered page, and show the error messages beside them."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

FORM_NAME: Final = "form"  # the hidden field that distinguishes forms of a page that are sent to the same address
# Patterns for `str.format`: a form that is sent to an address, and the tag of a visible field with a name.
_FORM: Final = r'<form\b(?=[^>]* method="post")(?=[^>]* action="{}(?:\?[^"]*)?")[^>]*>.*?</form>'
_CONTROL: Final = r'<(?:input|select|textarea)\b(?![^>]*type="hidden")(?=[^>]* name="{}")[^>]*>'
_DESCRIBED_BY: Final = re.compile(r' aria-describedby="([^"]*)"')
_TAG_NAME: Final = re.compile(r"^<\w+")
_TAG_AFTER_CONTROL: Final = re.compile(r"</label>|<(?:input|select|textarea|label|fieldset)\b|</fieldset>")


def mark_invalid_fields(html: str, path: str, messages: Mapping[str, str], form_name: str = "") -> str:
    """Mark the invalid fields of a form in a page, and insert the messages beside them.

    Screen readers announce the attributes `aria-invalid` and `aria-describedby` of the fields. They are added to the
    finished page instead of in each template, so that no field of any form can be missed.

    Args:
        html: The page.
        path: The address that the form was sent to; forms with another address stay unchanged.
        messages: The error message of each invalid field, by field name.
        form_name: The value of the hidden field `form`, if several forms of the page have the same address.

    Returns:
        The page with the marks and the messages.
    """
    form_start, form_end = _find_form(html, path, form_name)
    form = html[form_start:form_end]
    visible_fields = [name for name in messages if _find_field(form, name)]

    # Fields with the same message share one paragraph.
    for message in dict.fromkeys(messages.values()):
        field_names = [name for name in visible_fields if messages[name] == message]
        if field_names:
            form = _show_message(form, field_names, message)

    return html[:form_start] + form + html[form_end:]


def _show_message(form: str, field_names: Sequence[str], message: str) -> str:
    """Mark fields of a form as invalid, and insert their common message after the last of them."""
    last_field = field_names[-1]
    message_id = f"problem-{escape(last_field)}"

    for field_name in field_names:
        form = _mark_field(form, field_name, message_id)
    return _insert_message(form, last_field, message_id, message)


def _find_form(html: str, path: str, form_name: str) -> tuple[int, int]:
    """Return the start and the end of the submitted form in the page.

    If the page has no such form, they are the start and the end of the page.

    Args:
        html: The page.
        path: The address that the form was sent to.
        form_name: The value of its hidden field `form`; empty if it has no such field.
    """
    escaped_path = re.escape(escape(path))
    forms = list(re.finditer(_FORM.format(escaped_path), html, re.DOTALL))
    if not forms:
        return 0, len(html)

    if form_name:
        name_attributes = f'name="{FORM_NAME}" value="{escape(form_name)}"'
        candidates = [form for form in forms if name_attributes in form[0]]
    else:
        candidates = [form for form in forms if f'name="{FORM_NAME}"' not in form[0]]

    best_form = candidates[0] if candidates else forms[0]
    return best_form.span()


def _find_field(form: str, field_name: str) -> re.Match[str] | None:
    """Return the tag of the first visible field with this name, or None if there is none."""
    escaped_name = re.escape(escape(field_name))
    return re.search(_CONTROL.format(escaped_name), form)


def _mark_field(form: str, field_name: str, message_id: str) -> str:
    """Mark a field of a form as invalid, with the message `message_id` as its description.

    For example, `aria-invalid="true" aria-describedby="problem-year"` is inserted into `<input name="year">`. If a hint
    already describes the field, screen readers announce the message before the hint.
    """
    field = _find_field(form, field_name)
    if field is None:
        return form

    tag = field[0]
    hint = _DESCRIBED_BY.search(tag)
    description_ids = f"{message_id} {hint[1]}" if hint else message_id
    attributes = f' aria-invalid="true" aria-describedby="{description_ids}"'

    tag_without_hint = _DESCRIBED_BY.sub("", tag)
    marked_tag = _insert_attributes(tag_without_hint, attributes)
    return form[: field.start()] + marked_tag + form[field.end() :]


def _insert_attributes(tag: str, attributes: str) -> str:
    """Insert attributes into a tag, directly after its name."""
    name = _TAG_NAME.match(tag)
    assert name is not None
    return tag[: name.end()] + attributes + tag[name.end() :]


def _insert_message(form: str, field_name: str, message_id: str, message: str) -> str:
    """Insert a message into a form after a field.

    If the field is inside a label, the message is inserted after the label. Inside it, screen readers would announce
    the message as part of the field's name.
    """
    field = _find_field(form, field_name)
    if field is None:
        return form

    position = field.end()
    next_tag = _TAG_AFTER_CONTROL.search(form, position)
    if next_tag and next_tag[0] == "</label>":
        position = next_tag.end()

    paragraph = f'<p class="field-problem" id="{message_id}">{escape(message)}</p>'
    return form[:position] + paragraph + form[position:]
