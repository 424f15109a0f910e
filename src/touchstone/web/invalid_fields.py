"""Marking the invalid fields of a form, with the message about each of them beside it."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

FORM_NAME: Final = "form"  # hidden field that tells apart several forms of one page with the same address
_FORM: Final = r'<form\b(?=[^>]* method="post")(?=[^>]* action="{}(?:\?[^"]*)?")[^>]*>.*?</form>'
_CONTROL: Final = r'<(?:input|select|textarea)\b(?![^>]*type="hidden")(?=[^>]* name="{}")[^>]*>'
_DESCRIBED_BY: Final = re.compile(r' aria-describedby="([^"]*)"')
_TAG_NAME: Final = re.compile(r"^<\w+")
_TAG_AFTER_CONTROL: Final = re.compile(r"</label>|<(?:input|select|textarea|label|fieldset)\b|</fieldset>")


def mark_invalid_fields(html: str, path: str, messages: Mapping[str, str], form_name: str = "") -> str:
    """Return a page on which each invalid field of a form is marked and described by a message beside it.

    The marks are `aria-invalid` and `aria-describedby`, which screen readers announce. They are added to the finished
    page, and not by each template, so that no field of any form can be forgotten.

    Args:
        html: The page.
        path: The address that the form was sent to; forms with another address are left alone.
        messages: What is wrong, by field name.
        form_name: The value of the form's field `form`, if several forms of the page have the same address.
    """
    form_start, form_end = _find_form(html, path, form_name)
    form = html[form_start:form_end]
    visible_fields = [name for name in messages if _find_field(form, name)]

    for message in dict.fromkeys(messages.values()):
        field_names = [name for name in visible_fields if messages[name] == message]
        if field_names:
            form = _show_message(form, field_names, message)

    return html[:form_start] + form + html[form_end:]


def _show_message(form: str, field_names: Sequence[str], message: str) -> str:
    """Return the form with a message after the last of the fields that it is about, and with all of them marked."""
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
        path: The address to which the form was sent.
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
    """Return the tag of the first visible field with a name."""
    escaped_name = re.escape(escape(field_name))
    return re.search(_CONTROL.format(escaped_name), form)


def _mark_field(form: str, field_name: str, message_id: str) -> str:
    """Return the form with a field marked as invalid and described by the message with the id `message_id`.

    In `<input name="year">`, it inserts `aria-invalid="true" aria-describedby="problem-year"` after `<input`.
    If a hint describes the field already, screen readers announce the message first and then the hint.
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
    """Return a tag with attributes inserted directly after its name."""
    name = _TAG_NAME.match(tag)
    assert name is not None
    return tag[: name.end()] + attributes + tag[name.end() :]


def _insert_message(form: str, field_name: str, message_id: str, message: str) -> str:
    """Return the form with a message after a field.

    A message for a field inside a label is inserted after that label, because screen readers would otherwise read it as
    part of the field's name.
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
