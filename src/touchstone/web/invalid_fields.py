"""Marking the invalid fields of a form, with the message about each of them beside it."""

import re
from collections.abc import Mapping
from html import escape
from typing import Final

FORM_NAME: Final = "form"  # hidden field that tells apart several forms of one page with the same address
_FORM: Final = r'<form\b(?=[^>]* method="post")(?=[^>]* action="{}(?:\?[^"]*)?")[^>]*>.*?</form>'
_CONTROL: Final = r'<(?:input|select|textarea)\b(?![^>]*type="hidden")(?=[^>]* name="{}")[^>]*>'
_DESCRIBED_BY: Final = re.compile(r' aria-describedby="([^"]*)"')
_TAG_AFTER_CONTROL: Final = re.compile(r"</label>|<(?:input|select|textarea|label|fieldset)\b|</fieldset>")


def mark_invalid_fields(html: str, path: str, messages: Mapping[str, str], form_name: str = "") -> str:
    """Return a page whose invalid fields have `aria-invalid` and are described by a message.

    The finished page is changed here, and not each template, so that no field of any form can be forgotten.

    Args:
        html: The page.
        path: The address that the form was sent to; forms with another address are left alone.
        messages: What is wrong, by field name.
        form_name: The value of the form's field `form`, if several forms have the same address.
    """
    start, end = _find_form(html, path, form_name)
    form = html[start:end]
    ids: dict[str, str] = {}  # the id of the element that shows each message

    # A message about several fields is shown once, after the last of them, and describes them all.
    for name, message in reversed(list(messages.items())):
        if message in ids:
            form = _mark_field(form, name, ids[message])
        elif _find_field(form, name):
            ids[message] = f"problem-{escape(name)}"
            form = _mark_field(form, name, ids[message])
            form = _insert_message(form, name, ids[message], message)

    return html[:start] + form + html[end:]


def _find_form(html: str, path: str, form_name: str) -> tuple[int, int]:
    """Return the start and the end of the form that was sent; of the whole page if it has no such form."""
    forms = list(re.finditer(_FORM.format(re.escape(escape(path))), html, re.DOTALL))
    if not forms:
        return 0, len(html)

    if form_name:
        marker = f'name="{FORM_NAME}" value="{escape(form_name)}"'
        candidates = [form for form in forms if marker in form[0]]
    else:
        candidates = [form for form in forms if f'name="{FORM_NAME}"' not in form[0]]
    return (candidates or forms)[0].span()


def _find_field(form: str, name: str) -> re.Match[str] | None:
    return re.search(_CONTROL.format(re.escape(escape(name))), form)


def _mark_field(form: str, name: str, message_id: str) -> str:
    """Return the form with a field marked as invalid and described by the element `message_id`."""
    field = _find_field(form, name)
    if field is None:
        return form

    description = _DESCRIBED_BY.search(field[0])
    described_by = f"{message_id} {description[1]}" if description else message_id
    attributes = f' aria-invalid="true" aria-describedby="{described_by}"'
    marked = re.sub(r"^<\w+", lambda tag: tag[0] + attributes, _DESCRIBED_BY.sub("", field[0]))
    return form[: field.start()] + marked + form[field.end() :]


def _insert_message(form: str, name: str, message_id: str, message: str) -> str:
    """Return the form with a message after a field."""
    field = _find_field(form, name)
    if field is None:
        return form

    # The message follows the label, so that it does not become part of the field's accessible name.
    position = field.end()
    tag = _TAG_AFTER_CONTROL.search(form, position)
    if tag and tag[0] == "</label>":
        position = tag.end()
    paragraph = f'<p class="field-problem" id="{message_id}">{escape(message)}</p>'
    return form[:position] + paragraph + form[position:]
