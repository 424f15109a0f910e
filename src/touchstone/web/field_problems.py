"""What is wrong with a form, beside the fields that it concerns."""

import re
from collections.abc import Mapping
from html import escape
from typing import Final

_CONTROL: Final = r'<(?:input|select|textarea)\b(?![^>]*type="hidden")(?=[^>]* name="{}")[^>]*>'
_DESCRIBED: Final = re.compile(r' aria-describedby="([^"]*)"')


def marked(html: str, path: str, problems: Mapping[str, str]) -> str:
    """Return a page whose fields with a problem say so: `aria-invalid`, and a sentence that describes them.

    All forms are marked here and not in their templates, so that no field of any form can be forgotten. The form that
    was sent to `path` is meant where a page has several.
    """
    start = max(html.find(f'action="{escape(path)}'), 0)
    before, form = html[:start], html[start:]
    for name, sentence in problems.items():
        form = _with_problem(form, name, sentence)
    return before + form


def _with_problem(form: str, name: str, sentence: str) -> str:
    found = re.search(_CONTROL.format(re.escape(escape(name))), form)
    if found is None:
        return form
    control, key = found[0], f"problem-{escape(name)}"
    described = _DESCRIBED.search(control)
    description = f"{key} {described[1]}" if described else key
    marks = f' aria-invalid="true" aria-describedby="{description}"'
    invalid = re.sub(r"^<\w+", lambda tag: tag[0] + marks, _DESCRIBED.sub("", control))

    # After the label, so that the sentence does not become part of the field's name.
    end = found.end()
    label = re.compile(r"</label>|<(?:input|select|textarea|label|fieldset)\b|</fieldset>").search(form, end)
    place = label.end() if label and label[0] == "</label>" else end
    said = f'<p class="field-problem" id="{key}">{escape(sentence)}</p>'
    return form[: found.start()] + invalid + form[end:place] + said + form[place:]
