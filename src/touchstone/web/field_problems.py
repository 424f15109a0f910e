"""What is wrong with a form, beside the fields that it concerns."""

import re
from collections.abc import Mapping
from html import escape
from typing import Final

FORM: Final = "form"  # the hidden field that tells apart the forms of one page that are sent to the same address
_FORM: Final = r'<form\b(?=[^>]* method="post")(?=[^>]* action="{}(?:\?[^"]*)?")[^>]*>.*?</form>'
_CONTROL: Final = r'<(?:input|select|textarea)\b(?![^>]*type="hidden")(?=[^>]* name="{}")[^>]*>'
_DESCRIBED: Final = re.compile(r' aria-describedby="([^"]*)"')


def marked(html: str, path: str, problems: Mapping[str, str], form_name: str = "") -> str:
    """Return a page whose fields with a problem say so: `aria-invalid`, and a sentence that describes them.

    All forms are marked here and not in their templates, so that no field of any form can be forgotten. The form that
    was sent to `path` is meant where a page has several, and of those the one with this name in its field `form`.
    """
    start, end = _sent_form(html, path, form_name)
    form, shown = html[start:end], dict[str, str]()
    # A sentence about several fields stands once, at the last of them, and describes all.
    for name, sentence in reversed(list(problems.items())):
        if sentence in shown:
            form = _with_marks(form, name, shown[sentence])
        elif (marked_form := _with_problem(form, name, sentence)) != form:
            form, shown[sentence] = marked_form, _key(name)
    return html[:start] + form + html[end:]


def _sent_form(html: str, path: str, form_name: str) -> tuple[int, int]:
    """Return where the form that was sent begins and ends; the whole page when none is known to be it."""
    forms = list(re.finditer(_FORM.format(re.escape(escape(path))), html, re.DOTALL))
    marker = f'name="{FORM}" value="{escape(form_name)}"' if form_name else f'name="{FORM}"'
    sent = next((form for form in forms if (marker in form[0]) == bool(form_name)), forms[0] if forms else None)
    return sent.span() if sent else (0, len(html))


def _key(name: str) -> str:
    return f"problem-{escape(name)}"


def _control(form: str, name: str) -> re.Match[str] | None:
    return re.search(_CONTROL.format(re.escape(escape(name))), form)


def _with_marks(form: str, name: str, key: str) -> str:
    found = _control(form, name)
    if found is None:
        return form
    described = _DESCRIBED.search(found[0])
    description = f"{key} {described[1]}" if described else key
    marks = f' aria-invalid="true" aria-describedby="{description}"'
    invalid = re.sub(r"^<\w+", lambda tag: tag[0] + marks, _DESCRIBED.sub("", found[0]))
    return form[: found.start()] + invalid + form[found.end() :]


def _with_problem(form: str, name: str, sentence: str) -> str:
    form = _with_marks(form, name, _key(name))
    found = _control(form, name)
    if found is None:
        return form

    # After the label, so that the sentence does not become part of the field's name.
    end = found.end()
    label = re.compile(r"</label>|<(?:input|select|textarea|label|fieldset)\b|</fieldset>").search(form, end)
    place = label.end() if label and label[0] == "</label>" else end
    said = f'<p class="field-problem" id="{_key(name)}">{escape(sentence)}</p>'
    return form[:place] + said + form[place:]
